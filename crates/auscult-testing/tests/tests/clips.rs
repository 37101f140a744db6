//! Clips: reproducible, finite, of the right length, alike within a visit.

use auscult_testing::machines::STATE_COUNT;
use auscult_testing::{ClipRecipe, Domain, Machine};
use proptest::prelude::*;

use crate::spectrum::{distance, mean_log_spectrum};

/// Samples 1000, 5000 and 9000 of each machine's clip of one second.
///
/// The sines of two platforms differ in the last digits, so the samples are compared
/// with a tolerance. A change here changes every synthetic tree and its results.
#[test]
fn clips_stay_what_they_were() {
    let expected = [
        (Machine::Fan, [0.09367, 0.08095, 0.01218]),
        (Machine::Pump, [-0.04221, 0.09444, -0.02600]),
        (Machine::Valve, [-0.03395, 0.05399, -0.02950]),
        (Machine::Slider, [-0.09720, -0.03718, 0.05233]),
    ];
    for (machine, expected) in expected {
        let samples = short(machine).render().unwrap();
        let got = [samples[1000], samples[5000], samples[9000]];
        let close = got.iter().zip(&expected).all(|(got, want)| (got - want).abs() < 1e-4_f32);
        assert!(close, "{machine}: got {got:?}, expected {expected:?}");
    }
}

#[test]
fn the_same_recipe_gives_the_same_clip() {
    for machine in Machine::ALL {
        assert_eq!(short(machine).render().unwrap(), short(machine).render().unwrap());
    }
}

#[test]
fn every_part_of_the_recipe_matters() {
    for machine in Machine::ALL {
        let clip = short(machine);
        let others = [
            ClipRecipe { seed: 2, ..clip.clone() },
            ClipRecipe { take: 1, ..clip.clone() },
            ClipRecipe { visit: 2, ..clip.clone() },
            ClipRecipe { state: 1, ..clip.clone() },
            ClipRecipe { domain: Domain::Target, ..clip.clone() },
            ClipRecipe { snr_db: 0.0, ..clip.clone() },
        ];
        let samples = clip.render().unwrap();
        for other in others {
            assert_ne!(other.render().unwrap(), samples, "{other:?}");
        }
    }
}

#[test]
fn clips_are_around_minus_twenty_decibels() {
    for machine in Machine::ALL {
        for state in 0..STATE_COUNT {
            let samples = ClipRecipe { state, ..ClipRecipe::new(machine) }.render().unwrap();
            let power: f32 = samples.iter().map(|sample| sample * sample).sum();
            let level = 10.0 * (power / samples.len() as f32).log10();
            assert!((-24.0..-18.0).contains(&level), "{machine} in state {state}: {level} dBFS");
        }
    }
}

#[test]
fn noise_is_louder_at_a_lower_ratio() {
    let clip = short(Machine::Fan);
    let quiet = ClipRecipe { snr_db: 60.0, ..clip.clone() }.render().unwrap();
    let noise = |snr_db| {
        let samples = ClipRecipe { snr_db, ..clip.clone() }.render().unwrap();
        let noise = samples.iter().zip(&quiet).map(|(sample, quiet)| (sample - quiet).powi(2));
        10.0 * noise.sum::<f32>().log10()
    };
    let step = noise(0.0) - noise(6.0);
    assert!((step - 6.0).abs() < 0.1, "6 dB less should be 6 dB more noise, got {step}");
}

#[test]
fn clips_of_one_visit_are_closer_than_clips_of_two() {
    for machine in Machine::ALL {
        let spectrum = |visit, take| {
            let clip = ClipRecipe { visit, take, seconds: 5.0, ..ClipRecipe::new(machine) };
            mean_log_spectrum(&clip.render().unwrap())
        };
        let visits: Vec<_> = (1..9).map(|visit| [spectrum(visit, 0), spectrum(visit, 1)]).collect();
        let within: f64 = visits.iter().map(|[first, second]| distance(first, second)).sum();
        let pairs = visits.iter().zip(visits.iter().skip(1).chain(&visits));
        let between: f64 = pairs.map(|(here, there)| distance(&here[0], &there[1])).sum();
        assert!(1.1 * within < between, "{machine}: {within} within, {between} between");
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let clip = short(Machine::Valve);
    let cases = [
        (ClipRecipe { state: 3, ..clip.clone() }, "state must be in 0..=2, got 3"),
        (ClipRecipe { snr_db: f64::NAN, ..clip.clone() }, "snr_db must be in -30..=60, got NaN"),
        (ClipRecipe { seconds: 0.0, ..clip.clone() }, "seconds must be in 0.05..=120, got 0"),
        (ClipRecipe { sample_rate: 7999, ..clip }, "sample_rate must be in 8000..=48000, got 7999"),
    ];
    for (recipe, message) in cases {
        assert_eq!(recipe.render().unwrap_err().to_string(), message);
    }
}

fn short(machine: Machine) -> ClipRecipe {
    ClipRecipe { seconds: 1.0, ..ClipRecipe::new(machine) }
}

prop_compose! {
    fn valid_recipe()(
        machine in prop::sample::select(&Machine::ALL),
        state in 0..STATE_COUNT,
        domain in prop::sample::select(&Domain::ALL),
        (visit, take, seed) in any::<(u32, u32, u64)>(),
        fault in prop::option::of((0..2_usize, 0.001..=1.0_f64)),
        snr_db in -30.0..=60.0_f64,
        seconds in 0.05..=0.8_f64,
        sample_rate in 8_000..=48_000_u32,
    ) -> ClipRecipe {
        let fault = fault.map(|(index, severity)| (machine.faults()[index], severity));
        ClipRecipe { machine, state, domain, visit, fault, snr_db, seconds, sample_rate, seed, take }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_valid_recipe_gives_a_clip(recipe in valid_recipe()) {
        let samples = recipe.render().unwrap();
        prop_assert_eq!(samples.len(), recipe.sample_count());
        prop_assert!(samples.iter().all(|sample| sample.abs() < 1.0));
    }
}

//! Faults: each changes the healthy clip in the way its name says.

use auscult_testing::{ClipRecipe, Fault, Machine};

use crate::spectrum::band_power;

/// The healthy clip, and what the fault adds to it.
fn healthy_and_added(machine: Machine, fault: Fault, severity: f64) -> (Vec<f32>, Vec<f32>) {
    let clip = ClipRecipe { seconds: 4.0, snr_db: 20.0, ..ClipRecipe::new(machine) };
    let healthy = clip.render().unwrap();
    let faulty = ClipRecipe { fault: Some((fault, severity)), ..clip }.render().unwrap();
    let added = faulty.iter().zip(&healthy).map(|(faulty, healthy)| faulty - healthy).collect();
    (healthy, added)
}

/// The share of power in `low..high` Hz.
fn share(samples: &[f32], low: f64, high: f64) -> f64 {
    band_power(samples, 16_000, low, high) / band_power(samples, 16_000, 0.0, 8001.0)
}

fn power(samples: &[f32]) -> f64 {
    samples.iter().map(|&sample| f64::from(sample).powi(2)).sum()
}

#[test]
fn every_fault_adds_something_and_more_when_severe() {
    for machine in Machine::ALL {
        for &fault in machine.faults() {
            let [mild, severe] = [0.2, 1.0].map(|severity| {
                let (_, added) = healthy_and_added(machine, fault, severity);
                power(&added)
            });
            assert!(0.0 < mild && mild < severe, "{machine}, {fault}: {mild}, {severe}");
        }
    }
}

#[test]
fn imbalance_raises_the_rotation_line() {
    let (healthy, added) = healthy_and_added(Machine::Fan, Fault::Imbalance, 0.5);
    // The first state turns 21 times a second, give or take the visit's 1.2 %.
    let line = |samples: &[f32]| band_power(samples, 16_000, 20.0, 22.0);
    assert!(line(&added) > 4.0 * line(&healthy));
    assert!(share(&added, 20.0, 22.0) > 0.3);
}

#[test]
fn bearing_impulses_ring_between_two_and_five_kilohertz() {
    for machine in [Machine::Fan, Machine::Pump] {
        let (_, added) = healthy_and_added(machine, Fault::BearingImpulses, 0.5);
        assert!(share(&added, 2000.0, 5000.0) > 0.8, "{machine}");
    }
}

#[test]
fn leak_hisses_above_two_kilohertz() {
    for machine in [Machine::Pump, Machine::Valve] {
        let (_, added) = healthy_and_added(machine, Fault::Leak, 0.5);
        assert!(share(&added, 2000.0, 8001.0) > 0.9, "{machine}");
    }
}

#[test]
fn squeal_is_a_narrow_line_between_two_and_four_kilohertz() {
    let (_, added) = healthy_and_added(Machine::Slider, Fault::Squeal, 0.5);
    let bands = (20..40).map(|index| f64::from(index) * 100.0);
    let loudest = bands
        .max_by(|&a, &b| share(&added, a, a + 100.0).total_cmp(&share(&added, b, b + 100.0)))
        .unwrap();
    assert!(share(&added, loudest - 100.0, loudest + 200.0) > 0.9, "around {loudest} Hz");
}

#[test]
fn missing_strokes_take_energy_away() {
    for machine in [Machine::Valve, Machine::Slider] {
        let (healthy, added) = healthy_and_added(machine, Fault::MissingStroke, 0.5);
        let faulty: Vec<f32> = healthy.iter().zip(&added).map(|(a, b)| a + b).collect();
        assert!(power(&faulty) < 0.9 * power(&healthy), "{machine}");
        // What is left is untouched: the fault is silent for at least a stroke.
        let longest_silence = added.split(|&sample| sample != 0.0).map(<[f32]>::len).max();
        assert!(longest_silence > Some(4000), "{machine}: {longest_silence:?} samples");
    }
}

#[test]
fn fault_of_another_machine_is_refused() {
    let recipe = ClipRecipe { fault: Some((Fault::Squeal, 0.5)), ..ClipRecipe::new(Machine::Fan) };
    assert_eq!(
        recipe.render().unwrap_err().to_string(),
        "a fan has no fault squeal; use one of bearing_impulses, imbalance"
    );
}

#[test]
fn severity_outside_its_range_is_refused() {
    for severity in [0.0, -0.5, 1.01, f64::INFINITY] {
        let fault = Some((Fault::Leak, severity));
        let recipe = ClipRecipe { fault, ..ClipRecipe::new(Machine::Pump) };
        let message = recipe.render().unwrap_err().to_string();
        assert!(message.starts_with("severity must be in (0, 1], got"), "{message}");
    }
}

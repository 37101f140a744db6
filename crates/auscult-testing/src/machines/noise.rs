//! The factory around the machine: coloured noise and normal events.

use super::filters::Biquad;
use super::random::{Purpose, Random};
use super::signal::{Ring, add, level, modulate};
use super::{Scene, signal};

/// Events a second: a distant clank or a burst of air about every eight seconds.
const EVENT_RATE: f64 = 0.12;

/// Background noise of root mean square 1, not counting its events.
pub(super) fn background(scene: &Scene) -> Vec<f64> {
    let mut noise = coloured(scene, &mut scene.seeds.stream(Purpose::Background));
    add(&mut noise, &events(scene, &mut scene.seeds.stream(Purpose::Events)));
    noise
}

/// Noise that falls with frequency and slowly breathes.
fn coloured(scene: &Scene, random: &mut Random) -> Vec<f64> {
    let (length, rate) = (scene.length, scene.rate);
    let corner = scene.domain.pick(500.0, 250.0) * scene.visit.brightness;
    let mut rumble = random.noise(length);
    one_pole(&mut rumble, corner, rate);
    let mut noise = level(rumble, 1.0);
    // The flat part of ventilation and air lines, and in the target a nearby motor.
    let flat = scene.domain.pick(0.25, 0.18) * scene.visit.brightness;
    let mut air = random.noise(length);
    Biquad::peak(1100.0, 1.0, scene.domain.pick(0.0, 9.0), rate).filter(&mut air);
    add(&mut noise, &level(air, flat));
    let breath = random.wander(length, (0.1 * rate) as usize);
    let breath: Vec<f64> = breath.iter().map(|value| (1.0 + 0.15 * value).max(0.2)).collect();
    modulate(&mut noise, &breath);
    level(noise, 1.0)
}

/// A first-order low pass: 6 dB an octave above `hz`.
fn one_pole(samples: &mut [f64], hz: f64, rate: f64) {
    let keep = (-std::f64::consts::TAU * hz / rate).exp();
    let mut last = 0.0;
    for sample in samples {
        last = keep * last + (1.0 - keep) * *sample;
        *sample = last;
    }
}

/// Clanks and bursts of air at random times.
fn events(scene: &Scene, random: &mut Random) -> Vec<f64> {
    let mut samples = vec![0.0; scene.length];
    let seconds = scene.length as f64 / scene.rate;
    let mut time = 0.0;
    loop {
        // Exponential waiting times; 1 - unit is in (0, 1].
        time -= (1.0 - random.unit()).ln() / EVENT_RATE;
        if time >= seconds {
            return samples;
        }
        if random.unit() < 0.6 {
            clank(&mut samples, time, scene.rate, random);
        } else {
            burst(&mut samples, time, scene.rate, random);
        }
    }
}

fn clank(samples: &mut [f64], time: f64, rate: f64, random: &mut Random) {
    let amplitude = random.between(0.4, 1.6);
    for _ in 0..4 {
        let hz = random.between(300.0, 2800.0);
        let decay = random.between(0.03, 0.15);
        let amplitude = amplitude * random.between(0.3, 1.0);
        Ring { hz, decay, amplitude }.strike(samples, time, rate);
    }
}

fn burst(samples: &mut [f64], time: f64, rate: f64, random: &mut Random) {
    let length = (random.between(0.2, 0.7) * rate) as usize;
    let hz = random.between(800.0, 3000.0);
    let amplitude = random.between(0.15, 0.6);
    let mut air = random.noise(length);
    Biquad::band_pass(hz, 0.7, rate).filter(&mut air);
    let window =
        (0..length).map(|index| (index as f64 / length as f64 * std::f64::consts::PI).sin());
    modulate(&mut air, &window.collect::<Vec<_>>());
    let start = ((time * rate) as usize).min(samples.len());
    signal::add(&mut samples[start..], &level(air, amplitude));
}

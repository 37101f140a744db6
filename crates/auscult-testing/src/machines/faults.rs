//! Faults that more than one machine can have.
//!
//! A fault grows in proportion to its severity. Each machine sets its faults' level
//! at severity 1 against its healthy sound: the numbers make a plain comparison of
//! mean log spectra find most faults of severity 0.5 at 6 dB, and few of 0.2.

use super::Scene;
use super::filters::Biquad;
use super::random::Purpose;
use super::rotor::Rotor;
use super::signal::{Ring, level, modulate};

/// Balls that pass a point of the outer race in one turn, for a common ball bearing.
const BALL_PASS_RATIO: f64 = 3.58;

/// The ringing of a race that is struck by each passing ball, of root mean square `target`.
pub(super) fn bearing(scene: &Scene, rotor: &Rotor, target: f64) -> Vec<f64> {
    let mut unit = scene.seeds.stream(Purpose::Unit);
    let hz = unit.between(2600.0, 3400.0);
    let mut random = scene.seeds.stream(Purpose::Fault);
    let mut samples = vec![0.0; scene.length];
    for time in rotor.passings(BALL_PASS_RATIO) {
        // Balls slip by about a hundredth of their distance.
        let slip = random.between(0.0, 0.01) / (BALL_PASS_RATIO * rotor.hz);
        let amplitude = random.between(0.6, 1.4);
        Ring { hz, decay: 0.0015, amplitude }.strike(&mut samples, time + slip, scene.rate);
    }
    // The load passes over the damage once a turn.
    modulate(&mut samples, &rotor.beat(1.0, 0.4));
    level(samples, target)
}

/// The hiss of a leak, of root mean square `target`.
pub(super) fn leak(scene: &Scene, target: f64) -> Vec<f64> {
    let mut random = scene.seeds.stream(Purpose::Fault);
    let mut hiss = random.noise(scene.length);
    Biquad::high_pass(2500.0, scene.rate).filter(&mut hiss);
    Biquad::peak(random.between(4000.0, 6000.0), 1.5, 6.0, scene.rate).filter(&mut hiss);
    let flutter = random.wander(scene.length, (0.02 * scene.rate) as usize);
    let flutter: Vec<f64> = flutter.iter().map(|value| (1.0 + 0.2 * value).max(0.0)).collect();
    modulate(&mut hiss, &flutter);
    level(hiss, target)
}

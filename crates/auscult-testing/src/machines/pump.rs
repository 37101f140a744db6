//! A pump: rotation and vane-pass tones over flow noise that pulses with them.

use super::filters::Biquad;
use super::random::Purpose;
use super::rotor::{Rotor, falling};
use super::signal::{add, level, modulate, rms};
use super::visit::domain_speed;
use super::{Fault, Plan, Scene, faults};

/// Turns a second in each state.
const SPEEDS: [f64; super::STATE_COUNT] = [24.0, 29.0, 35.0];
const VANES: f64 = 6.0;
/// The hiss of a leak at severity 1, against the healthy sound.
const LEAK_LEVEL: f64 = 0.3;
/// The bearing at severity 1, against the healthy sound.
const BEARING_LEVEL: f64 = 0.5;

/// A pump during one clip.
#[derive(Debug)]
pub(super) struct Pump {
    rotor: Rotor,
}

impl Pump {
    pub(super) fn new(scene: &Scene) -> Self {
        let hz = SPEEDS[scene.state] * domain_speed(scene.domain);
        Self { rotor: Rotor::new(scene, hz) }
    }

    /// Water in the casing; a higher load in the target makes it duller and pulse more.
    fn flow(&self, scene: &Scene) -> Vec<f64> {
        let mut noise = scene.seeds.stream(Purpose::Machine).noise(scene.length);
        let centre = scene.seeds.stream(Purpose::Unit).between(900.0, 1300.0);
        let centre = centre * scene.domain.pick(1.0, 0.75) * (self.rotor.hz / SPEEDS[1]);
        Biquad::band_pass(centre, 0.35, scene.rate).filter(&mut noise);
        modulate(&mut noise, &self.rotor.beat(1.0, scene.domain.pick(0.25, 0.35)));
        modulate(&mut noise, &self.rotor.beat(VANES, 0.3));
        level(noise, 0.7)
    }
}

impl Plan for Pump {
    fn healthy(&self, scene: &Scene) -> Vec<f64> {
        let mut unit = scene.seeds.stream(Purpose::Unit);
        let shaft = falling(8, 0.8, &mut unit);
        let mut samples = self.rotor.tone(1.0, &shaft, 0.35, &mut unit);
        let vanes = falling(10, 1.1, &mut unit);
        add(&mut samples, &self.rotor.tone(VANES, &vanes, 0.55, &mut unit));
        add(&mut samples, &self.flow(scene));
        samples
    }

    fn fault(&self, scene: &Scene, fault: Fault, severity: f64, healthy: &[f64]) -> Vec<f64> {
        if fault == Fault::Leak {
            return faults::leak(scene, severity * LEAK_LEVEL * rms(healthy));
        }
        faults::bearing(scene, &self.rotor, severity * BEARING_LEVEL * rms(healthy))
    }
}

//! A fan: blade-pass tones over flow noise.

use super::filters::Biquad;
use super::random::Purpose;
use super::rotor::{Rotor, falling};
use super::signal::{add, level, modulate, rms};
use super::visit::domain_speed;
use super::{Fault, Plan, Scene, faults};

/// Turns a second in each state.
const SPEEDS: [f64; super::STATE_COUNT] = [21.0, 25.0, 30.0];
const BLADES: f64 = 7.0;
/// The rise of the rotation line at severity 1, against the healthy sound.
const IMBALANCE_LEVEL: f64 = 0.6;
/// How deeply the blade tone beats with the rotation at severity 1.
const IMBALANCE_BEAT: f64 = 0.5;
/// The bearing at severity 1, against the healthy sound.
const BEARING_LEVEL: f64 = 0.32;

/// A fan during one clip.
#[derive(Debug)]
pub(super) struct Fan {
    rotor: Rotor,
}

impl Fan {
    pub(super) fn new(scene: &Scene) -> Self {
        let hz = SPEEDS[scene.state] * domain_speed(scene.domain);
        Self { rotor: Rotor::new(scene, hz) }
    }

    fn blades(&self, scene: &Scene) -> Vec<f64> {
        let mut unit = scene.seeds.stream(Purpose::Unit);
        let amplitudes = falling(14, 1.0, &mut unit);
        self.rotor.tone(BLADES, &amplitudes, 0.6, &mut unit)
    }

    /// Turbulence: brighter the faster the fan turns and the lighter its load.
    fn flow(&self, scene: &Scene) -> Vec<f64> {
        let mut noise = scene.seeds.stream(Purpose::Machine).noise(scene.length);
        let edge = 45.0 * self.rotor.hz * scene.domain.pick(1.0, 0.8);
        Biquad::high_pass(60.0, scene.rate).filter(&mut noise);
        Biquad::band_pass(0.4 * edge, 0.4, scene.rate).filter(&mut noise);
        Biquad::low_pass(3.0 * edge, scene.rate).filter(&mut noise);
        level(noise, 0.7)
    }
}

impl Plan for Fan {
    fn healthy(&self, scene: &Scene) -> Vec<f64> {
        let mut unit = scene.seeds.stream(Purpose::Unit);
        let shaft = falling(4, 1.0, &mut unit);
        let mut samples = self.rotor.tone(1.0, &shaft, 0.08, &mut unit);
        add(&mut samples, &self.blades(scene));
        add(&mut samples, &self.flow(scene));
        samples
    }

    fn fault(&self, scene: &Scene, fault: Fault, severity: f64, healthy: &[f64]) -> Vec<f64> {
        if fault == Fault::BearingImpulses {
            let target = severity * BEARING_LEVEL * rms(healthy);
            return faults::bearing(scene, &self.rotor, target);
        }
        let mut random = scene.seeds.stream(Purpose::Fault);
        let strength = severity * IMBALANCE_LEVEL * rms(healthy);
        let mut samples = self.rotor.tone(1.0, &[1.0, 0.5, 0.3, 0.2], strength, &mut random);
        let mut beating = self.blades(scene);
        let beat = self.rotor.beat(1.0, severity * IMBALANCE_BEAT);
        modulate(&mut beating, &beat.iter().map(|factor| factor - 1.0).collect::<Vec<_>>());
        add(&mut samples, &beating);
        samples
    }
}

//! A valve: clicks of opening and closing, and air while it is open.

use super::filters::Biquad;
use super::random::Purpose;
use super::signal::{Ring, level, modulate, rms, scale};
use super::strokes::{Stroke, missing, schedule};
use super::visit::domain_speed;
use super::{Fault, Plan, Scene, faults};

/// Seconds from one opening to the next in each state.
const PERIODS: [f64; super::STATE_COUNT] = [0.7, 0.95, 1.25];
/// The share of the period during which the valve is open, in each state.
const OPEN_SHARES: [f64; super::STATE_COUNT] = [0.35, 0.5, 0.3];
/// The hiss of a leak at severity 1, against the healthy sound.
const LEAK_LEVEL: f64 = 0.19;

/// A valve during one clip.
#[derive(Debug)]
pub(super) struct Valve {
    strokes: Vec<Stroke>,
    open_share: f64,
    opening: [Ring; 4],
    closing: [Ring; 4],
}

impl Valve {
    pub(super) fn new(scene: &Scene) -> Self {
        let mut unit = scene.seeds.stream(Purpose::Unit);
        // The plunger leaves its seat brightly and lands on it dully.
        let mut rings = |lowest: f64, decay: f64| {
            [1.0, 1.9, 3.3, 5.1].map(|ratio: f64| Ring {
                hz: lowest * ratio * unit.between(0.9, 1.1),
                decay: decay * unit.between(0.7, 1.3) / ratio.sqrt(),
                amplitude: unit.between(0.5, 1.0) / ratio,
            })
        };
        Self {
            strokes: schedule(scene, PERIODS[scene.state] / domain_speed(scene.domain)),
            open_share: OPEN_SHARES[scene.state],
            opening: rings(1100.0, 0.030),
            closing: rings(650.0, 0.045),
        }
    }

    fn sound(&self, scene: &Scene, strokes: &[Stroke]) -> Vec<f64> {
        let mut samples = self.air(scene, strokes);
        for stroke in strokes {
            let close = stroke.start + self.open_share * stroke.period;
            for (rings, time) in [(self.opening, stroke.start), (self.closing, close)] {
                for ring in rings {
                    ring.harder(stroke.force).strike(&mut samples, time, scene.rate);
                }
            }
        }
        samples
    }

    /// The exhaust while the valve is open; less of it in the target.
    fn air(&self, scene: &Scene, strokes: &[Stroke]) -> Vec<f64> {
        let mut noise = scene.seeds.stream(Purpose::Machine).noise(scene.length);
        Biquad::band_pass(1800.0, 0.5, scene.rate).filter(&mut noise);
        let mut noise = level(noise, scene.domain.pick(0.35, 0.25));
        let mut gate = vec![0.0; scene.length];
        let index = |time: f64| ((time * scene.rate).max(0.0) as usize).min(scene.length);
        for stroke in strokes {
            let close = stroke.start + self.open_share * stroke.period;
            gate[index(stroke.start)..index(close)].fill(1.0);
        }
        Biquad::low_pass(30.0, scene.rate).filter(&mut gate);
        modulate(&mut noise, &gate);
        noise
    }
}

impl Plan for Valve {
    fn healthy(&self, scene: &Scene) -> Vec<f64> {
        self.sound(scene, &self.strokes)
    }

    fn fault(&self, scene: &Scene, fault: Fault, severity: f64, healthy: &[f64]) -> Vec<f64> {
        if fault == Fault::Leak {
            return faults::leak(scene, severity * LEAK_LEVEL * rms(healthy));
        }
        let mut samples = self.sound(scene, &missing(scene, &self.strokes, severity));
        scale(&mut samples, -1.0);
        samples
    }
}

//! A slide rail: friction noise of strokes back and forth, and the stops at their ends.

use std::f64::consts::{PI, TAU};

use super::filters::Biquad;
use super::random::Purpose;
use super::signal::{Ring, level, modulate, rms, scale};
use super::strokes::{Stroke, missing, schedule};
use super::visit::domain_speed;
use super::{Fault, Plan, Scene};

/// Seconds a stroke in each state.
const PERIODS: [f64; super::STATE_COUNT] = [0.9, 1.2, 1.6];
/// The share of a stroke's time in which the carriage moves.
const MOVING_SHARE: f64 = 0.8;
/// The squeal at severity 1, against the healthy sound.
const SQUEAL_LEVEL: f64 = 0.55;

/// A slide rail during one clip.
#[derive(Debug)]
pub(super) struct Slider {
    strokes: Vec<Stroke>,
    /// The stop at each end, as two rings.
    stops: [[Ring; 2]; 2],
}

impl Slider {
    pub(super) fn new(scene: &Scene) -> Self {
        let mut unit = scene.seeds.stream(Purpose::Unit);
        let mut stop = || {
            [(180.0, 0.030, 1.5), (900.0, 0.008, 0.7)].map(|(hz, decay, amplitude)| Ring {
                hz: hz * unit.between(0.8, 1.2),
                decay,
                amplitude,
            })
        };
        let stops = [stop(), stop()];
        let period = PERIODS[scene.state] / domain_speed(scene.domain);
        Self { strokes: schedule(scene, period), stops }
    }

    fn sound(&self, scene: &Scene, strokes: &[Stroke]) -> Vec<f64> {
        let mut samples = friction(scene);
        modulate(&mut samples, &speed(scene, strokes));
        for stroke in strokes {
            let time = stroke.start + MOVING_SHARE * stroke.period;
            for ring in self.stops[stroke.number % 2] {
                ring.harder(stroke.force).strike(&mut samples, time, scene.rate);
            }
        }
        samples
    }

    /// A line that follows the carriage's speed a little and is heard while it moves.
    fn squeal(&self, scene: &Scene, severity: f64, healthy: &[f64]) -> Vec<f64> {
        let mut random = scene.seeds.stream(Purpose::Fault);
        let hz = random.between(2300.0, 3500.0);
        let wander = random.wander(scene.length, (0.02 * scene.rate) as usize);
        let speed = speed(scene, &self.strokes);
        let mut turns = 0.0;
        let line = wander.iter().zip(&speed).map(|(drift, speed)| {
            turns += hz * (1.0 + 0.004 * drift + 0.03 * (speed - 0.5)) / scene.rate;
            speed * (TAU * turns).sin()
        });
        level(line.collect(), severity * SQUEAL_LEVEL * rms(healthy))
    }
}

/// The noise of the rail at full speed; a heavier carriage in the target makes it duller.
fn friction(scene: &Scene) -> Vec<f64> {
    let mut noise = scene.seeds.stream(Purpose::Machine).noise(scene.length);
    let centre = scene.seeds.stream(Purpose::Unit).between(1200.0, 1800.0);
    Biquad::band_pass(centre * scene.domain.pick(1.0, 0.7), 0.4, scene.rate).filter(&mut noise);
    level(noise, 1.0)
}

/// The carriage's speed, from 0 to about 1: a half sine in each stroke, then a rest.
fn speed(scene: &Scene, strokes: &[Stroke]) -> Vec<f64> {
    let mut speed = vec![0.0; scene.length];
    for stroke in strokes {
        let moving = MOVING_SHARE * stroke.period;
        let start = (stroke.start * scene.rate).max(0.0) as usize;
        let end = (((stroke.start + moving) * scene.rate).max(0.0) as usize).min(scene.length);
        for (index, value) in speed.iter_mut().enumerate().take(end).skip(start) {
            let elapsed = index as f64 / scene.rate - stroke.start;
            *value = stroke.force * (PI * elapsed / moving).sin().max(0.0);
        }
    }
    speed
}

impl Plan for Slider {
    fn healthy(&self, scene: &Scene) -> Vec<f64> {
        self.sound(scene, &self.strokes)
    }

    fn fault(&self, scene: &Scene, fault: Fault, severity: f64, healthy: &[f64]) -> Vec<f64> {
        if fault == Fault::Squeal {
            return self.squeal(scene, severity, healthy);
        }
        let mut samples = self.sound(scene, &missing(scene, &self.strokes, severity));
        scale(&mut samples, -1.0);
        samples
    }
}

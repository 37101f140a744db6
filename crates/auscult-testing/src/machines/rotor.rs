//! A shaft that turns with a slowly wandering speed, and tones locked to it.

use std::f64::consts::TAU;

use super::Scene;
use super::random::{Purpose, Random};

/// The angle of a shaft over one clip.
#[derive(Debug)]
pub(super) struct Rotor {
    /// The mean speed in turns a second.
    pub(super) hz: f64,
    /// The angle at each sample, in turns.
    turns: Vec<f64>,
    rate: f64,
}

impl Rotor {
    /// Turns at `nominal_hz`, changed by the visit's temperature, with 0.15 % of wander.
    pub(super) fn new(scene: &Scene, nominal_hz: f64) -> Self {
        let mut random = scene.seeds.stream(Purpose::Motion);
        let hz = nominal_hz * scene.visit.speed * (1.0 + random.between(-0.002, 0.002));
        let mut angle = random.unit();
        let wander = random.wander(scene.length, (0.1 * scene.rate) as usize);
        let turn = |drift: f64| {
            angle += hz * (1.0 + 0.0015 * drift) / scene.rate;
            angle
        };
        Self { hz, turns: wander.into_iter().map(turn).collect(), rate: scene.rate }
    }

    /// The tone at `ratio` turns of the shaft and its harmonics, scaled to `target` rms.
    ///
    /// `amplitudes[k]` belongs to harmonic `k + 1`; those near the Nyquist frequency
    /// are left out. Phases are the unit's own.
    pub(super) fn tone(
        &self,
        ratio: f64,
        amplitudes: &[f64],
        target: f64,
        unit: &mut Random,
    ) -> Vec<f64> {
        let audible = (0.45 * self.rate / (ratio * self.hz)) as usize;
        let weights: Vec<(f64, f64)> = amplitudes
            .iter()
            .map(|amplitude| (amplitude, unit.between(0.0, TAU)))
            .map(|(amplitude, phase)| (amplitude * phase.cos(), amplitude * phase.sin()))
            .take(audible)
            .collect();
        // Scaled by the harmonics' own power: the level does not depend on the clip.
        let power: f64 =
            weights.iter().map(|(cosine, sine)| f64::midpoint(cosine * cosine, sine * sine)).sum();
        let gain = if power > 0.0 { target / power.sqrt() } else { 0.0 };
        let table = Table::new(|turn| gain * harmonics((TAU * turn).sin_cos(), &weights));
        self.turns.iter().map(|turns| table.at(ratio * turns)).collect()
    }

    /// A factor that beats around 1 with each `ratio` turns, by `depth`.
    pub(super) fn beat(&self, ratio: f64, depth: f64) -> Vec<f64> {
        let table = Table::new(|turn| 1.0 + depth * (TAU * turn).sin());
        self.turns.iter().map(|turns| table.at(ratio * turns)).collect()
    }

    /// The times, in seconds, at which the shaft has made a multiple of `1 / ratio` turns.
    pub(super) fn passings(&self, ratio: f64) -> Vec<f64> {
        let count = |turns: f64| (turns * ratio).floor();
        let steps = self.turns.windows(2).enumerate();
        steps
            .filter(|(_, pair)| count(pair[1]) > count(pair[0]))
            .map(|(index, _)| (index + 1) as f64 / self.rate)
            .collect()
    }
}

/// One turn of a periodic function: a look-up is ten times as fast as a dozen sines.
struct Table(Vec<f64>);

impl Table {
    /// Linear interpolation is then within 1e-4 for 14 harmonics.
    const LENGTH: u32 = 4096;

    fn new(function: impl Fn(f64) -> f64) -> Self {
        let turn = |index| f64::from(index) / f64::from(Self::LENGTH);
        Self((0..=Self::LENGTH).map(|index| function(turn(index))).collect())
    }

    /// The function at an angle of 0 turns or more.
    fn at(&self, turns: f64) -> f64 {
        let place = (turns - turns.floor()) * f64::from(Self::LENGTH);
        let index = (place as usize).min(Self::LENGTH as usize - 1);
        let share = place - index as f64;
        self.0[index] + share * (self.0[index + 1] - self.0[index])
    }
}

/// The sum of harmonics of one angle: powers of a phasor, so that one sine serves all.
fn harmonics((sine, cosine): (f64, f64), weights: &[(f64, f64)]) -> f64 {
    let (mut real, mut imaginary) = (cosine, sine);
    let mut sum = 0.0;
    for (along, across) in weights {
        sum += along * real - across * imaginary;
        (real, imaginary) = (real * cosine - imaginary * sine, real * sine + imaginary * cosine);
    }
    sum
}

/// Amplitudes `1 / k^fall` for harmonics 1, 2, ..., each up to 40 % off: no two units are alike.
pub(super) fn falling(count: i32, fall: f64, unit: &mut Random) -> Vec<f64> {
    (1..=count).map(|k| f64::from(k).powf(-fall) * unit.between(0.6, 1.4)).collect()
}

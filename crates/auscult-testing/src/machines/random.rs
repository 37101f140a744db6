//! Random numbers that depend only on the recipe and on what they are for.
//!
//! Not `auscult_core::random`: another generator would give every synthetic machine another sound,
//! and with it every number the documents quote for them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Domain, Machine};

/// What a stream of random numbers is for.
///
/// The number is part of the stream's seed: appending a purpose changes no clip.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Purpose {
    /// What this specimen of the machine is like.
    Unit = 0,
    /// How it was recorded that day.
    Visit = 1,
    /// When the machine turns and strikes in this clip.
    Motion = 2,
    /// The machine's own noise.
    Machine = 3,
    /// The background noise.
    Background = 4,
    /// The clanks and bursts in the background.
    Events = 5,
    /// The fault.
    Fault = 6,
}

/// Everything that a random number may depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seeds {
    pub(super) seed: u64,
    pub(super) machine: Machine,
    pub(super) domain: Domain,
    pub(super) state: u8,
    pub(super) visit: u32,
    pub(super) take: u32,
}

impl Seeds {
    /// A fresh stream; the same one each time it is asked for.
    pub(super) fn stream(&self, purpose: Purpose) -> Random {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8] = purpose as u8;
        bytes[9] = self.machine as u8;
        // A unit is the same on every visit, a visit the same for every clip.
        if !matches!(purpose, Purpose::Unit) {
            bytes[10] = self.domain as u8;
            bytes[11..15].copy_from_slice(&self.visit.to_le_bytes());
        }
        if !matches!(purpose, Purpose::Unit | Purpose::Visit) {
            bytes[15] = self.state;
            bytes[16..20].copy_from_slice(&self.take.to_le_bytes());
        }
        Random(ChaCha8Rng::from_seed(bytes))
    }
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// A number in `[0, 1)`.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in `[low, high)`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A nearly Gaussian number, mean 0 and variance 1, within ±3.5.
    ///
    /// The sum of four uniform numbers: no logarithm or cosine, so that noise is
    /// cheap and has the same bits on every platform.
    pub(super) fn gaussian(&mut self) -> f64 {
        let bits = self.0.next_u64();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        // Each part has mean 32767.5 and variance (2^32 - 1) / 12.
        (sum as f64 - 4.0 * 32767.5) * (3f64.sqrt() / 65536.0)
    }

    /// White noise of variance 1.
    pub(super) fn noise(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.gaussian()).collect()
    }

    /// A slowly wandering curve of variance about 1, with a new point every `interval` samples.
    pub(super) fn wander(&mut self, length: usize, interval: usize) -> Vec<f64> {
        const MEMORY: f64 = 0.9;
        let fresh = (1.0 - MEMORY * MEMORY).sqrt();
        let interval = interval.max(1);
        let mut from = self.gaussian();
        let mut to = MEMORY * from + fresh * self.gaussian();
        let mut curve = Vec::with_capacity(length);
        for index in 0..length {
            let step = index % interval;
            if index > 0 && step == 0 {
                (from, to) = (to, MEMORY * to + fresh * self.gaussian());
            }
            curve.push(from + (to - from) * step as f64 / interval as f64);
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> Seeds {
        let (machine, domain) = (Machine::Fan, Domain::Source);
        Seeds { seed: 1, machine, domain, state: 0, visit: 1, take: 0 }
    }

    #[test]
    fn noise_has_mean_zero_and_variance_one() {
        let noise = seeds().stream(Purpose::Machine).noise(100_000);
        let mean = noise.iter().sum::<f64>() / 1e5;
        let variance = noise.iter().map(|value| value * value).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn streams_depend_on_no_more_than_they_should() {
        let later = Seeds { take: 7, state: 2, ..seeds() };
        let elsewhere = Seeds { visit: 9, ..seeds() };
        let first = |seeds: Seeds, purpose| seeds.stream(purpose).unit().to_bits();
        assert_eq!(first(seeds(), Purpose::Unit), first(elsewhere, Purpose::Unit));
        assert_eq!(first(seeds(), Purpose::Visit), first(later, Purpose::Visit));
        assert_ne!(first(seeds(), Purpose::Visit), first(elsewhere, Purpose::Visit));
        assert_ne!(first(seeds(), Purpose::Machine), first(later, Purpose::Machine));
        assert_ne!(first(seeds(), Purpose::Fault), first(seeds(), Purpose::Machine));
    }
}

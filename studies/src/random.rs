//! Random numbers of the studies.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Uniform and standard normal values.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The values of one repetition.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform, above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), self.uniform());
        radius * (std::f64::consts::TAU * angle).cos()
    }
}

//! Random numbers that depend on nothing but their seed, on any machine.

/// `SplitMix64` (Steele, Lea and Flood 2014): small, and good enough to draw clips, orders and
/// weights. Not for secrets.
///
/// # Examples
///
/// ```
/// use auscult_core::random::Random;
///
/// let draw = |seed| Random::of(seed, &[3, 7]).below(1000);
/// assert_eq!(draw(1), draw(1));
/// assert_ne!(draw(1), draw(2));
/// ```
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each part of each seed: nothing has to be remembered to go on.
    pub fn of(seed: u64, parts: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in parts {
            random.0 = random.next() ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1).
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// Uniform in [-limit, limit).
    pub fn symmetric(&mut self, limit: f64) -> f32 {
        ((2.0 * self.share() - 1.0) * limit) as f32
    }

    /// Between two positive values, each octave as likely as the next.
    pub fn octaves(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    /// 1 or -1.
    pub fn sign(&mut self) -> f64 {
        if self.share() < 0.5 { -1.0 } else { 1.0 }
    }

    /// Uniform below `count`; 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.share() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Puts values in an order by chance (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = self.below(last + 1);
            values.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_its_parts_decide_every_number() {
        let order = |seed, part| {
            let mut values: Vec<usize> = (0..50).collect();
            Random::of(seed, &[part]).shuffle(&mut values);
            values
        };
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
        let mut sorted = order(1, 2);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>(), "nothing is lost");
    }
}

//! AdamW (Loshchilov and Hutter 2019) on arrays in memory, PyTorch's formula.

use half::bf16;
use rayon::prelude::*;

use super::{FinetuneSettings, MomentStorage, parameters::Parameters};

/// The moments of one array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Moments {
    F32 { first: Vec<f32>, second: Vec<f32> },
    Bf16 { first: Vec<bf16>, second: Vec<bf16> },
}

impl Moments {
    fn zeros(storage: MomentStorage, len: usize) -> Self {
        match storage {
            MomentStorage::F32 => Self::F32 { first: vec![0.0; len], second: vec![0.0; len] },
            MomentStorage::Bf16 => {
                Self::Bf16 { first: vec![bf16::ZERO; len], second: vec![bf16::ZERO; len] }
            }
        }
    }
}

/// AdamW and what it remembers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AdamW {
    /// Of trained arrays, in their order.
    pub(super) moments: Vec<Moments>,
}

/// What an update multiplies with.
#[derive(Debug, Clone, Copy)]
struct Factors {
    decay: f32,
    rate: f32,
    root: f32,
    betas: [f32; 2],
    epsilon: f32,
}

impl AdamW {
    pub(super) fn new(parameters: &Parameters, storage: MomentStorage) -> Self {
        let zeros = parameters.trained().map(|it| Moments::zeros(storage, it.values.len()));
        Self { moments: zeros.collect() }
    }

    /// Moves trained arrays against their gradients; `step` counts from 0.
    pub(super) fn update(
        &mut self,
        parameters: &mut Parameters,
        gradients: &[Vec<f32>],
        settings: &FinetuneSettings,
        step: usize,
    ) {
        let rate = settings.learning_rate_at(step);
        let power = i32::try_from(step + 1).unwrap_or(i32::MAX);
        let [first, second] = settings.betas.map(|beta| 1.0 - beta.powi(power));
        let factors = Factors {
            decay: (1.0 - rate * settings.weight_decay) as f32,
            rate: (rate / first) as f32,
            root: (1.0 / second.sqrt()) as f32,
            betas: settings.betas.map(|beta| beta as f32),
            epsilon: settings.epsilon as f32,
        };
        let arrays: Vec<_> =
            parameters.trained_mut().zip(gradients).zip(&mut self.moments).collect();
        arrays.into_par_iter().for_each(|((parameter, gradient), moments)| {
            let pairs = parameter.values.iter_mut().zip(gradient);
            match moments {
                Moments::F32 { first, second } => {
                    for ((value, &gradient), (first, second)) in
                        pairs.zip(first.iter_mut().zip(second))
                    {
                        factors.apply(value, gradient, first, second);
                    }
                }
                Moments::Bf16 { first, second } => {
                    for ((value, &gradient), (first, second)) in
                        pairs.zip(first.iter_mut().zip(second))
                    {
                        let (mut wide, mut wide_second) = (first.to_f32(), second.to_f32());
                        factors.apply(value, gradient, &mut wide, &mut wide_second);
                        (*first, *second) = (bf16::from_f32(wide), bf16::from_f32(wide_second));
                    }
                }
            }
        });
    }
}

impl Factors {
    fn apply(&self, value: &mut f32, gradient: f32, first: &mut f32, second: &mut f32) {
        let [keep_first, keep_second] = self.betas;
        *first += (1.0 - keep_first) * (gradient - *first);
        *second = keep_second * *second + (1.0 - keep_second) * gradient * gradient;
        *value *= self.decay;
        *value -= self.rate * *first / (second.sqrt() * self.root + self.epsilon);
    }
}

/// The length of all gradients together.
pub(super) fn length(gradients: &[Vec<f32>]) -> f64 {
    let squares = |gradient: &Vec<f32>| -> f64 {
        gradient.iter().map(|&value| f64::from(value) * f64::from(value)).sum()
    };
    // Threads change no bit: each array is summed by one, and the sums in their order.
    let sums: Vec<f64> = gradients.par_iter().map(squares).collect();
    sums.iter().sum::<f64>().sqrt()
}

/// Multiplies gradients.
pub(super) fn scale(gradients: &mut [Vec<f32>], factor: f64) {
    gradients.par_iter_mut().for_each(|gradient| {
        for value in gradient {
            *value = (f64::from(*value) * factor) as f32;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a first update moves by the rate against the sign, after the decay.
    #[test]
    fn the_first_update_moves_by_the_rate() {
        let factors = Factors {
            decay: 0.999,
            rate: 0.1 / 0.1,
            root: 1.0 / 0.001_f32.sqrt(),
            betas: [0.9, 0.999],
            epsilon: 1e-8,
        };
        let (mut value, mut first, mut second) = (2.0, 0.0, 0.0);
        factors.apply(&mut value, -3.0, &mut first, &mut second);
        assert!((value - (2.0 * 0.999 + 0.1)).abs() < 1e-4, "{value}");
        assert!((first + 0.3).abs() < 1e-6 && (second - 0.009).abs() < 1e-6);
    }

    #[test]
    fn long_gradients_are_shortened() {
        let mut gradients = vec![vec![3.0, 0.0], vec![4.0]];
        assert_eq!(length(&gradients), 5.0);
        scale(&mut gradients, 1.0 / 5.0);
        assert!((length(&gradients) - 1.0).abs() < 1e-6);
    }
}

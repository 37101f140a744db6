//! Every number of a fine-tuning run; the default values are the recipe's.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// How an encoder is fine-tuned: the `AnoPatch` recipe as the paper instantiates it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FinetuneSettings {
    /// Updates of the weights.
    pub steps: usize,
    /// Clips of a forward pass.
    pub batch: usize,
    /// Forward passes of an update.
    pub accumulation: usize,
    /// The highest step size of AdamW.
    pub learning_rate: f64,
    /// Updates until it is reached; from there it falls in a straight line to 0.
    pub warm_up: usize,
    /// Decoupled weight decay of AdamW.
    pub weight_decay: f64,
    /// How much of the moments of gradients and of their squares is kept.
    pub betas: [f64; 2],
    /// What keeps AdamW from dividing by nothing.
    pub epsilon: f64,
    /// Gradients longer than this are shortened to it; `None` leaves them as they are.
    pub largest_gradient: Option<f64>,
    /// ArcFace: the angle in radians that the right class is made harder by.
    pub margin: f64,
    /// ArcFace: the factor on cosines.
    pub scale: f64,
    /// SpecAugment: frames masked, at most.
    pub time_mask: usize,
    /// SpecAugment: mel bins masked, at most.
    pub frequency_mask: usize,
    /// Share of clips that are masked.
    pub mask_share: f64,
    /// What of the encoder is trained.
    pub adaptation: Adaptation,
    /// How the moments of gradients are stored.
    pub moments: MomentStorage,
    /// A class with fewer clips is refused.
    pub least_clips: usize,
    /// Decides the head's first weights, the order of clips and the masks.
    pub seed: u64,
    /// Updates between two checkpoints.
    pub checkpoint_every: usize,
}

/// What of an encoder is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Adaptation {
    /// Every weight.
    Full,
    /// Low-rank additions to some linear layers (Hu et al. 2022).
    Lora {
        /// The rank of each addition.
        rank: usize,
        /// The addition is multiplied by this over the rank.
        alpha: f64,
        /// Which linear layers of every block.
        targets: Vec<LoraTarget>,
    },
}

/// A linear layer of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoraTarget {
    /// Queries of attention.
    Query,
    /// Keys of attention.
    Key,
    /// Values of attention.
    Value,
    /// What attention gathered.
    Output,
    /// The first layer after attention.
    Up,
    /// The second.
    Down,
}

impl std::str::FromStr for LoraTarget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        serde_json::from_value(text.into()).map_err(|_| {
            Error::setting("LoRA target", "query, key, value, output, up or down", text)
        })
    }
}

/// How moments of gradients are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MomentStorage {
    /// As they are.
    #[default]
    F32,
    /// Rounded to half the memory after every update.
    Bf16,
}

impl Default for FinetuneSettings {
    fn default() -> Self {
        Self {
            steps: 10_000,
            batch: 32,
            accumulation: 8,
            learning_rate: 1e-4,
            warm_up: 960,
            weight_decay: 0.01,
            betas: [0.9, 0.999],
            epsilon: 1e-8,
            largest_gradient: None,
            margin: 0.5,
            scale: 64.0,
            time_mask: 80,
            frequency_mask: 80,
            mask_share: 1.0,
            adaptation: Adaptation::Full,
            moments: MomentStorage::F32,
            least_clips: 2,
            seed: 0,
            checkpoint_every: 100,
        }
    }
}

impl FinetuneSettings {
    /// Refuses settings that cannot be trained with.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with the one that is out of range.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("steps", self.steps, 1..=100_000_000),
            ("batch", self.batch, 2..=4096),
            ("accumulation", self.accumulation, 1..=4096),
            ("warm-up", self.warm_up, 0..=self.steps),
            ("checkpoint interval", self.checkpoint_every, 1..=100_000_000),
        ];
        for (name, value, allowed) in counts {
            if !allowed.contains(&value) {
                let allowed = format!("{} to {}", allowed.start(), allowed.end());
                return Err(Error::setting(name, allowed, value));
            }
        }
        // The least positive number stands for any above 0.
        let numbers = [
            ("learning rate", self.learning_rate, f64::MIN_POSITIVE..=1.0),
            ("weight decay", self.weight_decay, 0.0..=1.0),
            ("first beta", self.betas[0], 0.0..=0.999_999),
            ("second beta", self.betas[1], 0.0..=0.999_999_999),
            ("epsilon", self.epsilon, f64::MIN_POSITIVE..=1.0),
            ("largest gradient", self.largest_gradient.unwrap_or(1.0), f64::MIN_POSITIVE..=1e12),
            ("margin", self.margin, 0.0..=1.5),
            ("scale", self.scale, 1e-3..=1e4),
            ("share of masked clips", self.mask_share, 0.0..=1.0),
        ];
        for (name, value, allowed) in numbers {
            if !allowed.contains(&value) {
                let (least, most) = (*allowed.start(), *allowed.end());
                let allowed = if least == f64::MIN_POSITIVE {
                    format!("above 0, at most {most}")
                } else {
                    format!("{least} to {most}")
                };
                return Err(Error::setting(name, allowed, value));
            }
        }
        if let Adaptation::Lora { rank, alpha, targets } = &self.adaptation {
            if *rank == 0 || *rank > 4096 {
                return Err(Error::setting("LoRA rank", "1 to 4096", rank));
            }
            if !(*alpha > 0.0 && alpha.is_finite()) {
                return Err(Error::setting("LoRA alpha", "above 0", alpha));
            }
            if targets.is_empty() {
                return Err(Error::setting("LoRA targets", "at least one", "none"));
            }
        }
        Ok(())
    }

    /// The step size of an update, counted from 0.
    pub fn learning_rate_at(&self, step: usize) -> f64 {
        let share = if step < self.warm_up {
            (step + 1) as f64 / self.warm_up as f64
        } else {
            self.steps.saturating_sub(step) as f64 / (self.steps - self.warm_up).max(1) as f64
        };
        self.learning_rate * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_to_its_peak_and_falls_in_a_straight_line() {
        let settings = FinetuneSettings::default();
        let rate = |step| settings.learning_rate_at(step) / settings.learning_rate;
        assert!((rate(0) - 1.0 / 960.0).abs() < 1e-12);
        assert_eq!(rate(959), 1.0);
        assert_eq!(rate(960), 1.0);
        assert!((rate(5480) - 0.5).abs() < 1e-12, "half way down");
        assert!(rate(9_999) > 0.0 && rate(10_000) == 0.0);
    }

    #[test]
    fn settings_out_of_range_are_refused_with_the_value() {
        let base = FinetuneSettings::default;
        let lora = |rank| Adaptation::Lora { rank, alpha: 1.0, targets: vec![LoraTarget::Query] };
        for (settings, text) in [
            (FinetuneSettings { batch: 1, ..base() }, "batch must be 2 to 4096, got 1"),
            (FinetuneSettings { warm_up: 20_000, ..base() }, "warm-up"),
            (FinetuneSettings { learning_rate: f64::NAN, ..base() }, "got NaN"),
            (FinetuneSettings { mask_share: 1.5, ..base() }, "0 to 1, got 1.5"),
            (FinetuneSettings { margin: -1.0, ..base() }, "margin must be 0 to 1.5, got -1"),
            (
                FinetuneSettings { learning_rate: 0.0, ..base() },
                "learning rate must be above 0, at most 1, got 0",
            ),
            (FinetuneSettings { adaptation: lora(0), ..base() }, "LoRA rank"),
        ] {
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        base().check().unwrap();
    }
}

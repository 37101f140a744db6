//! How an autoencoder is trained, by options.

use auscult::{
    FrontEnds,
    autoencoder::{AutoencoderModelSettings, TrainingSettings},
};

use crate::args::{AutoencoderArguments, ComparingArguments, FitArguments, FrontEndArguments};

use super::unused::{OptionName, refuse};

impl AutoencoderArguments {
    /// The training that the options name.
    pub(crate) fn training(&self) -> TrainingSettings {
        let baseline = TrainingSettings::of(self.network.unwrap_or_default());
        TrainingSettings {
            epochs: self.epochs.unwrap_or(baseline.epochs),
            seed: self.seed.unwrap_or(baseline.seed),
            ..baseline
        }
    }

    /// Options of a network say nothing to what compares; `choice` is the option that chooses one.
    pub(crate) fn refuse_without(&self, others: &[OptionName], choice: &str) -> anyhow::Result<()> {
        let own = [
            ("--network", self.network.is_some()),
            ("--error-score", self.error_score.is_some()),
            ("--epochs", self.epochs.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        let why = format!("says how an autoencoder is trained; give {choice} too, or leave it out");
        refuse(own.iter().chain(others), &why)
    }
}

/// How `fit` makes a model of an autoencoder.
pub(crate) fn model_settings(arguments: &FitArguments) -> AutoencoderModelSettings {
    let defaults = AutoencoderModelSettings::default();
    AutoencoderModelSettings {
        training: arguments.autoencoder.training(),
        score: arguments.autoencoder.error_score.unwrap_or_default(),
        folds: arguments.folds.unwrap_or(defaults.folds),
    }
}

/// Options that say how to compare say nothing to a network.
pub(crate) fn refuse_comparing(
    front_end: &FrontEndArguments,
    comparing: &ComparingArguments,
    others: &[OptionName],
    front_ends: &FrontEnds,
) -> anyhow::Result<()> {
    if let Some(option) = front_end.encoder.given() {
        anyhow::bail!("{option} has no effect: an autoencoder is not an encoder; leave it out");
    }
    front_ends.refuse_unused_file("an autoencoder", "")?;
    let why = "says what sound is turned into, and an autoencoder takes its own spectrogram; leave it out";
    let own = [
        ("--front-end", front_end.front_end.is_some()),
        ("--convention", front_end.convention.is_some()),
    ];
    refuse(&own, why)?;
    let why = "says how references are compared, and an autoencoder compares nothing; leave it out";
    refuse(comparing.given().iter().chain(others), why)
}

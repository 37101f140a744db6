//! What is trained, and how its errors become a score.

use std::{fmt, str::FromStr};

use auscult_core::features::LogMelConvention;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The DCASE baseline since 2020: 5 frames of 128 bins, 640-128-128-128-128-8 and back, batch
    /// normalisation after every layer but the last.
    #[default]
    Dcase,
    /// The MIMII baseline: 5 frames of 64 bins, 320-64-64-8 and back, no normalisation.
    Mimii,
    /// The interpolating network (IDNN, Suefusa and others 2020): of 5 frames of 128 bins it sees all but the
    /// middle one and makes that, 512-64-32-16-32-64-128, no normalisation.
    Idnn,
}

/// Frames of a window.
pub(crate) const FRAMES: usize = 5;

impl Form {
    /// Every form.
    pub const ALL: &'static [Self] = &[Self::Dcase, Self::Mimii, Self::Idnn];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dcase => "dcase",
            Self::Mimii => "mimii",
            Self::Idnn => "idnn",
        }
    }

    /// The spectrogram it reads.
    pub fn convention(self) -> LogMelConvention {
        match self {
            Self::Dcase | Self::Idnn => LogMelConvention::Dcase,
            Self::Mimii => LogMelConvention::Mimii,
        }
    }

    /// Mel bins of a frame.
    pub fn bins(self) -> usize {
        match self {
            Self::Dcase | Self::Idnn => 128,
            Self::Mimii => 64,
        }
    }

    /// The frames of a window that the network sees.
    pub(crate) fn seen(self) -> &'static [usize] {
        match self {
            Self::Dcase | Self::Mimii => &[0, 1, 2, 3, 4],
            Self::Idnn => &[0, 1, 3, 4],
        }
    }

    /// The frames of a window that it makes.
    pub(crate) fn made(self) -> &'static [usize] {
        match self {
            Self::Dcase | Self::Mimii => &[0, 1, 2, 3, 4],
            Self::Idnn => &[2],
        }
    }

    /// Values of each layer, from the input to the output.
    pub(crate) fn widths(self) -> &'static [usize] {
        match self {
            Self::Dcase => &[640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640],
            Self::Mimii => &[320, 64, 64, 8, 64, 64, 320],
            Self::Idnn => &[512, 64, 32, 16, 32, 64, 128],
        }
    }

    pub(crate) fn has_batch_norm(self) -> bool {
        self == Self::Dcase
    }
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Form {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|choice| choice.name() == text);
        found.ok_or_else(|| Error::setting("autoencoder form", "dcase, mimii or idnn", text))
    }
}

/// How the errors of a clip become its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorScore {
    /// Mean squared error over frames and bins.
    #[default]
    Mse,
    /// Selective Mahalanobis distance: the mean over frames of d' S^-1 d, with the covariance S of
    /// each domain's training errors; the smaller domain counts.
    Mahalanobis,
    /// The same as the official program reduces it: the mean over all pairs of frames of
    /// d1' S^-1 d2, which is the distance of the clip's mean error.
    MahalanobisOfficial,
}

impl ErrorScore {
    /// Every score.
    pub const ALL: &'static [Self] = &[Self::Mse, Self::Mahalanobis, Self::MahalanobisOfficial];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mse => "mse",
            Self::Mahalanobis => "mahalanobis",
            Self::MahalanobisOfficial => "mahalanobis-official",
        }
    }
}

impl fmt::Display for ErrorScore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for ErrorScore {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|choice| choice.name() == text);
        let allowed = "mse, mahalanobis or mahalanobis-official";
        found.ok_or_else(|| Error::setting("error score", allowed, text))
    }
}

/// How an autoencoder is trained; the default values are the baselines', and for `idnn` those of `dcase`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSettings {
    /// Which network.
    pub form: Form,
    /// Times every window is seen.
    pub epochs: usize,
    /// Windows of a step.
    pub batch: usize,
    /// Step size of Adam.
    pub learning_rate: f64,
    /// Share of the clips that is not trained on but shows how well unseen sound is reconstructed.
    pub validation_share: f64,
    /// Decides the first weights, the order of windows and which clips validate.
    pub seed: u64,
}

/// More epochs would not end.
const MOST_EPOCHS: usize = 100_000;

impl TrainingSettings {
    /// The baseline's settings of a form.
    pub fn of(form: Form) -> Self {
        let (epochs, batch) = match form {
            Form::Dcase | Form::Idnn => (100, 256),
            Form::Mimii => (50, 512),
        };
        Self { form, epochs, batch, learning_rate: 1e-3, validation_share: 0.1, seed: 13_711 }
    }

    /// Steps of a training on clips of this many frames each.
    pub fn steps(&self, clips: usize, frames: usize) -> usize {
        let used = clips - (clips as f64 * self.validation_share).round() as usize;
        let windows = used * (frames + 1).saturating_sub(FRAMES);
        windows.div_ceil(self.batch.max(1)) * self.epochs
    }

    /// The same with as many epochs as the clips need for at least `steps` steps.
    pub(crate) fn with_steps(&self, steps: usize, clips: usize, frames: usize) -> Self {
        let of_epoch = Self { epochs: 1, ..self.clone() }.steps(clips, frames).max(1);
        Self { epochs: steps.div_ceil(of_epoch).clamp(1, MOST_EPOCHS), ..self.clone() }
    }

    /// Steps below which the network is hardly trained: batch normalisation keeps 99 % of what it
    /// knew at each step and starts from nothing, and at 500 networks of other seeds still differ by
    /// half in their errors.
    pub const FEWEST_USEFUL_STEPS: usize = 1000;

    /// Refuses settings that cannot be trained with.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with the one that is out of range.
    pub fn check(&self) -> Result<()> {
        let require = |name: &'static str, allowed: &str, got: String, holds: bool| {
            if holds { Ok(()) } else { Err(Error::setting(name, allowed, got)) }
        };
        let Self { epochs, batch, learning_rate, validation_share, .. } = *self;
        let allowed = (1..=MOST_EPOCHS).contains(&epochs);
        require("epochs", "1 to 100000", epochs.to_string(), allowed)?;
        require("batch", "2 to 65536", batch.to_string(), (2..=65_536).contains(&batch))?;
        let rate = learning_rate > 0.0 && learning_rate <= 1.0;
        require("learning rate", "above 0, at most 1", learning_rate.to_string(), rate)?;
        let share = (0.0..=0.5).contains(&validation_share);
        require("validation share", "0 to 0.5", validation_share.to_string(), share)
    }
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self::of(Form::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for form in Form::ALL {
            assert_eq!(form.name().parse::<Form>().unwrap(), *form);
            let values = |frames: &[usize]| Some(frames.len() * form.bins());
            assert_eq!(form.widths().first().copied(), values(form.seen()));
            assert_eq!(form.widths().last().copied(), values(form.made()));
            let all: BTreeSet<&usize> = form.seen().iter().chain(form.made()).collect();
            assert_eq!(all.len(), FRAMES, "{form} looks at every frame");
        }
        for score in ErrorScore::ALL {
            assert_eq!(score.name().parse::<ErrorScore>().unwrap(), *score);
            let json = serde_json::to_value(score).unwrap();
            assert_eq!(json, score.name());
        }
        let error = "rmse".parse::<ErrorScore>().unwrap_err().to_string();
        assert!(error.contains("mahalanobis-official") && error.contains("rmse"), "{error}");
    }

    #[test]
    fn settings_out_of_range_are_refused_with_the_value() {
        let base = TrainingSettings::default();
        for (settings, text) in [
            (TrainingSettings { epochs: 0, ..base.clone() }, "epochs"),
            (TrainingSettings { batch: 1, ..base.clone() }, "batch"),
            (TrainingSettings { learning_rate: f64::NAN, ..base.clone() }, "NaN"),
            (TrainingSettings { validation_share: 0.9, ..base.clone() }, "0.9"),
        ] {
            assert!(settings.check().unwrap_err().to_string().contains(text), "{settings:?}");
        }
        base.check().unwrap();
    }
}

#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! 1. `settings`: the two forms, the scores, and how training goes.
//! 2. `front_end`: clips become spectrograms; a trained network becomes a front end.
//! 3. `matrix`, `network`, `training`: products, gradients, Adam.
//! 4. `covariance`, `reconstruction`: errors, and what they come to.
//! 5. `model`: a calibrated model in the form every other one has.

mod covariance;
mod error;
mod front_end;
mod matrix;
mod model;
mod network;
mod reconstruction;
mod settings;
mod training;

use std::{collections::BTreeMap, sync::Arc};

use auscult_core::{Error as CoreError, References, View, Weights};

use self::reconstruction::{Precisions, Reconstruction};
pub use self::{
    error::{Error, Result},
    front_end::{AutoencoderFrontEnd, SpectrogramFrontEnd},
    model::{AutoencoderModelSettings, FittedAutoencoder, TrainingPlan, fit_model},
    settings::{ErrorScore, Form, TrainingSettings},
    training::{EpochErrors, TrainingEvent, Watch},
};

/// A trained autoencoder and how its errors become scores.
///
/// # Examples
///
/// ```
/// use auscult_autoencoder::{Autoencoder, Form, TrainingSettings};
///
/// // Spectrograms: 20 frames of 64 bins, a steady hum.
/// let hum = |clip: usize| -> Vec<f32> {
///     (0..20 * 64).map(|at| ((at % 64 + clip % 3) as f32 * 0.2).sin()).collect()
/// };
/// let clips: Vec<Vec<f32>> = (0..20).map(hum).collect();
/// let clips: Vec<&[f32]> = clips.iter().map(Vec::as_slice).collect();
/// let settings = TrainingSettings { epochs: 20, batch: 32, ..TrainingSettings::of(Form::Mimii) };
/// let domains = vec![String::new(); clips.len()];
/// # use std::ops::ControlFlow;
/// let trained = Autoencoder::train(&clips, &domains, &settings, &|_| ControlFlow::Continue(()))?;
///
/// let strange: Vec<f32> = (0..20 * 64).map(|at| ((at * at) as f32).cos()).collect();
/// assert!(trained.score_of(&strange) > trained.score_of(clips[0]));
/// # Ok::<(), auscult_autoencoder::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Autoencoder {
    form: Form,
    score: ErrorScore,
    reconstruction: Reconstruction,
    precisions: Precisions,
    weights: Weights,
    fingerprint: String,
    curve: Vec<EpochErrors>,
    held_back: Vec<usize>,
    used: Vec<usize>,
    training: TrainingSettings,
}

impl Autoencoder {
    /// Trains on spectrograms (frames x bins, one a clip); it scores by mean squared error.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, there is nothing to train on, or the work was stopped.
    pub fn train(
        maps: &[&[f32]],
        domains: &[String],
        settings: &TrainingSettings,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        debug_assert_eq!(maps.len(), domains.len(), "one domain a clip");
        let trained = training::train(maps, settings, watch)?;
        let mut weights = BTreeMap::new();
        for (at, layer) in trained.network.layers.iter().enumerate() {
            let (weight, bias) = layer.folded();
            weights.insert(format!("layer.{at}.weight"), weight);
            weights.insert(format!("layer.{at}.bias"), bias);
        }
        Ok(Self {
            form: settings.form,
            score: ErrorScore::Mse,
            reconstruction: Reconstruction::of(settings.form, &trained.network),
            precisions: Precisions::new(),
            fingerprint: fingerprint(&weights),
            weights: Arc::new(weights),
            curve: trained.curve,
            held_back: trained.held_back,
            used: trained.used,
            training: settings.clone(),
        })
    }

    /// The same network with another score; the clips are those it was trained on.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Covariance`] if a domain's errors do not vary enough.
    pub fn with_score(
        &self,
        score: ErrorScore,
        maps: &[&[f32]],
        domains: &[String],
    ) -> Result<Self> {
        let mut scored = Self { score, ..self.clone() };
        scored.precisions = match score {
            ErrorScore::Mse => Precisions::new(),
            _ => covariance::precisions(
                &self.reconstruction,
                maps,
                domains,
                &self.used,
                &self.training,
            )?,
        };
        let mut weights = BTreeMap::clone(&self.weights);
        weights.retain(|name, _| !name.starts_with(PRECISION));
        let precisions = scored.precisions.iter().enumerate();
        weights.extend(precisions.map(|(at, values)| (format!("{PRECISION}{at}"), values.clone())));
        scored.fingerprint = fingerprint(&weights);
        scored.weights = Arc::new(weights);
        Ok(scored)
    }

    /// The autoencoder a model file holds.
    ///
    /// # Errors
    ///
    /// [`CoreError::DamagedModel`] if an array is missing or of another length.
    pub fn read(form: Form, score: ErrorScore, weights: &Weights) -> Result<Self> {
        let precisions: Precisions = weights
            .iter()
            .filter(|(name, _)| name.starts_with(PRECISION))
            .map(|(_, values)| values.clone())
            .collect();
        let fits = precisions.iter().all(|values| values.len() == form.bins() * form.bins());
        if !fits || (score != ErrorScore::Mse && precisions.is_empty()) {
            let reason = format!("the autoencoder has no covariance for the score {score}");
            return Err(CoreError::DamagedModel { reason }.into());
        }
        Ok(Self {
            form,
            score,
            reconstruction: Reconstruction::read(form, weights)?,
            precisions,
            fingerprint: fingerprint(weights),
            weights: Arc::clone(weights),
            curve: Vec::new(),
            held_back: Vec::new(),
            used: Vec::new(),
            training: TrainingSettings::of(form),
        })
    }

    /// Which network it is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// How its errors become scores.
    pub fn score(&self) -> ErrorScore {
        self.score
    }

    /// A fingerprint of every weight.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Everything [`Autoencoder::read`] needs, by name.
    pub fn weights(&self) -> Weights {
        Arc::clone(&self.weights)
    }

    /// The errors of each epoch; empty of one that was read.
    pub fn curve(&self) -> &[EpochErrors] {
        &self.curve
    }

    /// Clips that were held back from training, by their index.
    pub fn held_back(&self) -> &[usize] {
        &self.held_back
    }

    /// What each bin of a spectrogram contributes to its score; the mean of them is the score.
    pub fn profile(&self, map: &[f32]) -> Vec<f32> {
        self.reconstruction.profile(map, self.score, &self.precisions)
    }

    /// The score of a spectrogram.
    pub fn score_of(&self, map: &[f32]) -> f64 {
        let profile = self.profile(map);
        profile.iter().map(|&value| f64::from(value)).sum::<f64>() / profile.len() as f64
    }
}

/// What the names of inverse covariances begin with.
const PRECISION: &str = "precision.";

fn fingerprint(weights: &BTreeMap<String, Vec<f32>>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, values) in weights {
        hasher.update(name.as_bytes());
        hasher.update(&(values.len() as u64).to_le_bytes());
        for value in values {
            hasher.update(&value.to_le_bytes());
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The spectrograms that [`SpectrogramFrontEnd`] made of clips.
///
/// # Errors
///
/// [`CoreError::Views`] if the vectors are another front end's.
pub fn maps_of(spectrograms: &References) -> Result<Vec<&[f32]>> {
    let matrix = spectrograms.matrix(View::Mean);
    let matrix = matrix.ok_or(CoreError::Views { needed: 1, got: 0 })?;
    Ok(matrix.chunks_exact(spectrograms.axis_len().max(1)).collect())
}

/// The domain of each clip; empty where none is known.
pub fn domains_of(clips: &References) -> Vec<String> {
    clips.provenance().iter().map(|from| from.domain.clone().unwrap_or_default()).collect()
}

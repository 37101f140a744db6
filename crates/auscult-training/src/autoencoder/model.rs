//! A model whose scores are an autoencoder's errors, calibrated by networks that had not heard
//! the clips they score.

use std::sync::Arc;

use auscult_core::{
    BeamSettings, CalibrationScheme, ClipVectors, FrontEnd, Groups, Model, ModelSettings,
    References, ScoreOf, View,
};
use rayon::prelude::*;

use super::{
    Autoencoder, AutoencoderFrontEnd, ErrorScore, TrainingEvent, TrainingSettings, domains_of,
    maps_of,
};
use crate::{Error, Result};

/// How a model is made of an autoencoder.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoencoderModelSettings {
    /// How networks are trained.
    pub training: TrainingSettings,
    /// How errors become scores.
    pub score: ErrorScore,
    /// Visits (or files, or blocks) are left out in so many parts; each part costs one training.
    pub folds: usize,
}

impl AutoencoderModelSettings {
    /// Networks [`fit_model`] trains for calibration and the model itself, at most.
    pub fn trainings(&self) -> usize {
        self.folds + 1
    }
}

impl Default for AutoencoderModelSettings {
    fn default() -> Self {
        Self { training: TrainingSettings::default(), score: ErrorScore::default(), folds: 5 }
    }
}

/// Trains an autoencoder on spectrograms made by [`super::SpectrogramFrontEnd`] and calibrates it.
///
/// The references of the model are the error profiles of the clips, each by a network that was
/// trained without the clip's visit (or whatever `settings.calibration` leaves out): so their
/// scores are those of unseen normal sound. With [`CalibrationScheme::Split`] every third visit is
/// kept out of the one network that is trained, and only those clips calibrate. Front end, detector
/// and weights of `settings` are replaced.
///
/// # Errors
///
/// If there are too few clips or visits, a setting is out of range, or `go_on` says stop.
pub fn fit_model(
    settings: ModelSettings,
    spectrograms: &References,
    autoencoder: &AutoencoderModelSettings,
    go_on: &(dyn Fn(TrainingEvent) -> bool + Sync),
) -> Result<Model> {
    let length = settings.clip.check()?;
    let groups = Groups::by_scheme(settings.calibration, spectrograms.provenance())?;
    if groups.count() < 2 {
        let got = spectrograms.len();
        return Err(Error::setting("clips of an autoencoder", "at least 2 from 2 files", got));
    }
    if autoencoder.folds < 2 {
        return Err(Error::setting("folds", "at least 2", autoencoder.folds));
    }
    let is_split = settings.calibration == CalibrationScheme::Split;
    let parts = if is_split { SPLIT } else { autoencoder.folds.min(groups.count()) };
    let part_of = |clip: usize| groups.members()[clip] % parts;
    let clips = 0..spectrograms.len();
    let part = |at: usize| -> (Vec<usize>, Vec<usize>) {
        clips.clone().partition(|&clip| part_of(clip) == at)
    };
    let train = |kept: &[usize]| train_on(spectrograms, kept, autoencoder, go_on);
    let (network, mut profiles) = if is_split {
        let (out, kept) = part(SPLIT - 1);
        let network = train(&kept)?;
        let profiles = profiles(&network, spectrograms, &out)?;
        (network, profiles)
    } else {
        let of_parts: Result<Vec<_>> = (0..parts)
            .into_par_iter()
            .map(|at| {
                let (out, kept) = part(at);
                profiles(&train(&kept)?, spectrograms, &out)
            })
            .collect();
        let all: Vec<usize> = clips.clone().collect();
        (train(&all)?, of_parts?.into_iter().flatten().collect())
    };
    profiles.sort_by_key(|(clip, _)| *clip);
    let network = Arc::new(network);
    let front_end = AutoencoderFrontEnd::new(Arc::clone(&network), length)?;
    let mut references = References::new(front_end.views(), front_end.axis().len());
    for (clip, profile) in profiles {
        references.push(&profile, spectrograms.provenance()[clip].clone())?;
    }
    let scheme = if is_split { CalibrationScheme::Auto } else { settings.calibration };
    let settings = ModelSettings {
        front_end: front_end.identity(),
        detector: detector(&front_end),
        weights: network.weights(),
        calibration: scheme,
        ..settings
    };
    Ok(Model::fit(settings, references)?)
}

/// Every third group calibrates a split, as in the core.
const SPLIT: usize = 3;

/// Errors are scores already: the references only tell what is normal.
fn detector(front_end: &AutoencoderFrontEnd) -> BeamSettings {
    BeamSettings {
        neighbours: 0,
        score_of: ScoreOf::Value,
        ..BeamSettings::new(front_end.default_bands(), vec![View::Mean])
    }
}

fn train_on(
    spectrograms: &References,
    clips: &[usize],
    autoencoder: &AutoencoderModelSettings,
    go_on: &(dyn Fn(TrainingEvent) -> bool + Sync),
) -> Result<Autoencoder> {
    let (maps, domains) = (maps_of(spectrograms)?, domains_of(spectrograms));
    let maps: Vec<&[f32]> = clips.iter().map(|&clip| maps[clip]).collect();
    let domains: Vec<String> = clips.iter().map(|&clip| domains[clip].clone()).collect();
    let trained = Autoencoder::train(&maps, &domains, &autoencoder.training, go_on)?;
    trained.with_score(autoencoder.score, &maps, &domains)
}

/// The error profiles of some clips.
fn profiles(
    network: &Autoencoder,
    spectrograms: &References,
    clips: &[usize],
) -> Result<Vec<(usize, ClipVectors)>> {
    let maps = maps_of(spectrograms)?;
    clips
        .par_iter()
        .map(|&clip| {
            let profile = network.profile(maps[clip]);
            Ok((clip, ClipVectors::from_views(vec![(View::Mean, profile)])?))
        })
        .collect()
}

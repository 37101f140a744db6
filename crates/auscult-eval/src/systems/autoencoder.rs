//! The autoencoder baseline: one network a section, and any number of scores from it.

use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

use auscult_autoencoder::{Autoencoder, Form, TrainingSettings, domains_of, maps_of};
use auscult_core::{Error as CoreError, View};
use rayon::prelude::*;

use super::{IsStopped, SectionVectors, SystemScores, SystemSettings};
use crate::{Error, Result};

/// The networks of a section, by what they were trained with.
#[derive(Debug, Default)]
pub struct Networks(Mutex<Vec<(TrainingSettings, Autoencoder)>>);

impl Networks {
    /// The network of these settings; trained by whoever asks first.
    fn get(
        &self,
        settings: &TrainingSettings,
        maps: &[&[f32]],
        domains: &[String],
        is_stopped: &IsStopped<'_>,
    ) -> Result<Autoencoder> {
        // A network that was not stored because of a panic is trained again.
        let mut networks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = networks.iter().find(|(with, _)| with == settings) {
            return Ok(found.clone());
        }
        let watch =
            |_| if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let trained = Autoencoder::train(maps, domains, settings, &watch)?;
        networks.push((settings.clone(), trained.clone()));
        Ok(trained)
    }
}

/// Trains on the section's spectrograms. The clips the network held back for validation are its
/// left-out scores.
pub(super) fn score(
    system: &SystemSettings,
    section: SectionVectors<'_>,
    is_stopped: &IsStopped<'_>,
) -> Result<SystemScores> {
    let form = system.convention.as_deref().map_or(Ok(Form::default()), str::parse)?;
    let baseline = TrainingSettings::of(form);
    let settings = TrainingSettings {
        epochs: system.epochs.unwrap_or(baseline.epochs),
        seed: system.seed.unwrap_or(baseline.seed),
        ..baseline
    };
    let (maps, domains) = (maps_of(section.train)?, domains_of(section.train));
    let network = section.networks.get(&settings, &maps, &domains, is_stopped)?;
    let network = network.with_score(system.error_score, &maps, &domains)?;
    let test: Result<Vec<f64>> = section
        .test
        .par_iter()
        .map(|clip| {
            let map = clip.view(View::Mean).ok_or(CoreError::Views { needed: 1, got: 0 })?;
            Ok(network.score_of(map))
        })
        .collect();
    let left_out = network.held_back().iter().map(|&clip| network.score_of(maps[clip])).collect();
    Ok(SystemScores { test: test?, left_out })
}

impl From<auscult_autoencoder::Error> for Error {
    fn from(error: auscult_autoencoder::Error) -> Self {
        match error {
            auscult_autoencoder::Error::Core(error) => Self::Core(error),
            auscult_autoencoder::Error::Setting { setting, allowed, got } => {
                Self::Setting { setting, allowed, got }
            }
            other => Self::Training { reason: other.to_string() },
        }
    }
}

//! 4. Systems: a front end and a back end by name, and what they make of a section.

mod autoencoder;
mod fusion;
mod gaussian;
mod k_means;
mod mixture;
mod nearest;
mod presets;
mod settings;
mod subspace;
mod unused;
mod vectors;

use auscult_core::{ClipVectors, References};

pub use self::{
    autoencoder::Networks,
    fusion::fuse,
    settings::{BackEnd, Mixup, Sweep, SweepMeasure, SweepParameter, SystemSettings},
};
pub(crate) use self::{settings::precision_text, unused::Written};
use crate::{Error, Result, datasets::Judging};

/// What a system makes of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemScores {
    /// The score of each test clip, in order.
    pub test: Vec<f64>,
    /// Scores of training clips that were left out when they were scored; empty where a system
    /// has none.
    pub left_out: Vec<f64>,
}

/// A section's vectors: what is learned from, with domains in the provenance, and what is judged.
#[derive(Debug, Clone, Copy)]
pub struct SectionVectors<'a> {
    /// The training clips.
    pub train: &'a References,
    /// The test clips; where one is left out at a time, the training clips and then the others.
    pub test: &'a [ClipVectors],
    /// Which of them are judged by which others.
    pub judging: Judging,
    /// Networks trained on these training clips, so that two scores of one do not train it twice.
    pub networks: &'a Networks,
}

/// Called while a network is trained: whether to stop.
pub type IsStopped<'a> = dyn Fn() -> bool + Sync + 'a;

/// Why only nearest references take several front ends: their vectors have no common scale.
pub fn several_front_ends(name: &str) -> Error {
    Error::Setting {
        setting: "front end",
        allowed:
            "one for this back end; nearest and genrep take several, and a fusion joins systems"
                .to_owned(),
        got: name.to_owned(),
    }
}

/// Fits a system on a section and scores its test clips.
///
/// # Errors
///
/// If the section lacks what the system needs, a setting is out of range, or training was stopped.
/// Fusions are made of the scores of their members: see [`fuse`].
pub fn score(
    system: &SystemSettings,
    front_end: &dyn auscult_core::FrontEnd,
    section: SectionVectors<'_>,
    is_stopped: &IsStopped<'_>,
) -> Result<SystemScores> {
    if section.train.is_empty() {
        return Err(Error::Core(auscult_core::Error::NoReferences));
    }
    let compares = matches!(system.back_end, BackEnd::Nearest | BackEnd::GenRep);
    if !compares && !front_end.members().is_empty() {
        return Err(several_front_ends(&system.front_end));
    }
    if section.judging == Judging::LeaveOneOut {
        return match system.back_end {
            BackEnd::Nearest => nearest::leave_one_out(system, front_end, section),
            other => Err(Error::Setting {
                setting: "back end",
                allowed: "nearest where each clip is left out in turn".to_owned(),
                got: other.name().to_owned(),
            }),
        };
    }
    match system.back_end {
        BackEnd::Nearest => nearest::score(system, front_end, section),
        BackEnd::GenRep => nearest::score_by_domain(system, front_end, section),
        BackEnd::Mahalanobis => vectors::score(system, section, &gaussian::Mahalanobis),
        BackEnd::PcaResidual => vectors::score(system, section, &gaussian::PcaResidual),
        BackEnd::Mixture => vectors::score(system, section, &mixture::MixtureModel),
        BackEnd::KMeans => vectors::score(system, section, &k_means::KMeansModel),
        BackEnd::Autoencoder => autoencoder::score(system, section, is_stopped),
        BackEnd::Fusion => Err(Error::Setting {
            setting: "back end",
            allowed: "one that scores by itself".to_owned(),
            got: "fusion".to_owned(),
        }),
    }
}

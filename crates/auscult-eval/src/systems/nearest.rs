//! Nearest references: global matching, BEAM, AdaBEAM, and GenRep's two memories.

use auscult_core::{
    Beam, FittedBeam, FrontEnd, Groups, References,
    baselines::genrep::{DomainWise, Partners, mix_memory},
};
use rayon::prelude::*;

use super::{Mixup, SectionVectors, SystemScores, SystemSettings};
use crate::Result;

pub(super) fn score(
    system: &SystemSettings,
    front_end: &dyn FrontEnd,
    section: SectionVectors<'_>,
) -> Result<SystemScores> {
    let beam = beam(system, front_end, section)?;
    let groups = Groups::clips(section.train.len());
    let fitted = beam.fit_with_groups(section.train.clone(), &groups)?;
    Ok(SystemScores {
        test: score_all(&fitted, section)?,
        left_out: fitted.left_out_scores().iter().flatten().copied().collect(),
    })
}

fn score_all(fitted: &FittedBeam, section: SectionVectors<'_>) -> Result<Vec<f64>> {
    let scores: auscult_core::Result<Vec<f64>> =
        section.test.par_iter().map(|clip| Ok(fitted.score(clip)?.value)).collect();
    Ok(scores?)
}

pub(super) fn score_by_domain(
    system: &SystemSettings,
    front_end: &dyn FrontEnd,
    section: SectionVectors<'_>,
) -> Result<SystemScores> {
    let beam = beam(system, front_end, section)?;
    let of = |domain: &str| -> References {
        let provenance = section.train.provenance();
        let indices: Vec<usize> = (0..section.train.len())
            .filter(|&index| provenance[index].domain.as_deref() == Some(domain))
            .collect();
        section.train.select(&indices)
    };
    let (source, target) = (of("source"), of("target"));
    let target = match system.mixup {
        None | Some(Mixup::Nearest(0)) => target,
        Some(Mixup::Nearest(count)) => mix_memory(&source, &target, Partners::Nearest(count))?,
        Some(Mixup::All(_)) => mix_memory(&source, &target, Partners::All)?,
    };
    let detector = DomainWise::fit(&beam, source, target)?;
    let test = detector.scores(section.test, system.standardisation)?;
    Ok(SystemScores { test, left_out: Vec::new() })
}

fn beam(
    system: &SystemSettings,
    front_end: &dyn FrontEnd,
    section: SectionVectors<'_>,
) -> Result<Beam> {
    Ok(system.beam_settings(front_end)?.check(section.train.axis_len())?)
}

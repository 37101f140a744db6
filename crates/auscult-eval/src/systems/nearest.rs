//! Nearest references: global matching, BEAM, AdaBEAM, and GenRep's two memories.

use auscult_core::{
    Beam, ClipVectors, FittedBeam, FrontEnd, Groups, References,
    baselines::genrep::{DomainWise, Partners, mix_memory},
};
use rayon::prelude::*;

use super::{Mixup, SectionVectors, SystemScores, SystemSettings};
use crate::{Error, Result};

pub(super) fn score(
    system: &SystemSettings,
    front_end: &dyn FrontEnd,
    section: SectionVectors<'_>,
) -> Result<SystemScores> {
    let beam = beam(system, front_end, section)?;
    let groups = Groups::clips(section.train.len());
    let fitted = beam.fit_with_groups(section.train.clone(), &groups)?;
    Ok(SystemScores {
        test: score_all(&fitted, section.test)?,
        left_out: fitted.left_out_scores().iter().flatten().copied().collect(),
    })
}

/// Scores each training clip against the others, and the other test clips against all but the first.
///
/// Every memory is a fit of its own, so that nothing of the clip is in maps, scales, exponents or the
/// standardisation of members. Scores of different memories are compared, so those of a single front
/// end are standardised, too.
pub(super) fn leave_one_out(
    system: &SystemSettings,
    front_end: &dyn FrontEnd,
    section: SectionVectors<'_>,
) -> Result<SystemScores> {
    let (axis_len, count) = (section.train.axis_len(), section.train.len());
    let beam = system.beam_settings(front_end)?.standardised(axis_len).check(axis_len)?;
    if count < 2 || section.test.len() < count {
        let (setting, allowed) = ("normal clips of a section", "2 or more, to leave one out");
        let (allowed, got) = (allowed.to_owned(), count.to_string());
        return Err(Error::Setting { setting, allowed, got });
    }
    let (normal, others) = section.test.split_at(count);
    let mut test = vec![0.0; count];
    for (left_out, clip) in normal.iter().enumerate() {
        let rest: Vec<usize> = (0..count).filter(|&index| index != left_out).collect();
        let memory = beam.fit_for_scoring(section.train.select(&rest))?;
        test[left_out] = memory.score(clip)?.value;
        if left_out == 0 {
            test.extend(score_all(&memory, others)?);
        }
    }
    Ok(SystemScores { test, left_out: Vec::new() })
}

fn score_all(fitted: &FittedBeam, clips: &[ClipVectors]) -> Result<Vec<f64>> {
    let scores: auscult_core::Result<Vec<f64>> =
        clips.par_iter().map(|clip| Ok(fitted.score(clip)?.value)).collect();
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

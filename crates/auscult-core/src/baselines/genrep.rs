//! GenRep's domain-wise scoring and `MemMixup`.
//!
//! One memory a domain; a clip is scored in each, the scores are standardised, the smaller one
//! counts. The published form standardises with the scores of the whole test batch, so it looks at
//! what it is judging; [`Standardisation::LeftOut`] is the honest twin.

use crate::{
    Beam, ClipVectors, Error, FittedBeam, Groups, Metric, References, Result, distance::Scaled,
    names::named_choices,
};

/// Where mean and deviation of a domain's scores come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Standardisation {
    /// Left-out scores of the domain's references: a clip's score does not depend on other clips.
    #[default]
    LeftOut,
    /// The scores of the whole batch, as published: transductive, anomalies included.
    Batch,
    /// None: the smaller of the two raw scores.
    Raw,
}

named_choices!(Standardisation, "standardisation", {
    LeftOut => "left-out",
    Batch => "batch",
    Raw => "raw",
});

/// One fitted detector a domain.
#[derive(Debug, Clone)]
pub struct DomainWise {
    source: FittedBeam,
    target: FittedBeam,
}

impl DomainWise {
    /// Fits a memory for each of two domains.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyDomain`] if one has no references, otherwise those of [`Beam::fit`].
    pub fn fit(beam: &Beam, source: References, target: References) -> Result<Self> {
        for (domain, references) in [("source", &source), ("target", &target)] {
            if references.is_empty() {
                return Err(Error::EmptyDomain { domain: domain.to_owned() });
            }
        }
        let by_clip = |references: References| {
            let groups = Groups::clips(references.len());
            beam.fit_with_groups(references, &groups)
        };
        Ok(Self { source: by_clip(source)?, target: by_clip(target)? })
    }

    /// Splits references by their domain and fits both.
    ///
    /// # Errors
    ///
    /// As [`DomainWise::fit`].
    pub fn fit_by_domain(beam: &Beam, references: &References) -> Result<Self> {
        let of = |domain: &str| {
            let indices: Vec<usize> = (0..references.len())
                .filter(|&index| references.provenance()[index].domain.as_deref() == Some(domain))
                .collect();
            references.select(&indices)
        };
        Self::fit(beam, of("source"), of("target"))
    }

    /// Scores a batch of clips, in order.
    ///
    /// # Errors
    ///
    /// If a clip's vectors are not those of the references.
    pub fn scores(
        &self,
        clips: &[ClipVectors],
        standardisation: Standardisation,
    ) -> Result<Vec<f64>> {
        let raw = |detector: &FittedBeam| -> Result<Vec<f64>> {
            clips.iter().map(|clip| Ok(detector.score(clip)?.value)).collect()
        };
        let standardised = |detector: &FittedBeam| -> Result<Vec<f64>> {
            let scores = raw(detector)?;
            let moments = match standardisation {
                Standardisation::Raw => Moments { mean: 0.0, deviation: 1.0 },
                Standardisation::Batch => Moments::of(&scores),
                Standardisation::LeftOut => {
                    let left_out: Vec<f64> =
                        detector.left_out_scores().iter().flatten().copied().collect();
                    Moments::of(&left_out)
                }
            };
            Ok(scores.into_iter().map(|score| moments.standardise(score)).collect())
        };
        let (source, target) = (standardised(&self.source)?, standardised(&self.target)?);
        Ok(source.into_iter().zip(target).map(|(source, target)| source.min(target)).collect())
    }
}

/// Mean and population standard deviation.
#[derive(Debug, Clone, Copy)]
struct Moments {
    mean: f64,
    deviation: f64,
}

impl Moments {
    /// Of no scores: nothing is changed.
    fn of(scores: &[f64]) -> Self {
        let count = scores.len() as f64;
        if scores.is_empty() {
            return Self { mean: 0.0, deviation: 1.0 };
        }
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
        Self { mean, deviation: variance.sqrt() }
    }

    /// Equal scores have no deviation; they are only centred then.
    fn standardise(self, score: f64) -> f64 {
        let centred = score - self.mean;
        if self.deviation > 0.0 { centred / self.deviation } else { centred }
    }
}

/// Which source references are mixed into each target reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partners {
    /// All of them.
    All,
    /// The nearest ones by Euclidean distance of the whole vector, in each view on its own.
    Nearest(usize),
}

/// GenRep's share of the target in a mixture.
pub const TARGET_SHARE: f64 = 0.9;

/// `MemMixup`: the target references followed by 0.9 target + 0.1 source for each of them and its
/// partners.
///
/// # Errors
///
/// [`Error::OtherFrontEnd`], [`Error::Views`] or [`Error::VectorLength`] if the two sets have different vectors.
pub fn mix_memory(
    source: &References,
    target: &References,
    partners: Partners,
) -> Result<References> {
    target.check_others(source)?;
    let mut mixed = target.clone();
    for index in 0..target.len() {
        let views: Option<Vec<_>> = target
            .views()
            .iter()
            .map(|&view| {
                Some((view, mixtures(source.matrix(view)?, target.vector(view, index)?, partners)))
            })
            .collect();
        let (needed, got) = (target.views().len(), source.views().len());
        let mut views = views.ok_or(Error::Views { needed, got })?;
        while views.iter().all(|(_, mixtures)| !mixtures.is_empty()) {
            let clip =
                views.iter_mut().map(|(view, mixtures)| (*view, mixtures.remove(0))).collect();
            mixed.push(&ClipVectors::from_views(clip)?, target.provenance()[index].clone())?;
        }
    }
    Ok(mixed)
}

/// One target vector mixed with each of its partners among the rows of `source`.
fn mixtures(source: &[f32], target: &[f32], partners: Partners) -> Vec<Vec<f32>> {
    let mut rows: Vec<&[f32]> = source.chunks_exact(target.len()).collect();
    if let Partners::Nearest(count) = partners {
        let plain = |vector| Scaled { vector, factor: 1.0 };
        // A stable sort: the smaller index comes first among equals.
        rows.sort_by_cached_key(|row| {
            Metric::SquaredEuclidean.between(plain(row), [plain(target)])[0].to_bits()
        });
        rows.truncate(count);
    }
    let mix = |(&target, &source): (&f32, &f32)| {
        (TARGET_SHARE * f64::from(target) + (1.0 - TARGET_SHARE) * f64::from(source)) as f32
    };
    rows.into_iter().map(|row| target.iter().zip(row).map(mix).collect()).collect()
}

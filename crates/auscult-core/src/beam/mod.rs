//! 10. BEAM and AdaBEAM: nearest neighbours per band, normalised, aggregated and fused.

mod band;
mod ensemble;
mod fit;
mod overrides;
mod settings;

use std::ops::Range;

use self::band::FittedBand;
pub use self::{
    ensemble::EnsembleSettings,
    overrides::{BeamOverrides, OptionConflict},
    settings::{Beam, BeamSettings, Method, ScoreOf},
};
pub(crate) use self::{ensemble::Standardisation, fit::BandFit};
use crate::{
    BandScore, ClipScore, ClipVectors, Error, References, Result, View, ViewScore,
    groups::Groups,
    memory::BandMemory,
    nearest::{Buffers, bands_at_once},
    parallel,
};

impl Beam {
    /// Remembers the references.
    ///
    /// # Errors
    ///
    /// If there are no references, or they do not suit the settings.
    pub fn fit(&self, references: References) -> Result<FittedBeam> {
        let groups = Groups::of(references.provenance());
        self.fit_with_groups(references, &groups)
    }

    /// Fits with a choice of what leaves together in left-out scores.
    ///
    /// # Errors
    ///
    /// As [`Beam::fit`], and [`Error::ReferenceCount`] if the groups are of another set.
    pub fn fit_with_groups(&self, references: References, groups: &Groups) -> Result<FittedBeam> {
        if groups.members().len() != references.len() {
            let (expected, got) = (references.len(), groups.members().len());
            return Err(Error::ReferenceCount { what: "groups", expected, got });
        }
        parallel::within(|| self.fit_all(references, groups))
    }

    fn fit_all(&self, references: References, groups: &Groups) -> Result<FittedBeam> {
        let views = self.prepare(&references)?;
        let mut fitted_views = Vec::with_capacity(views.len());
        let mut left_out_views = Vec::with_capacity(views.len());
        let (buffers, at_once) = (Buffers::default(), bands_at_once(references.len()));
        for (view, memories) in views {
            let matrix = references.matrix(view).unwrap_or_default();
            let fits: Vec<_> = (0..memories.len())
                .step_by(at_once)
                .flat_map(|first| {
                    let bands = &memories[first..memories.len().min(first + at_once)];
                    parallel::map(
                        bands.len(),
                        || (),
                        |(), band| {
                            let neighbours = self.neighbours_of(first + band);
                            self.fit_band(&bands[band], matrix, groups, neighbours, &buffers)
                        },
                    )
                })
                .collect();
            let (bands, left_out): (Vec<_>, Vec<_>) = memories
                .into_iter()
                .zip(fits)
                .map(|(memory, (fit, left_out))| {
                    (FittedBand::new(memory, fit, self.settings.rule), left_out)
                })
                .unzip();
            fitted_views.push(FittedView { view, bands });
            left_out_views.push(left_out);
        }
        let standardisation: Vec<Standardisation> = self
            .members
            .iter()
            .map(|bands| {
                let left_out = |index| self.member_left_out(&left_out_views, index, bands.clone());
                Standardisation::of((0..references.len()).filter_map(left_out))
            })
            .collect();
        let left_out = (0..references.len())
            .map(|index| self.combine_left_out(&left_out_views, index, &standardisation))
            .collect();
        let (beam, views) = (self.clone(), fitted_views);
        Ok(FittedBeam { beam, references, views, left_out, standardisation })
    }

    /// The clip score of a left-out reference, `None` if nothing else is in memory.
    fn combine_left_out(
        &self,
        views: &[Vec<fit::LeftOutBand>],
        index: usize,
        standardisation: &[Standardisation],
    ) -> Option<f64> {
        let Some(ensemble) = &self.settings.ensemble else {
            return self.member_left_out(views, index, 0..self.layout.bands().len());
        };
        let members = self.members.iter();
        let scores: Option<Vec<f64>> =
            members.map(|bands| self.member_left_out(views, index, bands.clone())).collect();
        Some(ensemble::combine(ensemble.combine, scores?.into_iter(), standardisation))
    }

    /// The score of a left-out reference by some of the bands.
    fn member_left_out(
        &self,
        views: &[Vec<fit::LeftOutBand>],
        index: usize,
        member: Range<usize>,
    ) -> Option<f64> {
        let scores = views.iter().map(|bands| {
            let bands = &bands[member.clone()];
            // Either all bands have one or none.
            bands.first().and_then(|band| band[index])?;
            let scores = bands.iter().map(|band| band[index].unwrap_or(f64::NAN));
            Some(self.settings.aggregation.over(scores))
        });
        let scores: Option<Vec<f64>> = scores.collect();
        Some(self.settings.fusion.over(scores?.into_iter()))
    }

    /// Every band of every view, ready to be compared with.
    pub(crate) fn prepare(&self, references: &References) -> Result<Vec<(View, Vec<BandMemory>)>> {
        if references.is_empty() {
            return Err(Error::NoReferences);
        }
        if references.axis_len() != self.layout.axis_len() {
            let (got, expected) = (references.axis_len(), self.layout.axis_len());
            return Err(Error::VectorLength { what: "a reference", got, expected });
        }
        let prepare = |&view: &View| {
            let needed = self.settings.views.len();
            let got = references.views().len();
            let matrix = references.matrix(view).ok_or(Error::Views { needed, got })?;
            Ok((view, BandMemory::for_layout(matrix, &self.layout, self.settings.metric)))
        };
        self.settings.views.iter().map(prepare).collect()
    }
}

/// A fitted [`Beam`]: the memory with its local scales.
#[derive(Debug, Clone)]
pub struct FittedBeam {
    beam: Beam,
    references: References,
    views: Vec<FittedView>,
    left_out: Vec<Option<f64>>,
    /// One a member of an ensemble; empty for a single front end.
    standardisation: Vec<Standardisation>,
}

#[derive(Debug, Clone)]
struct FittedView {
    view: View,
    bands: Vec<FittedBand>,
}

impl FittedBeam {
    /// The checked settings.
    pub fn beam(&self) -> &Beam {
        &self.beam
    }

    /// The references in memory.
    pub fn references(&self) -> &References {
        &self.references
    }

    /// The references alone, to be fitted anew.
    pub fn into_references(self) -> References {
        self.references
    }

    /// The score of each reference against the memory without its group; `None` if that memory is
    /// empty.
    pub fn left_out_scores(&self) -> &[Option<f64>] {
        &self.left_out
    }

    /// Median left-out score of a band: what "normal" means there. `None` if there is no such band.
    pub fn typical_band_score(&self, view: View, band: usize) -> Option<f64> {
        Some(self.band(view, band)?.fit().typical)
    }

    /// The density exponent in force in a band (what `auto` chose). `None` if there is no such band.
    pub fn band_exponent(&self, view: View, band: usize) -> Option<f64> {
        Some(self.band(view, band)?.fit().exponent)
    }

    fn band(&self, view: View, band: usize) -> Option<&FittedBand> {
        self.views.iter().find(|fitted| fitted.view == view)?.bands.get(band)
    }

    /// Room for one score; reuse it from clip to clip. The first one also makes what queries are
    /// compared with.
    pub fn new_score(&self) -> ClipScore {
        if self.beam.settings.score_of == ScoreOf::Distance {
            for fitted in &self.views {
                let matrix = self.references.matrix(fitted.view).unwrap_or_default();
                for band in &fitted.bands {
                    band.outline(matrix, self.references.axis_len());
                }
            }
        }
        let bands = vec![BandScore::UNSCORED; self.beam.layout.bands().len()];
        let view = |fitted: &FittedView| ViewScore {
            view: fitted.view,
            value: f64::NAN,
            bands: bands.clone(),
        };
        ClipScore { value: f64::NAN, views: self.views.iter().map(view).collect() }
    }

    /// Scores one clip.
    ///
    /// # Errors
    ///
    /// Those of [`FittedBeam::score_into`].
    pub fn score(&self, clip: &ClipVectors) -> Result<ClipScore> {
        let mut score = self.new_score();
        self.score_into(clip, &mut score)?;
        Ok(score)
    }

    /// Scores one clip into `score`, made by [`FittedBeam::new_score`]; allocates nothing.
    ///
    /// # Errors
    ///
    /// [`Error::OtherFrontEnd`], [`Error::VectorLength`] or [`Error::Views`] if the clip's vectors
    /// are not those of the references.
    pub fn score_into(&self, clip: &ClipVectors, score: &mut ClipScore) -> Result<()> {
        self.references.check_clip(clip)?;
        let axis_len = self.beam.layout.axis_len();
        let settings = &self.beam.settings;
        for (fitted, out) in self.views.iter().zip(&mut score.views) {
            let (needed, got) = (self.views.len(), clip.views().len());
            let vector = clip.view(fitted.view).ok_or(Error::Views { needed, got })?;
            let matrix = self.references.matrix(fitted.view).unwrap_or_default();
            for (band, out) in fitted.bands.iter().zip(&mut out.bands) {
                *out = band.score(matrix, axis_len, vector);
                if settings.score_of == ScoreOf::Value {
                    out.value = band.level(vector);
                }
            }
            out.value = settings.aggregation.over(out.bands.iter().map(|band| band.value));
        }
        score.value = settings.fusion.over(score.views.iter().map(|view| view.value));
        if let Some(ensemble) = &settings.ensemble {
            self.combine_members(ensemble, score);
        }
        Ok(())
    }

    /// Puts the scores of an ensemble's members in the place of those of one front end.
    fn combine_members(&self, ensemble: &EnsembleSettings, score: &mut ClipScore) {
        let settings = &self.beam.settings;
        let of_view = |view: &ViewScore, bands: &Range<usize>| {
            settings.aggregation.over(view.bands[bands.clone()].iter().map(|band| band.value))
        };
        let of_clip = |bands: &Range<usize>| {
            settings.fusion.over(score.views.iter().map(|view| of_view(view, bands)))
        };
        let members = || self.beam.members.iter();
        let (how, by) = (ensemble.combine, self.standardisation.as_slice());
        score.value = ensemble::combine(how, members().map(of_clip), by);
        for view in &mut score.views {
            let scores = members().map(|bands| of_view(view, bands));
            view.value = ensemble::combine(how, scores, by);
        }
    }

    /// What a model file holds of an ensemble's members.
    pub(crate) fn standardisation(&self) -> &[Standardisation] {
        &self.standardisation
    }

    /// What a model file holds of each view and band.
    pub(crate) fn band_fits(&self) -> impl Iterator<Item = impl Iterator<Item = &BandFit>> {
        self.views.iter().map(|view| view.bands.iter().map(FittedBand::fit))
    }

    /// Puts a fitted detector together from what a model file holds.
    pub(crate) fn from_parts(
        beam: Beam,
        references: References,
        fits: Vec<Vec<BandFit>>,
        left_out: Vec<Option<f64>>,
        standardisation: Vec<Standardisation>,
    ) -> Result<Self> {
        let prepared = beam.prepare(&references)?;
        let rule = beam.settings.rule;
        let views = prepared.into_iter().zip(fits).map(|((view, memories), fits)| {
            let band = |(memory, fit): (BandMemory, BandFit)| FittedBand::new(memory, fit, rule);
            FittedView { view, bands: memories.into_iter().zip(fits).map(band).collect() }
        });
        Ok(Self { views: views.collect(), beam, references, left_out, standardisation })
    }
}

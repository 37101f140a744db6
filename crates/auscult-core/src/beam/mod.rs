//! 10. BEAM and AdaBEAM: nearest neighbours per band, normalised, aggregated and fused.

mod band;
mod ensemble;
mod fit;
mod many;
mod overrides;
mod refit;
mod settings;

use self::band::FittedBand;
pub(crate) use self::{
    ensemble::{BandRule, Standardisation},
    fit::BandFit,
};
pub use self::{
    ensemble::{EnsembleSettings, Standardise},
    overrides::{BeamOption, BeamOverrides, OptionConflict},
    settings::{Beam, BeamSettings, Method, ScoreOf},
};
use crate::{
    BandScore, ClipScore, ClipVectors, Error, Metric, References, Result, View, ViewScore,
    groups::Groups,
    memory::BandMemory,
    nearest::{Buffers, bands_at_once},
    parallel,
    scaled::ScaledMap,
    score::Buffer,
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
        parallel::within(|| {
            if self.needs_refits() {
                self.fit_with_refits(references, groups)
            } else {
                self.fit_at_once(references, groups)
            }
        })
    }

    /// Fits only what scoring needs: no reference has a left-out score.
    ///
    /// # Errors
    ///
    /// As [`Beam::fit`].
    pub fn fit_for_scoring(&self, references: References) -> Result<FittedBeam> {
        if self.needs_refits() {
            parallel::within(|| self.fit_standardised(references))
        } else {
            self.fit(references)
        }
    }

    /// One pass over the distances gives everything, left-out scores as well.
    fn fit_at_once(&self, references: References, groups: &Groups) -> Result<FittedBeam> {
        let (bands, left_out) = self.fit_bands(&references, |memory, matrix, band, buffers| {
            self.fit_band(memory, matrix, groups, self.rule_of(band), buffers)
        })?;
        let members = 0..self.members.len();
        let standardisation: Vec<Standardisation> = members
            .map(|member| {
                let left_out = |index| self.member_left_out(&left_out, index, member);
                Standardisation::of_left_out((0..references.len()).filter_map(left_out))
            })
            .collect();
        let left_out = (0..references.len())
            .map(|index| self.combine_left_out(&left_out, index, &standardisation))
            .collect();
        Ok(FittedBeam { beam: self.clone(), references, views: bands, left_out, standardisation })
    }

    /// Fits every band of every view by `fit`, which also says what each reference scores in it when
    /// it is left out.
    fn fit_bands(
        &self,
        references: &References,
        fit: impl Fn(&BandMemory, &[f32], usize, &Buffers) -> (BandFit, fit::LeftOutBand) + Sync + Send,
    ) -> Result<(Vec<FittedView>, Vec<Vec<fit::LeftOutBand>>)> {
        let views = self.prepare(references)?;
        let mut fitted_views = Vec::with_capacity(views.len());
        let mut left_out_views = Vec::with_capacity(views.len());
        let buffers = Buffers::default();
        for (view, memories) in views {
            let matrix = references.matrix(view).unwrap_or_default();
            let fit = |band: usize| fit(&memories[band], matrix, band, &buffers);
            let fits = self.map_bands(references.len(), fit);
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
        Ok((fitted_views, left_out_views))
    }

    /// What `work` makes of each band, of no more at once than memory allows.
    fn map_bands<T: Send>(
        &self,
        references: usize,
        work: impl Fn(usize) -> T + Sync + Send,
    ) -> Vec<T> {
        let (bands, at_once) = (self.layout.bands().len(), bands_at_once(references));
        let mut all = Vec::with_capacity(bands);
        for first in (0..bands).step_by(at_once) {
            let count = at_once.min(bands - first);
            all.extend(parallel::map(count, || (), |(), at| work(first + at)));
        }
        all
    }

    /// The clip score of a left-out reference, `None` if nothing else is in memory.
    fn combine_left_out(
        &self,
        views: &[Vec<fit::LeftOutBand>],
        index: usize,
        standardisation: &[Standardisation],
    ) -> Option<f64> {
        let left_out = |view: usize, band: usize| views[view][band][index];
        // Either all bands have one or none.
        left_out(0, 0)?;
        let value = |view, band| left_out(view, band).unwrap_or(f64::NAN);
        let Some(ensemble) = &self.settings.ensemble else {
            let bands = self.layout.bands().len();
            let of_view =
                |view| self.settings.aggregation.over((0..bands).map(|at| value(view, at)));
            return Some(self.settings.fusion.over((0..views.len()).map(of_view)));
        };
        let scores =
            (0..self.members.len()).map(|member| self.member_score(member, 0..views.len(), value));
        Some(ensemble.combine(scores, standardisation))
    }

    /// The score of a left-out reference by one member.
    fn member_left_out(
        &self,
        views: &[Vec<fit::LeftOutBand>],
        index: usize,
        member: usize,
    ) -> Option<f64> {
        views[0][self.members[member].start][index]?;
        let value = |view: usize, band: usize| views[view][band][index].unwrap_or(f64::NAN);
        Some(self.member_score(member, 0..views.len(), value))
    }

    /// What a member makes of the scores of its bands: over the bands of each view, then over views,
    /// which are the detector's or stand one after the other in the member's own.
    fn member_score(
        &self,
        member: usize,
        views: std::ops::Range<usize>,
        value: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let Self { settings, members, .. } = self;
        let own = |ensemble: &EnsembleSettings| ensemble.members[member].views.len();
        let stacked = settings.ensemble.as_ref().map_or(0, own).max(1);
        let (first, count) = (members[member].start, members[member].len() / stacked);
        let of_bands = |view: usize, start: usize| {
            settings.aggregation.over((start..start + count).map(|band| value(view, band)))
        };
        let of_view = |view: usize| {
            let starts = (0..stacked).map(|own| first + own * count);
            settings.fusion.over(starts.map(|start| of_bands(view, start)))
        };
        settings.fusion.over(views.map(of_view))
    }

    /// Every band of every view, ready to be compared with.
    pub(crate) fn prepare(&self, references: &References) -> Result<Vec<(View, Vec<BandMemory>)>> {
        self.prepare_with(references, &[])
    }

    /// The same with the maps of scaled bands, view by view and band by band; none to learn them.
    fn prepare_with(
        &self,
        references: &References,
        maps: &[ScaledMap],
    ) -> Result<Vec<(View, Vec<BandMemory>)>> {
        self.check_references(references)?;
        let bands = self.layout.bands();
        let scaled: Vec<usize> = self.scaled_bands().collect();
        let prepare = |(at, &view): (usize, &View)| {
            let matrix = references.matrix(view).unwrap_or_default();
            let memory = |(): &mut (), band: usize| {
                let place = scaled.iter().position(|&scaled| scaled == band);
                let map = place.and_then(|place| maps.get(at * scaled.len() + place)).cloned();
                let metric = self.rule_of(band).metric;
                BandMemory::new(matrix, self.layout.axis_len(), bands[band].clone(), metric, map)
            };
            (view, parallel::map(bands.len(), || (), memory))
        };
        Ok(self.settings.views.iter().enumerate().map(prepare).collect())
    }

    /// Refuses references that do not suit the settings.
    fn check_references(&self, references: &References) -> Result<()> {
        if references.is_empty() {
            return Err(Error::NoReferences);
        }
        if references.axis_len() != self.layout.axis_len() {
            let (got, expected) = (references.axis_len(), self.layout.axis_len());
            return Err(Error::VectorLength { what: "a reference", got, expected });
        }
        let (needed, got) = (self.settings.views.len(), references.views().len());
        let has = |view: &View| references.matrix(*view).is_some();
        if self.settings.views.iter().all(has) { Ok(()) } else { Err(Error::Views { needed, got }) }
    }

    /// The bands whose distance has a map.
    pub(crate) fn scaled_bands(&self) -> impl Iterator<Item = usize> {
        let bands = 0..self.layout.bands().len();
        bands.filter(|&band| self.rule_of(band).metric == Metric::Scaled)
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

    /// What the distance to a reference is divided by in a band: its local scale to the power of the
    /// exponent. `None` if there is no such band or reference.
    pub fn denominator(&self, view: View, band: usize, reference: usize) -> Option<f64> {
        self.band(view, band)?.denominator(reference)
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
        self.empty_score()
    }

    /// Room for one score.
    fn empty_score(&self) -> ClipScore {
        let bands = vec![BandScore::UNSCORED; self.beam.layout.bands().len()];
        let view = |fitted: &FittedView| ViewScore {
            view: fitted.view,
            value: f64::NAN,
            bands: bands.clone(),
        };
        let widths = self.beam.scaled_bands().map(|band| self.beam.layout.bands()[band].len());
        let buffer = Buffer(Vec::with_capacity(widths.max().unwrap_or(0)));
        ClipScore { value: f64::NAN, views: self.views.iter().map(view).collect(), buffer }
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
        let ClipScore { views, buffer: Buffer(buffer), .. } = score;
        for (fitted, out) in self.views.iter().zip(views) {
            let (needed, got) = (self.views.len(), clip.views().len());
            let vector = clip.view(fitted.view).ok_or(Error::Views { needed, got })?;
            let matrix = self.references.matrix(fitted.view).unwrap_or_default();
            for (band, out) in fitted.bands.iter().zip(&mut out.bands) {
                *out = band.score(matrix, axis_len, vector, buffer);
                if settings.score_of == ScoreOf::Value {
                    out.value = band.level(vector);
                }
            }
        }
        self.combine_bands(score);
        Ok(())
    }

    /// Makes one score of those of all bands.
    fn combine_bands(&self, score: &mut ClipScore) {
        let settings = &self.beam.settings;
        for view in &mut score.views {
            view.value = settings.aggregation.over(view.bands.iter().map(|band| band.value));
        }
        score.value = settings.fusion.over(score.views.iter().map(|view| view.value));
        if let Some(ensemble) = &settings.ensemble {
            self.combine_members(ensemble, score);
        }
    }

    /// Puts the scores of an ensemble's members in the place of those of one front end.
    fn combine_members(&self, ensemble: &EnsembleSettings, score: &mut ClipScore) {
        score.value = ensemble.combine(self.member_scores(score), &self.standardisation);
        for view in 0..score.views.len() {
            let value = |view: usize, band: usize| score.views[view].bands[band].value;
            let scores = (0..self.beam.members.len())
                .map(|member| self.beam.member_score(member, view..view + 1, value));
            score.views[view].value = ensemble.combine(scores, &self.standardisation);
        }
    }

    /// The score of a clip by each member of an ensemble, before it is standardised.
    fn member_scores(&self, score: &ClipScore) -> impl ExactSizeIterator<Item = f64> {
        let value = |view: usize, band: usize| score.views[view].bands[band].value;
        let views = 0..score.views.len();
        let members = 0..self.beam.members.len();
        members.map(move |member| self.beam.member_score(member, views.clone(), value))
    }

    /// How far above its normal each member of an ensemble puts a clip, in its own deviations; empty
    /// for a single front end.
    pub fn member_deviations(&self, score: &ClipScore) -> Vec<f64> {
        let Some(ensemble) = &self.beam.settings.ensemble else { return Vec::new() };
        let scores = self.member_scores(score).zip(&self.standardisation);
        scores.map(|(score, by)| by.apply(score, ensemble.standardise)).collect()
    }

    /// How far a band that scores `times` its normal is above it, in deviations of its member's log
    /// scores; `None` for a single front end.
    pub(crate) fn deviations(&self, band: usize, times: Option<f64>) -> Option<f64> {
        let member = self.beam.members.iter().position(|bands| bands.contains(&band))?;
        Some(times?.ln() / self.standardisation.get(member)?.deviation)
    }

    /// What the scaled distance multiplies each position of a band with; `None` for other distances.
    pub(crate) fn band_weights(&self, view: View, band: usize) -> Option<&[f64]> {
        Some(self.band(view, band)?.memory().map()?.parts().1)
    }

    /// What a model file holds of an ensemble's members.
    pub(crate) fn standardisation(&self) -> &[Standardisation] {
        &self.standardisation
    }

    /// What a model file holds of each view and band.
    pub(crate) fn band_fits(&self) -> impl Iterator<Item = impl Iterator<Item = &BandFit>> {
        self.views.iter().map(|view| view.bands.iter().map(FittedBand::fit))
    }

    /// The maps of scaled bands, view by view and band by band.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &ScaledMap> {
        self.views.iter().flat_map(|view| view.bands.iter().filter_map(|band| band.memory().map()))
    }

    /// Puts a fitted detector together from what a model file holds.
    pub(crate) fn from_parts(
        beam: Beam,
        references: References,
        maps: &[ScaledMap],
        fits: Vec<Vec<BandFit>>,
        left_out: Vec<Option<f64>>,
        standardisation: Vec<Standardisation>,
    ) -> Result<Self> {
        let prepared = beam.prepare_with(&references, maps)?;
        let rule = beam.settings.rule;
        let views = prepared.into_iter().zip(fits).map(|((view, memories), fits)| {
            let band = |(memory, fit): (BandMemory, BandFit)| FittedBand::new(memory, fit, rule);
            FittedView { view, bands: memories.into_iter().zip(fits).map(band).collect() }
        });
        Ok(Self { views: views.collect(), beam, references, left_out, standardisation })
    }
}

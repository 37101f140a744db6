//! Fitting where a memory without some references is another memory: its maps, exponents and
//! standardisation follow from what is left.
//!
//! Left-out scores then come from fits of their own, one a group, or one a tenth of the groups where
//! there are many.

use std::collections::BTreeMap;

use super::{
    Beam, FittedBeam, FittedView, Standardisation, Standardise, band::FittedBand, fit::median,
};
use crate::{
    Basis, ClipScore, References, Result,
    groups::{Groups, MOST_FOLDS},
    nearest::Buffers,
    parallel,
};

/// With fewer references, a half of them has no neighbours to measure by.
const FEWEST_FOR_HALVES: usize = 4;

/// A memory of fewer references standardises its members by next to nothing: what it says about
/// others is no measure for the whole memory, so it calibrates nothing.
const FEWEST_TO_CALIBRATE: usize = 6;

impl Beam {
    /// Fits everything, left-out scores by fits without the group.
    pub(super) fn fit_with_refits(
        &self,
        references: &References,
        groups: &Groups,
    ) -> Result<FittedBeam> {
        let mut left_out = vec![None; references.len()];
        let bands = self.layout.bands().len();
        let mut of_band =
            vec![vec![Vec::with_capacity(references.len()); bands]; self.settings.views.len()];
        let mut refits = Refits::new(self, references);
        for fold in groups.folds(MOST_FOLDS) {
            let fewest = if self.divides_bands() { FEWEST_TO_CALIBRATE } else { 1 };
            if fold.remaining.len() < fewest {
                continue;
            }
            let memory = refits.fit(&fold.remaining)?;
            let scored = memory.scores_of(references, &fold.out)?;
            for (&index, score) in fold.out.iter().zip(&scored) {
                left_out[index] = Some(score.value);
                for (bands, view) in of_band.iter_mut().zip(&score.views) {
                    for (scores, band) in bands.iter_mut().zip(&view.bands) {
                        scores.push(band.value);
                    }
                }
            }
            refits.know(fold.remaining, &fold.out, scored.iter().map(|one| memory.ratios(one)));
        }
        let all: Vec<usize> = (0..references.len()).collect();
        let mut fitted = refits.fit(&all)?;
        for (view, bands) in fitted.views.iter_mut().zip(of_band) {
            for (band, scores) in view.bands.iter_mut().zip(bands) {
                if !scores.is_empty() {
                    band.set_typical(median(scores));
                }
            }
        }
        Ok(FittedBeam { left_out, ..fitted })
    }

    /// Fits maps, scales, exponents, divisors and the standardisation of members.
    pub(super) fn fit_standardised(&self, references: &References) -> Result<FittedBeam> {
        let all: Vec<usize> = (0..references.len()).collect();
        Refits::new(self, references).fit(&all)
    }

    /// Fits what a clip is compared with; bands are in no common unit.
    fn fit_to_compare(&self, references: References) -> Result<FittedBeam> {
        let buffers = Buffers::default();
        let views = self.prepare(&references)?.into_iter().map(|(view, memories)| {
            let matrix = references.matrix(view).unwrap_or_default();
            let fit = |(): &mut (), band: usize| {
                self.fit_band_to_compare(&memories[band], matrix, self.rule_of(band), &buffers)
            };
            let fits = parallel::map(memories.len(), || (), fit);
            let bands = memories.into_iter().zip(fits);
            let bands = bands.map(|(memory, fit)| FittedBand::new(memory, fit, self.settings.rule));
            FittedView { view, bands: bands.collect() }
        });
        let views = views.collect();
        let left_out = vec![None; references.len()];
        let plain = vec![Standardisation::PLAIN; self.members.len()];
        Ok(FittedBeam { beam: self.clone(), references, views, left_out, standardisation: plain })
    }
}

/// The ratios of a clip in every band, view by view, before they are divided by the bands' units.
type Ratios = Vec<f64>;

/// Fits of parts of one set of references.
///
/// The memory without two visits is needed twice: to know how one of them scores elsewhere when the
/// other is left out, and the other way round. It is fitted once, and what it says about both kept.
struct Refits<'a> {
    beam: &'a Beam,
    whole: &'a References,
    /// Whether visits leave one by one, so that two of them leave together twice.
    shares: bool,
    /// What memories of these references say about others.
    known: BTreeMap<Vec<usize>, BTreeMap<usize, Ratios>>,
}

impl<'a> Refits<'a> {
    fn new(beam: &'a Beam, whole: &'a References) -> Self {
        let visits = Groups::visits_or_halves(whole.provenance());
        let shares = visits.basis() == Basis::Visits && visits.count() <= MOST_FOLDS;
        Self { beam, whole, shares, known: BTreeMap::new() }
    }

    /// Fits the references at `indices`.
    fn fit(&mut self, indices: &[usize]) -> Result<FittedBeam> {
        let beam = self.beam;
        let references = self.whole.select(indices);
        let (views, left_out) = beam.fit_bands(&references, |memory, matrix, band, buffers| {
            beam.fit_band_by_clips(memory, matrix, beam.rule_of(band), buffers)
        })?;
        let scores = |member: usize| -> Vec<f64> {
            let score = |index| beam.member_left_out(&left_out, index, member);
            (0..references.len()).filter_map(score).collect()
        };
        let how = beam.settings.ensemble.as_ref().map(|ensemble| ensemble.standardise);
        let elsewhere = match how {
            Some(Standardise::OtherVisits) => {
                self.scores_elsewhere(indices, &references, &views)?
            }
            _ => vec![Vec::new(); beam.members.len()],
        };
        let standardise = |(member, elsewhere): (usize, Vec<f64>)| match how {
            Some(Standardise::OtherVisits) => {
                Standardisation::of_visits(&scores(member), &elsewhere)
            }
            _ => Standardisation::of_left_out(scores(member).into_iter()),
        };
        let standardisation = elsewhere.into_iter().enumerate().map(standardise).collect();
        let left_out = vec![None; references.len()];
        Ok(FittedBeam { beam: beam.clone(), references, views, left_out, standardisation })
    }

    /// By member, the scores of references against a memory of only the other visits, or of the
    /// other half where there are no visits, in the bands' own units.
    fn scores_elsewhere(
        &mut self,
        indices: &[usize],
        references: &References,
        views: &[FittedView],
    ) -> Result<Vec<Vec<f64>>> {
        let beam = self.beam;
        let mut of_member = vec![Vec::with_capacity(indices.len()); beam.members.len()];
        if indices.len() < FEWEST_FOR_HALVES {
            return Ok(of_member);
        }
        let groups = Groups::visits_or_halves(references.provenance());
        let bands = beam.layout.bands().len();
        let in_whole = |positions: &[usize]| positions.iter().map(|&at| indices[at]).collect();
        for fold in groups.folds(MOST_FOLDS) {
            let (remaining, out): (Vec<usize>, Vec<usize>) =
                (in_whole(&fold.remaining), in_whole(&fold.out));
            for ratios in self.ratios(remaining, &out)? {
                let value = |view: usize, band: usize| {
                    ratios[view * bands + band] / views[view].bands[band].fit().divisor
                };
                for (member, all) in of_member.iter_mut().enumerate() {
                    all.push(beam.member_score(member, 0..views.len(), value));
                }
            }
        }
        Ok(of_member)
    }

    /// What a memory of `remaining` says about the references at `out`.
    fn ratios(&mut self, remaining: Vec<usize>, out: &[usize]) -> Result<Vec<Ratios>> {
        if let Some(known) = self.known.get(&remaining) {
            let found: Option<Vec<Ratios>> =
                out.iter().map(|index| known.get(index).cloned()).collect();
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let memory = self.beam.fit_to_compare(self.whole.select(&remaining))?;
        if self.shares {
            let is_other = |index: &usize| {
                remaining.binary_search(index).is_err() && out.binary_search(index).is_err()
            };
            let others: Vec<usize> = (0..self.whole.len()).filter(is_other).collect();
            let scored = memory.scores_of(self.whole, &others)?;
            self.know(remaining, &others, scored.iter().map(|score| memory.ratios(score)));
        }
        let scored = memory.scores_of(self.whole, out)?;
        Ok(scored.iter().map(|score| memory.ratios(score)).collect())
    }

    /// Keeps what a memory of `remaining` says about the references at `out`.
    fn know(&mut self, remaining: Vec<usize>, out: &[usize], ratios: impl Iterator<Item = Ratios>) {
        self.known.entry(remaining).or_default().extend(out.iter().copied().zip(ratios));
    }
}

impl FittedBeam {
    /// The ratios behind a score, before they were divided by the bands' units.
    fn ratios(&self, score: &ClipScore) -> Ratios {
        let of_view = score.views.iter().zip(&self.views).flat_map(|(score, fitted)| {
            let bands = score.bands.iter().zip(&fitted.bands);
            bands.map(|(score, band)| score.distance / score.local_scale.powf(band.fit().exponent))
        });
        of_view.collect()
    }

    /// Scores the references at `indices` of another set.
    fn scores_of(&self, references: &References, indices: &[usize]) -> Result<Vec<ClipScore>> {
        let clips: Vec<_> = indices.iter().filter_map(|&index| references.clip(index)).collect();
        // Made once, before threads ask for it at the same time.
        drop(self.new_score());
        let score = |(): &mut (), at: usize| self.score(&clips[at]);
        parallel::map(clips.len(), || (), score).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use auscult_testing::golden;
    use serde_json::Value;

    use super::*;
    use crate::{
        BeamSettings, ClipSettings, ClipVectors, DensityExponent, FrontEnd, FrontEndSettings,
        Method, Metric, Provenance,
        features::{MemberFrontEnd, MemberOptions},
    };

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    }

    fn assert_close(what: &str, got: &[f64], want: &[f64], relative: f64) {
        assert_eq!(got.len(), want.len(), "{what}");
        for (index, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() <= relative * want.abs(), "{what} {index}: {got} {want}");
        }
    }

    /// The members of the preset `fast`, for clips of this length.
    fn front_end(seconds: f64) -> Arc<dyn FrontEnd> {
        let length = ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap();
        let member = |name, convention, metric, neighbours, exponent| {
            let settings = FrontEndSettings::named(name, convention).unwrap();
            let front_end = settings.build(length).unwrap();
            let views = front_end.views().to_vec();
            (front_end, MemberOptions { views, bands: None, metric, neighbours, exponent })
        };
        let auto = DensityExponent::Auto;
        MemberFrontEnd::stack(vec![
            member("log-mel", Some("dcase"), Metric::Cosine, 1, auto),
            member("modulation", None, Metric::Scaled, 3, DensityExponent::default()),
        ])
        .unwrap()
    }

    fn clips(front_end: &dyn FrontEnd, folder: &Path, files: &Value) -> Vec<ClipVectors> {
        let mut extractor = front_end.extractor();
        let mut vectors = ClipVectors::for_front_end(front_end);
        let files = files.as_array().unwrap().iter();
        let clips = files.map(|file| {
            let samples = golden::read_wav_pcm16(folder.join(file.as_str().unwrap())).unwrap();
            extractor.extract_into(&samples, &mut vectors).unwrap();
            vectors.clone()
        });
        clips.collect()
    }

    /// Every number of the members of `fast` for real files, from an independent implementation.
    #[test]
    fn scores_left_out_and_elsewhere_are_the_golden_ones() {
        let Some(folder) = golden::shared() else {
            eprintln!("SKIPPED: the large golden pack (golden/presets) is not present");
            return;
        };
        let text = std::fs::read_to_string(folder.join("presets/presets.json")).unwrap();
        let golden: Value = serde_json::from_str(&text).unwrap();
        let front_end = front_end(golden["clip_seconds"].as_f64().unwrap());
        let settings = BeamSettings::paper(Method::AdaBeam, &*front_end);
        let beam = settings.check(front_end.axis().len()).unwrap();
        for (machine, expected) in golden["machines"].as_object().unwrap() {
            let mut references = References::for_front_end(&*front_end);
            for clip in clips(&*front_end, &folder, &expected["train_files"]) {
                let name = references.len().to_string();
                references.push(&clip, Provenance::of(name)).unwrap();
            }
            let test = clips(&*front_end, &folder, &expected["test_files"]);
            let (views, left_out) = beam
                .fit_bands(&references, |memory, matrix, band, buffers| {
                    beam.fit_band_by_clips(memory, matrix, beam.rule_of(band), buffers)
                })
                .unwrap();
            let all: Vec<usize> = (0..references.len()).collect();
            let mut refits = Refits::new(&beam, &references);
            let elsewhere = refits.scores_elsewhere(&all, &references, &views).unwrap();
            let fitted = beam.fit_standardised(&references).unwrap();
            let scored: Vec<_> = test.iter().map(|clip| fitted.score(clip).unwrap()).collect();
            for (member, name) in ["log-mel", "modulation"].into_iter().enumerate() {
                let want = &expected["members"][name];
                let what = |number: &str| format!("{machine} {name} {number}");
                let scores: Vec<f64> = scored
                    .iter()
                    .map(|one| fitted.member_scores(one).nth(member).unwrap())
                    .collect();
                assert_close(&what("score"), &scores, &numbers(&want["score"]), 2e-3);
                let own: Vec<f64> = (0..left_out[0][0].len())
                    .map(|index| beam.member_left_out(&left_out, index, member).unwrap())
                    .collect();
                assert_close(&what("left out"), &own, &numbers(&want["left_out"]), 2e-3);
                let other = &elsewhere[member];
                assert_close(&what("other half"), other, &numbers(&want["other_half"]), 2e-3);
                let deviations = scored.iter().map(|one| fitted.member_deviations(one)[member]);
                let want = numbers(&expected["z"][name]);
                for (got, want) in deviations.zip(want) {
                    assert!((got - want).abs() < 5e-3, "{}: {got} {want}", what("z"));
                }
            }
        }
    }
}

//! Fitting where a memory without some references is another memory: its maps, exponents and
//! standardisation follow from what is left.
//!
//! Left-out scores then come from fits of their own, one a group, or one a tenth of the groups where
//! there are many.

use std::{collections::BTreeMap, ops::Range};

use super::{
    Beam, FittedBeam, Standardisation, Standardise,
    band::mean,
    fit::{BandOfPart, LeftOutBand, median},
};
use crate::{
    Basis, Metric, References, Result, ScoreOf,
    groups::{Groups, MOST_FOLDS},
    memory::BandMemory,
    nearest::{BandPairs, Buffers, PairwiseDistances, PartOfPairs},
    parallel,
    scaled::ScaledMap,
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
        references: References,
        groups: &Groups,
    ) -> Result<FittedBeam> {
        let all: Vec<usize> = (0..references.len()).collect();
        let mut left_out = vec![None; references.len()];
        let part = self.with_refits(&references, |refits| {
            let mut of_band: Vec<Vec<f64>> = Vec::new();
            for fold in groups.folds(MOST_FOLDS) {
                let fewest = if self.divides_bands() { FEWEST_TO_CALIBRATE } else { 1 };
                if fold.remaining.len() < fewest {
                    continue;
                }
                let part = refits.fit(&fold.remaining, &fold.out);
                let scores = refits.scores(&part, &fold.out);
                for (at, &index) in fold.out.iter().enumerate() {
                    left_out[index] = self.combine_left_out(&scores, at, &part.standardisation);
                }
                of_band.resize(scores.iter().flatten().count(), Vec::new());
                for (all, scores) in of_band.iter_mut().zip(scores.iter().flatten()) {
                    all.extend(scores.iter().flatten());
                }
                refits.know(fold.remaining, &fold.out, part.ratios());
            }
            let mut part = refits.fit(&all, &[]);
            for (band, scores) in part.views.iter_mut().flatten().zip(of_band) {
                band.fit.typical = median(scores);
            }
            part
        })?;
        self.fitted(references, part, left_out)
    }

    /// Fits maps, scales, exponents, divisors and the standardisation of members; no left-out scores.
    pub(super) fn fit_standardised(&self, references: References) -> Result<FittedBeam> {
        let all: Vec<usize> = (0..references.len()).collect();
        let part = self.with_refits(&references, |refits| refits.fit(&all, &[]))?;
        let left_out = vec![None; references.len()];
        self.fitted(references, part, left_out)
    }

    /// Does `work` with fits of parts of the references.
    fn with_refits<T>(
        &self,
        references: &References,
        work: impl FnOnce(&mut Refits<'_>) -> T,
    ) -> Result<T> {
        self.check_references(references)?;
        let (axis_len, bands, buffers) =
            (self.layout.axis_len(), self.layout.bands(), Buffers::default());
        let is_mapped = |band: usize| self.rule_of(band).metric == Metric::Scaled;
        let views = self.settings.views.iter();
        let matrices: Vec<&[f32]> =
            views.map(|&view| references.matrix(view).unwrap_or_default()).collect();
        let memories = |matrix: &&[f32]| {
            let memory = |(): &mut (), band: usize| {
                let (metric, place) = (self.rule_of(band).metric, bands[band].clone());
                (!is_mapped(band)).then(|| BandMemory::new(matrix, axis_len, place, metric, None))
            };
            parallel::map(bands.len(), || (), memory)
        };
        let memories: Vec<Vec<Option<BandMemory>>> = matrices.iter().map(memories).collect();
        let shared = memories.iter().flatten().flatten().count();
        let mut pairs = Vec::with_capacity(matrices.len());
        for (matrix, memories) in matrices.iter().zip(&memories) {
            let of = |(): &mut (), band: usize| {
                let memory = memories[band].as_ref()?;
                Some(BandPairs::shared(memory, matrix, axis_len, shared, &buffers))
            };
            pairs.push(parallel::map(bands.len(), || (), of));
        }
        Ok(work(&mut Refits::new(self, references, matrices, &pairs, &buffers)))
    }

    /// The fitted detector, from a fit of all references.
    fn fitted(
        &self,
        references: References,
        part: Part,
        left_out: Vec<Option<f64>>,
    ) -> Result<FittedBeam> {
        let (mut maps, mut fits) = (Vec::new(), Vec::with_capacity(part.views.len()));
        for bands in part.views {
            let (of_view, fits_of_view): (Vec<_>, Vec<_>) =
                bands.into_iter().map(|band| (band.map, band.fit)).unzip();
            maps.extend(of_view.into_iter().flatten());
            fits.push(fits_of_view);
        }
        let beam = self.clone();
        FittedBeam::from_parts(beam, references, &maps, fits, left_out, part.standardisation)
    }
}

/// The ratios of a clip in every band, view by view, before they are divided by the bands' units.
type Ratios = Vec<f64>;

/// A memory of a part of the references, and what it says about some of the others.
struct Part {
    /// Band by band of each view.
    views: Vec<Vec<BandOfPart>>,
    standardisation: Vec<Standardisation>,
}

impl Part {
    /// The left-out scores of its references.
    fn left_out(&self) -> Vec<Vec<LeftOutBand>> {
        let of_view =
            |bands: &Vec<BandOfPart>| bands.iter().map(|band| band.left_out.clone()).collect();
        self.views.iter().map(of_view).collect()
    }

    /// The others' ratios, other by other.
    fn ratios(&self) -> Vec<Ratios> {
        by_clip(&self.views.iter().flatten().map(|band| band.ratios.as_slice()))
    }
}

/// Turns numbers by band into numbers by clip.
fn by_clip<'a>(bands: &(impl Iterator<Item = &'a [f64]> + Clone)) -> Vec<Ratios> {
    let clips = 0..bands.clone().next().map_or(0, <[f64]>::len);
    clips.map(|clip| bands.clone().map(|band| band[clip]).collect()).collect()
}

/// Fits of parts of one set of references.
///
/// The memory without two visits is needed twice: to know how one of them scores elsewhere when the
/// other is left out, and the other way round. It is fitted once, and what it says about both kept.
pub(super) struct Refits<'a> {
    beam: &'a Beam,
    whole: &'a References,
    /// One a view.
    matrices: Vec<&'a [f32]>,
    /// Distances that are the same in every part; none where each part has its own map.
    pairs: &'a [Vec<Option<BandPairs<'a>>>],
    buffers: &'a Buffers,
    /// Whether visits leave one by one, so that two of them leave together twice.
    shares: bool,
    /// What memories of these references say about others.
    known: BTreeMap<Vec<usize>, BTreeMap<usize, Ratios>>,
}

impl<'a> Refits<'a> {
    fn new(
        beam: &'a Beam,
        whole: &'a References,
        matrices: Vec<&'a [f32]>,
        pairs: &'a [Vec<Option<BandPairs<'a>>>],
        buffers: &'a Buffers,
    ) -> Self {
        let visits = Groups::visits_or_halves(whole.provenance());
        let shares = visits.basis() == Basis::Visits && visits.count() <= MOST_FOLDS;
        Self { beam, whole, matrices, pairs, buffers, shares, known: BTreeMap::new() }
    }

    /// Fits the references at `indices`, and compares those at `out` with them.
    fn fit(&mut self, indices: &[usize], out: &[usize]) -> Part {
        let beam = self.beam;
        let views = self.map_bands(indices, out, |distances, map, band| {
            let map = map.cloned();
            BandOfPart { map, ..beam.fit_band_by_clips(distances, beam.rule_of(band)) }
        });
        let how = beam.settings.ensemble.as_ref().map(|ensemble| ensemble.standardise);
        let elsewhere = match how {
            Some(Standardise::OtherVisits) => self.scores_elsewhere(indices, &views),
            _ => vec![Vec::new(); beam.members.len()],
        };
        let mut part = Part { views, standardisation: Vec::new() };
        let left_out = part.left_out();
        let scores = |member: usize| -> Vec<f64> {
            let score = |index| beam.member_left_out(&left_out, index, member);
            (0..indices.len()).filter_map(score).collect()
        };
        let standardise = |(member, elsewhere): (usize, Vec<f64>)| match how {
            Some(Standardise::OtherVisits) => {
                Standardisation::of_visits(&scores(member), &elsewhere)
            }
            _ => Standardisation::of_left_out(scores(member).into_iter()),
        };
        part.standardisation = elsewhere.into_iter().enumerate().map(standardise).collect();
        part
    }

    /// What `work` makes of the distances in every band of every view, among the references at `indices`
    /// and from those at `out` to them, and of the map behind them.
    fn map_bands<T: Send>(
        &self,
        indices: &[usize],
        out: &[usize],
        work: impl Fn(&dyn PairwiseDistances, Option<&ScaledMap>, usize) -> T + Sync + Send,
    ) -> Vec<Vec<T>> {
        let (places, axis_len) = ([indices, out].concat(), self.beam.layout.axis_len());
        let of_view = |(&matrix, pairs): (&&[f32], &Vec<Option<BandPairs<'_>>>)| {
            self.beam.map_bands(places.len(), |band| {
                if let Some(whole) = &pairs[band] {
                    return work(&PartOfPairs::new(whole, &places, indices.len()), None, band);
                }
                let range = &self.beam.layout.bands()[band];
                let row = |&place: &usize| &matrix[place * axis_len..][range.clone()];
                let rows: Vec<&[f32]> = places.iter().map(row).collect();
                let memory = BandMemory::of_part(indices.len(), &rows);
                let distances = BandPairs::new(&memory, &[], axis_len, self.buffers);
                work(&distances, memory.map(), band)
            })
        };
        self.matrices.iter().zip(self.pairs).map(of_view).collect()
    }

    /// The scores of the references at `out` in every band of every view, by a part that was fitted
    /// without them.
    fn scores(&self, part: &Part, out: &[usize]) -> Vec<Vec<LeftOutBand>> {
        let (axis_len, bands) = (self.beam.layout.axis_len(), self.beam.layout.bands());
        let of_view = |(matrix, fitted): (&&[f32], &Vec<BandOfPart>)| {
            let of_band = |(fitted, band): (&BandOfPart, &Range<usize>)| {
                let level = |&index: &usize| mean(&matrix[index * axis_len..][band.clone()]);
                match self.beam.settings.score_of {
                    ScoreOf::Distance => {
                        let ratios = fitted.ratios.iter();
                        ratios.map(|ratio| Some(ratio / fitted.fit.divisor)).collect()
                    }
                    ScoreOf::Value => out.iter().map(|index| Some(level(index))).collect(),
                }
            };
            fitted.iter().zip(bands).map(of_band).collect()
        };
        self.matrices.iter().zip(&part.views).map(of_view).collect()
    }

    /// By member, the scores of the references at `indices` against a memory of only the other visits,
    /// or of the other half where there are no visits, in the units of the fitted bands.
    fn scores_elsewhere(&mut self, indices: &[usize], views: &[Vec<BandOfPart>]) -> Vec<Vec<f64>> {
        let beam = self.beam;
        let mut of_member = vec![Vec::with_capacity(indices.len()); beam.members.len()];
        if indices.len() < FEWEST_FOR_HALVES {
            return of_member;
        }
        let provenance = self.whole.provenance();
        let provenance: Vec<_> = indices.iter().map(|&index| provenance[index].clone()).collect();
        let groups = Groups::visits_or_halves(&provenance);
        let bands = beam.layout.bands().len();
        let in_whole = |positions: &[usize]| positions.iter().map(|&at| indices[at]).collect();
        for fold in groups.folds(MOST_FOLDS) {
            let (remaining, out): (Vec<usize>, Vec<usize>) =
                (in_whole(&fold.remaining), in_whole(&fold.out));
            for ratios in self.ratios(remaining, &out) {
                let value = |view: usize, band: usize| {
                    ratios[view * bands + band] / views[view][band].fit.divisor
                };
                for (member, all) in of_member.iter_mut().enumerate() {
                    all.push(beam.member_score(member, 0..views.len(), value));
                }
            }
        }
        of_member
    }

    /// What a memory of `remaining` says about the references at `out`.
    fn ratios(&mut self, remaining: Vec<usize>, out: &[usize]) -> Vec<Ratios> {
        if let Some(known) = self.known.get(&remaining) {
            let found: Option<Vec<Ratios>> =
                out.iter().map(|index| known.get(index).cloned()).collect();
            if let Some(found) = found {
                return found;
            }
        }
        let mut compared = out.to_vec();
        if self.shares {
            let is_other = |index: &usize| {
                remaining.binary_search(index).is_err() && out.binary_search(index).is_err()
            };
            compared.extend((0..self.whole.len()).filter(is_other));
        }
        let beam = self.beam;
        let bands = self.map_bands(&remaining, &compared, |distances, _, band| {
            beam.compare_band(distances, beam.rule_of(band))
        });
        let mut ratios = by_clip(&bands.iter().flatten().map(Vec::as_slice));
        let others = ratios.split_off(out.len());
        if self.shares {
            self.know(remaining, &compared[out.len()..], others);
        }
        ratios
    }

    /// Keeps what a memory of `remaining` says about the references at `out`.
    fn know(&mut self, remaining: Vec<usize>, out: &[usize], ratios: Vec<Ratios>) {
        self.known.entry(remaining).or_default().extend(out.iter().copied().zip(ratios));
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
        Method, Provenance,
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
            let (left_out, elsewhere) = beam
                .with_refits(&references, |refits| {
                    let all: Vec<usize> = (0..references.len()).collect();
                    let part = refits.fit(&all, &[]);
                    (part.left_out(), refits.scores_elsewhere(&all, &part.views))
                })
                .unwrap();
            let fitted = beam.fit_standardised(references).unwrap();
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

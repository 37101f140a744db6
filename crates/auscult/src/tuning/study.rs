//! 3. A study: how well a candidate tells changed clips from unchanged ones it has not heard.

use auscult_core::{
    ClipLength, ClipSettings, ClipVectors, Extractor, FittedBeam, FrontEnd, FrontEndIdentity,
    Groups, Provenance, References, memory, random::Random,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    metrics::{auc, auc_without_groups, jackknife_error},
    tuning::{Candidate, Change, Error, Kind, Result},
};

/// A normal clip and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalClip {
    /// Mono samples at the study's rate.
    pub samples: Vec<f32>,
    /// Its file and visit: clips of one visit leave the memory together.
    pub from: Provenance,
}

/// What a study depends on besides its clips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudySettings {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// Seed of the pseudo-anomalies.
    pub seed: u64,
}

/// Normal clips, and which of them leave the memory together.
#[derive(Debug, Clone)]
pub struct Study {
    clips: Vec<NormalClip>,
    outliers: Vec<Vec<f32>>,
    settings: StudySettings,
    length: ClipLength,
    groups: Groups,
    folds: usize,
}

/// Fewer clips leave nothing to compare.
const FEWEST_CLIPS: usize = 4;

/// One memory is fitted for each fold.
const MOST_FOLDS: usize = 10;

/// From this many groups on, a fold has two of them.
const GROUPS_FOR_PAIRS: usize = 6;

/// A clip that should score high, and the memory it is scored against.
#[derive(Debug, Clone, Copy)]
struct Pseudo {
    kind: Kind,
    group: usize,
    made: Made,
}

#[derive(Debug, Clone, Copy)]
enum Made {
    /// From a clip, with the samples of another one.
    From { clip: usize, other: Option<usize>, change: Change },
    /// It is outlier number so and so.
    Given(usize),
}

/// The vectors of one front end: every normal clip, then every pseudo-anomaly.
#[derive(Debug, Clone)]
pub struct Features {
    front_end: FrontEndIdentity,
    normal: References,
    pseudo: Vec<(Kind, usize, ClipVectors)>,
}

/// How well one candidate did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The settings.
    pub candidate: Candidate,
    /// Mean of the AUCs of all kinds of pseudo-anomaly, 0 to 1.
    pub mean_auc: f64,
    /// The AUC of each kind.
    pub kinds: Vec<KindAuc>,
    /// The mean without each group of clips; differences between candidates are judged by it.
    pub without: Vec<f64>,
}

/// How well one kind of pseudo-anomaly is told from normal clips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindAuc {
    /// The kind.
    pub kind: Kind,
    /// Share of pairs in which the changed clip scores higher.
    pub auc: f64,
}

impl Evaluation {
    /// Standard error of the mean AUC over groups of clips.
    pub fn error(&self) -> f64 {
        jackknife_error(&self.without).unwrap_or(0.0)
    }
}

impl Study {
    /// Plans a study of normal clips; `outliers` are clips of other machines, and may be none.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewClips`], or if the clip settings are out of range.
    pub fn new(
        clips: Vec<NormalClip>,
        outliers: Vec<Vec<f32>>,
        settings: StudySettings,
    ) -> Result<Self> {
        let length = settings.clip.check()?;
        if clips.len() < FEWEST_CLIPS {
            return Err(Error::TooFewClips { needed: FEWEST_CLIPS, got: clips.len() });
        }
        let provenance: Vec<Provenance> = clips.iter().map(|clip| clip.from.clone()).collect();
        let groups = Groups::of(&provenance);
        // Two groups a fold where there are enough, so that bands can be mixed across visits
        // without a clip of the memory in the mixture.
        let folds = match groups.count() {
            count if count >= GROUPS_FOR_PAIRS => (count / 2).min(MOST_FOLDS),
            count => count,
        };
        Ok(Self { clips, outliers, settings, length, groups, folds })
    }

    /// Length of the clips.
    pub fn length(&self) -> ClipLength {
        self.length
    }

    /// How clips leave the memory.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// How many memories are fitted for each candidate.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// Everything a result depends on besides the candidate; equal for equal studies.
    pub fn fingerprint(&self) -> serde_json::Value {
        let clips = self.clips.iter().zip(self.groups.members());
        let clips: Vec<_> =
            clips.map(|(clip, group)| (memory::digest(&clip.samples), group)).collect();
        let outliers: Vec<_> =
            self.outliers.iter().map(|samples| memory::digest(samples)).collect();
        serde_json::json!({
            "version": VERSION,
            "settings": self.settings,
            "clips": clips,
            "outliers": outliers,
        })
    }

    /// How many clips [`Study::features`] works on.
    pub fn clip_count(&self) -> usize {
        self.clips.len() * (1 + Kind::MADE.len()) + self.outliers.len()
    }

    /// Computes the vectors of every normal clip and pseudo-anomaly with one front end, on the
    /// caller's rayon pool. `go_on` is asked before each clip; `None` if it said no.
    ///
    /// # Errors
    ///
    /// If the front end cannot take the clips.
    pub fn features(
        &self,
        front_end: &dyn FrontEnd,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Features>> {
        let extract = |extractor: &mut Box<dyn Extractor>, samples: &[f32]| {
            if !go_on() {
                return Ok(None);
            }
            let mut vectors = ClipVectors::for_front_end(front_end);
            extractor.extract_into(samples, &mut vectors)?;
            Ok(Some(vectors))
        };
        let normal: Result<Option<Vec<ClipVectors>>> = self
            .clips
            .par_iter()
            .map_init(|| front_end.extractor(), |extractor, clip| extract(extractor, &clip.samples))
            .collect();
        let Some(normal) = normal? else { return Ok(None) };
        let pseudo: Result<Option<Vec<_>>> = self
            .pseudo()
            .into_par_iter()
            .map_init(
                || front_end.extractor(),
                |extractor, pseudo| {
                    let vectors = extract(extractor, &self.samples_of(&pseudo))?;
                    Ok(vectors.map(|vectors| (pseudo.kind, pseudo.group, vectors)))
                },
            )
            .collect();
        let Some(pseudo) = pseudo? else { return Ok(None) };
        let normal = self.references(front_end, &normal)?;
        Ok(Some(Features { front_end: front_end.identity(), normal, pseudo }))
    }

    fn references(&self, front_end: &dyn FrontEnd, vectors: &[ClipVectors]) -> Result<References> {
        let mut references = References::new(front_end.views(), front_end.axis().len());
        for (clip, vectors) in self.clips.iter().zip(vectors) {
            references.push(vectors, clip.from.clone())?;
        }
        Ok(references)
    }

    /// Every pseudo-anomaly, in an order that depends on nothing.
    fn pseudo(&self) -> Vec<Pseudo> {
        let StudySettings { clip: ClipSettings { sample_rate, .. }, seed } = self.settings;
        let groups = self.groups.members();
        let made = (0..self.clips.len()).flat_map(|clip| {
            let other = self.partner(clip);
            Kind::MADE.into_iter().filter_map(move |kind| {
                let change = Change::draw(kind, clip, sample_rate, seed)?;
                let made = Made::From { clip, other, change };
                Some(Pseudo { kind, group: groups[clip], made })
            })
        });
        let given = (0..self.outliers.len()).map(|index| {
            let (kind, group) = (Kind::Outlier, index % self.groups.count());
            Pseudo { kind, group, made: Made::Given(index) }
        });
        made.chain(given).collect()
    }

    /// Another clip that is out of the memory with this one, of another group if possible.
    fn partner(&self, clip: usize) -> Option<usize> {
        let members = self.groups.members();
        let fold = |clip: usize| members[clip] % self.folds;
        let alike = |other: &usize| *other != clip && fold(*other) == fold(clip);
        let same_fold: Vec<usize> = (0..self.clips.len()).filter(alike).collect();
        let elsewhere: Vec<usize> =
            same_fold.iter().copied().filter(|&other| members[other] != members[clip]).collect();
        let choices = if elsewhere.is_empty() { same_fold } else { elsewhere };
        let mut random = Random::of(self.settings.seed, &[PARTNER_STREAM, clip as u64]);
        choices.get(random.below(choices.len())).copied()
    }

    fn samples_of(&self, pseudo: &Pseudo) -> Vec<f32> {
        match pseudo.made {
            Made::Given(index) => self.outliers[index].clone(),
            Made::From { clip, other, change } => {
                let other = other.map(|other| self.clips[other].samples.as_slice());
                let rate = self.settings.clip.sample_rate;
                change.apply(&self.clips[clip].samples, other, rate)
            }
        }
    }

    /// Scores left-out clips and their pseudo-anomalies with one candidate.
    ///
    /// # Errors
    ///
    /// [`Error::OtherFeatures`] if the features are not those of the candidate's front end and
    /// this study.
    pub fn evaluate(&self, features: &Features, candidate: &Candidate) -> Result<Evaluation> {
        if features.front_end != candidate.front_end || features.normal.len() != self.clips.len() {
            let needed = candidate.front_end.to_string();
            let got = format!("{} with {} clips", features.front_end, features.normal.len());
            return Err(Error::OtherFeatures { needed, got });
        }
        let scores: Result<Vec<FoldScores>> = (0..self.folds)
            .into_par_iter()
            .map(|fold| self.score_fold(fold, features, candidate))
            .collect();
        let scores = scores?;
        let normal: Vec<(f64, usize)> =
            scores.iter().flat_map(|fold| fold.normal.iter().copied()).collect();
        let of_kind = |kind: Kind| -> Vec<(f64, usize)> {
            let pseudo = scores.iter().flat_map(|fold| &fold.pseudo);
            pseudo.filter(|(other, ..)| *other == kind).map(|&(_, s, group)| (s, group)).collect()
        };
        let mut kinds = Vec::new();
        let mut without = vec![0.0; self.groups.count()];
        for kind in Kind::MADE.into_iter().chain([Kind::Outlier]) {
            let pseudo = of_kind(kind);
            if pseudo.is_empty() {
                continue;
            }
            let [normal_scores, pseudo_scores] =
                [&normal, &pseudo].map(|clips| clips.iter().map(|clip| clip.0).collect::<Vec<_>>());
            let auc = auc(&normal_scores, &pseudo_scores).unwrap_or(0.5);
            kinds.push(KindAuc { kind, auc });
            let left_out = auc_without_groups(&normal, &pseudo, self.groups.count(), auc);
            without.iter_mut().zip(left_out).for_each(|(sum, auc)| *sum += auc);
        }
        let count = kinds.len() as f64;
        Ok(Evaluation {
            candidate: candidate.clone(),
            mean_auc: kinds.iter().map(|of| of.auc).sum::<f64>() / count,
            kinds,
            without: without.into_iter().map(|sum| sum / count).collect(),
        })
    }

    /// Remembers everything outside a fold and scores what is inside.
    fn score_fold(
        &self,
        fold: usize,
        features: &Features,
        candidate: &Candidate,
    ) -> Result<FoldScores> {
        let members = self.groups.members();
        let (out, kept): (Vec<usize>, Vec<usize>) =
            (0..members.len()).partition(|&clip| members[clip] % self.folds == fold);
        let references = features.normal.select(&kept);
        let beam = candidate.detector.clone().check(references.axis_len())?;
        let fitted: FittedBeam = beam.fit_for_scoring(references)?;
        let mut score = fitted.new_score();
        let mut value = |vectors: &ClipVectors| -> Result<f64> {
            fitted.score_into(vectors, &mut score)?;
            Ok(score.value)
        };
        let mut scores = FoldScores::default();
        for clip in out {
            if let Some(vectors) = features.normal.clip(clip) {
                scores.normal.push((value(&vectors)?, members[clip]));
            }
        }
        for (kind, group, vectors) in &features.pseudo {
            if group % self.folds == fold {
                scores.pseudo.push((*kind, value(vectors)?, *group));
            }
        }
        Ok(scores)
    }
}

/// Raised whenever the same clips would give other results.
const VERSION: u32 = 2;

/// Partners are drawn from a stream that no kind has.
const PARTNER_STREAM: u64 = 1_000;

#[derive(Debug, Default)]
struct FoldScores {
    normal: Vec<(f64, usize)>,
    pseudo: Vec<(Kind, f64, usize)>,
}

//! 14. A model: everything auscult knows about one machine.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use crate::{
    Beam, BeamSettings, Calibration, CalibrationScheme, ClipScore, ClipSettings, ClipVectors,
    Confidence, Error, FalseAlarmRate, FittedBeam, FrontEnd, FrontEndIdentity, Groups, Promise,
    Provenance, References, Result, Standing, Storage, Verdict,
    alarm::{AlarmBudget, AlarmSettings},
    beam::BandFit,
    calibration::CalibrationClip,
    groups::MOST_FOLDS,
    quality::UsualRecording,
};

/// What a model is made with.
///
/// Model files have structs of their own for them (`model_file::wire`); serialised they are for people
/// and programs that look at a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelSettings {
    /// Length and rate of clips.
    pub clip: ClipSettings,
    /// How several channels became one, as whoever read the sound names it (`0`, `mean`).
    pub channel: String,
    /// Name and settings of the front end.
    pub front_end: FrontEndIdentity,
    /// The back end.
    pub detector: BeamSettings,
    /// The most references that stay in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_references: Option<usize>,
    /// How the references are stored.
    #[serde(skip_serializing_if = "Storage::is_default")]
    pub storage: Storage,
    /// The promised false-alarm rate.
    pub false_alarm_rate: FalseAlarmRate,
    /// How sure the promise is of this calibration set; `None` promises it on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How calibration scores are made.
    pub calibration: CalibrationScheme,
    /// The numbers of a trained front end, which its settings only name.
    #[serde(skip)]
    pub weights: Weights,
    /// When verdicts over time become an alarm; `None` leaves that to whoever watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm: Option<AlarmSettings>,
    /// The budget that rule was chosen for; `None` if it was chosen for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alarm_budget: Option<AlarmBudget>,
}

/// Named numbers of a trained front end; a model file holds each as a tensor.
///
/// Models are copied whenever one of their settings changes, these are shared.
pub type Weights = Arc<BTreeMap<String, Vec<f32>>>;

impl ModelSettings {
    /// Settings for a front end with everything else as in the paper.
    pub fn new(clip: ClipSettings, front_end: &dyn FrontEnd, detector: BeamSettings) -> Self {
        Self {
            clip,
            channel: "0".to_owned(),
            front_end: front_end.identity(),
            detector,
            max_references: None,
            storage: Storage::default(),
            false_alarm_rate: FalseAlarmRate::default(),
            confidence: None,
            calibration: CalibrationScheme::default(),
            weights: Weights::default(),
            alarm: None,
            alarm_budget: None,
        }
    }

    /// What is promised about normal clips.
    pub fn promise(&self) -> Promise {
        Promise { rate: self.false_alarm_rate, confidence: self.confidence }
    }

    fn check_alarm(&self) -> Result<()> {
        self.alarm.map(AlarmSettings::check).transpose()?;
        match (self.alarm_budget, self.alarm) {
            (Some(budget), Some(_)) => budget.check().map(|_| ()),
            (Some(budget), None) => {
                Err(Error::setting("alarm budget", "absent where there is no alarm rule", budget))
            }
            (None, _) => Ok(()),
        }
    }
}

/// A fitted detector with its settings and calibration.
///
/// # Examples
///
/// ```
/// use auscult_core::{
///     BeamSettings, ClipSettings, ClipVectors, FrontEndSettings, Method, Model, ModelSettings,
///     Provenance, References,
/// };
///
/// let clip = ClipSettings { seconds: 1.0, ..Default::default() };
/// let front_end = FrontEndSettings::default().build(clip.check()?)?;
/// let mut extractor = front_end.extractor();
/// let mut vectors = ClipVectors::for_front_end(&*front_end);
/// let mut references = References::for_front_end(&*front_end);
/// for seed in 1..=20_u32 {
///     let hum: Vec<f32> =
///         (0..16_000).map(|i| (i as f32 * (0.1 + seed as f32 * 1e-4)).sin() * 0.1).collect();
///     extractor.extract_into(&hum, &mut vectors)?;
///     references.push(&vectors, Provenance::of(format!("hum {seed}")))?;
/// }
/// let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
/// let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;
///
/// let squeal: Vec<f32> = (0..16_000).map(|i| (i as f32 * 1.3).sin() * 0.1).collect();
/// extractor.extract_into(&squeal, &mut vectors)?;
/// let scored = model.score(&vectors)?;
/// assert_eq!(scored.verdict.name(), "anomalous");
/// assert_eq!(Model::from_bytes(&model.to_bytes()?)?.score(&vectors)?, scored);
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    settings: ModelSettings,
    detector: FittedBeam,
    calibration: Calibration,
}

/// A score and what it means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredClip {
    /// The score with its bands.
    pub score: ClipScore,
    /// Share of normal clips that score at least as high; `None` without calibration.
    pub p_value: Option<f64>,
    /// The score on a scale from 0 to 1; `None` without calibration.
    pub calibrated: Option<f64>,
    /// What it says at the model's false-alarm rate.
    pub verdict: Verdict,
}

impl Model {
    /// Remembers the references and calibrates on them.
    ///
    /// # Errors
    ///
    /// If there are no references, they are of another front end than the settings name
    /// ([`Error::OtherFrontEnd`]), or a setting is out of range.
    pub fn fit(settings: ModelSettings, references: References) -> Result<Self> {
        settings.clip.check()?;
        settings.check_alarm()?;
        if settings.max_references == Some(0) {
            return Err(Error::setting("max references", "at least 1", 0));
        }
        let beam = settings.detector.clone().check(references.axis_len())?;
        let references =
            references.of_front_end(&settings.front_end)?.stored_as(settings.storage)?;
        let groups = Groups::by_scheme(settings.calibration, references.provenance())?;
        let most = settings.max_references.unwrap_or(usize::MAX);
        if settings.calibration == CalibrationScheme::Split {
            let (out, remaining) = groups.split();
            let detector = fit_bounded(&beam, &references.select(&remaining), most)?;
            let clips = calibration_clips(&detector, &references, &groups, &out)?;
            let calibration = Calibration::of_clips(groups.basis(), clips);
            return Ok(Self { settings, detector, calibration });
        }
        if references.len() > most {
            let calibration = calibrate_coresets(&beam, &references, &groups, most)?;
            let detector = fit_bounded(&beam, &references, most)?;
            return Ok(Self { settings, detector, calibration });
        }
        let detector = beam.fit_with_groups(references, &groups)?;
        let calibration = calibration_of(&detector, &groups);
        Ok(Self { settings, detector, calibration })
    }

    /// This model with more references, the same as a fresh fit on the old ones followed by the
    /// new ones.
    ///
    /// # Errors
    ///
    /// If the new references have other vectors than the old ones.
    pub fn with_added(&self, more: &References) -> Result<Self> {
        let mut references = self.references().clone();
        references.extend(more)?;
        Self::fit(self.settings.clone(), references)
    }

    /// This model with only the references at `indices`, the same as a fresh fit on them.
    ///
    /// # Errors
    ///
    /// [`Error::NoReferences`] if none are left.
    pub fn with_only(&self, indices: &[usize]) -> Result<Self> {
        let remaining: Vec<usize> =
            indices.iter().copied().filter(|&index| index < self.references().len()).collect();
        Self::fit(self.settings.clone(), self.references().select(&remaining))
    }

    /// This model with at most `most` references, chosen to cover all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if `most` is 0.
    pub fn with_coreset(&self, most: usize) -> Result<Self> {
        let settings = ModelSettings { max_references: Some(most), ..self.settings.clone() };
        Self::fit(settings, self.references().clone())
    }

    /// This model with another promised false-alarm rate.
    #[must_use]
    pub fn with_false_alarm_rate(mut self, rate: FalseAlarmRate) -> Self {
        self.settings.false_alarm_rate = rate;
        self
    }

    /// This model with another promise.
    #[must_use]
    pub fn with_promise(mut self, promise: Promise) -> Self {
        self.settings.false_alarm_rate = promise.rate;
        self.settings.confidence = promise.confidence;
        self
    }

    /// This model calibrated in another way, the same as a fresh fit on its references.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if there are too few visits, files or clips to leave out.
    pub fn with_calibration(&self, scheme: CalibrationScheme) -> Result<Self> {
        let settings = ModelSettings { calibration: scheme, ..self.settings.clone() };
        Self::fit(settings, self.references().clone())
    }

    /// Left-out scores of each visit (or file, or block), in the order its clips were given.
    pub fn left_out_recordings(&self) -> Vec<Vec<f64>> {
        let groups = Groups::of(self.references().provenance());
        let mut recordings = vec![Vec::new(); groups.count()];
        for (score, &group) in self.detector.left_out_scores().iter().zip(groups.members()) {
            recordings[group].extend(*score);
        }
        recordings
    }

    /// Fits the references again and compares every number, but for rounding.
    ///
    /// Calibration scores of a coreset or a split came from clips that are gone; they are not
    /// compared.
    ///
    /// # Errors
    ///
    /// [`Error::DamagedModel`] with what differs.
    pub fn verify(&self) -> Result<()> {
        // Of a coreset or a split only some of the references are left to group.
        let whole = self.settings.max_references.is_none()
            && self.settings.calibration != CalibrationScheme::Split;
        let provenance = self.references().provenance();
        let groups = if whole {
            Groups::by_scheme(self.settings.calibration, provenance)?
        } else {
            Groups::of(provenance)
        };
        let fresh = self.detector.beam().fit_with_groups(self.references().clone(), &groups)?;
        let same = |what: &str, same: bool| {
            let reason = format!("its {what} do not follow from its references");
            if same { Ok(()) } else { Err(Error::DamagedModel { reason }) }
        };
        let fits = |detector: &FittedBeam| -> Vec<f64> {
            let numbers = |fit: &BandFit| {
                let facts = [fit.exponent, fit.divisor, fit.typical];
                fit.scales.iter().copied().chain(facts).collect::<Vec<_>>()
            };
            detector.band_fits().flatten().flat_map(numbers).collect()
        };
        let left_out = |detector: &FittedBeam| -> Vec<f64> {
            detector.left_out_scores().iter().map(|score| score.unwrap_or(f64::NAN)).collect()
        };
        let calibration = |calibration: &Calibration| -> Vec<f64> {
            calibration.clips().iter().flat_map(|clip| [clip.score, clip.group as f64]).collect()
        };
        let maps = |detector: &FittedBeam| -> Vec<f64> {
            let numbers = detector.maps().flat_map(|map| {
                let (centres, weights) = map.parts();
                centres.iter().chain(weights).copied().collect::<Vec<_>>()
            });
            numbers.collect()
        };
        same("maps", are_close(&maps(&fresh), &maps(&self.detector)))?;
        same("local scales", are_close(&fits(&fresh), &fits(&self.detector)))?;
        let members = |detector: &FittedBeam| -> Vec<f64> {
            let standardisation = detector.standardisation().iter();
            standardisation.flat_map(|member| [member.mean, member.deviation]).collect()
        };
        same("members' scales", are_close(&members(&fresh), &members(&self.detector)))?;
        same("left-out scores", are_close(&left_out(&fresh), &left_out(&self.detector)))?;
        let (fresh, own) =
            (calibration(&calibration_of(&fresh, &groups)), calibration(&self.calibration));
        same("calibration scores", !whole || are_close(&fresh, &own))
    }

    /// Scores one clip.
    ///
    /// # Errors
    ///
    /// If the clip's vectors are not those of the references: [`Error::OtherFrontEnd`],
    /// [`Error::VectorLength`] or [`Error::Views`].
    pub fn score(&self, clip: &ClipVectors) -> Result<ScoredClip> {
        Ok(self.judge(self.detector.score(clip)?))
    }

    /// What a score of this model's detector means.
    pub fn judge(&self, score: ClipScore) -> ScoredClip {
        judge(score, &self.calibration, self.settings.promise())
    }

    /// Judges clips of one domain: the promise holds within the domain (Mondrian), and needs enough
    /// calibration clips of it. `None` if no reference is of that domain.
    pub fn judge_of_domain(&self, domain: &str) -> Option<Judge> {
        let calibration = self.calibration.of_domain(domain);
        let (promise, scheme) = (self.settings.promise(), self.settings.calibration);
        (!calibration.scores().is_empty()).then_some(Judge { calibration, promise, scheme })
    }

    /// At most `most` references with their left-out scores, the highest first: the least normal
    /// of the normal clips. Never more than half of them.
    pub fn least_normal(&self, most: usize) -> Vec<(&Provenance, f64)> {
        let scores = self.detector.left_out_scores();
        let mut scored: Vec<(&Provenance, f64)> = self
            .references()
            .provenance()
            .iter()
            .zip(scores)
            .filter_map(|(from, score)| Some((from, (*score)?)))
            .collect();
        // Stable: equal scores stay in the order the references were given.
        scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        scored.truncate(most.min(scored.len() / 2));
        scored
    }

    /// What the references' recordings are like, to remark on others.
    pub fn usual_recording(&self) -> UsualRecording {
        UsualRecording::of(self.references().provenance(), self.settings.clip.seconds)
    }

    /// This model with a rule for alarms that was chosen for no budget, or without a rule.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the rule is out of range.
    pub fn with_alarm(self, alarm: Option<AlarmSettings>) -> Result<Self> {
        self.with_rule(alarm, None)
    }

    /// This model with the rule for alarms that was chosen for a budget.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the rule or the budget is out of range.
    pub fn with_alarm_for(self, budget: AlarmBudget, alarm: AlarmSettings) -> Result<Self> {
        self.with_rule(Some(alarm), Some(budget))
    }

    fn with_rule(
        mut self,
        alarm: Option<AlarmSettings>,
        budget: Option<AlarmBudget>,
    ) -> Result<Self> {
        self.settings.alarm = alarm;
        self.settings.alarm_budget = budget;
        self.settings.check_alarm()?;
        Ok(self)
    }

    /// Refuses a front end that gives other numbers than the one the model was made with.
    ///
    /// # Errors
    ///
    /// [`Error::OtherFrontEnd`] with both names.
    pub fn check_front_end(&self, front_end: &dyn FrontEnd) -> Result<()> {
        self.settings.front_end.check(&front_end.identity())
    }

    /// The settings.
    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// The fitted detector.
    pub fn detector(&self) -> &FittedBeam {
        &self.detector
    }

    /// The references in memory.
    pub fn references(&self) -> &References {
        self.detector.references()
    }

    /// Scores of unseen normal clips.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The score above which clips are anomalous, promised or provisional; `None` with too few
    /// normal clips for either.
    pub fn threshold(&self) -> Option<f64> {
        self.calibration.threshold(self.settings.promise())
    }

    /// What the threshold is worth: promised, provisional or none, and what is missing.
    pub fn standing(&self) -> Standing {
        self.standing_of(self.settings.promise())
    }

    /// What the threshold of another promise would be worth.
    pub fn standing_of(&self, promise: Promise) -> Standing {
        Standing::of(&self.calibration, promise, self.settings.calibration)
    }

    pub(crate) fn from_parts(
        settings: ModelSettings,
        detector: FittedBeam,
        calibration: Calibration,
    ) -> Self {
        Self { settings, detector, calibration }
    }
}

/// What scores mean within one domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    calibration: Calibration,
    promise: Promise,
    scheme: CalibrationScheme,
}

impl Judge {
    /// What a score of the model's detector means for a clip of the domain.
    pub fn judge(&self, score: ClipScore) -> ScoredClip {
        judge(score, &self.calibration, self.promise)
    }

    /// The score above which clips of the domain are anomalous, promised or provisional.
    pub fn threshold(&self) -> Option<f64> {
        self.calibration.threshold(self.promise)
    }

    /// What that threshold is worth.
    pub fn standing(&self) -> Standing {
        Standing::of(&self.calibration, self.promise, self.scheme)
    }

    /// Scores of unseen normal clips of the domain.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }
}

/// Whether numbers are the same but for rounding, which a newer version may do in another order.
fn are_close(left: &[f64], right: &[f64]) -> bool {
    let close = |(&left, &right): (&f64, &f64)| {
        (left.is_nan() && right.is_nan())
            || left == right
            || (left - right).abs() <= 1e-9 * left.abs().max(right.abs())
    };
    left.len() == right.len() && left.iter().zip(right).all(close)
}

fn judge(score: ClipScore, calibration: &Calibration, promise: Promise) -> ScoredClip {
    ScoredClip {
        p_value: calibration.p_value(score.value),
        calibrated: calibration.calibrated(score.value),
        verdict: calibration.verdict(score.value, promise),
        score,
    }
}

/// Fits at most `most` references, chosen to cover all.
fn fit_bounded(beam: &Beam, references: &References, most: usize) -> Result<FittedBeam> {
    beam.fit(references.select(&beam.coreset(references, most)?))
}

/// The calibration that left-out scores are.
fn calibration_of(detector: &FittedBeam, groups: &Groups) -> Calibration {
    let provenance = detector.references().provenance();
    let scores = detector.left_out_scores().iter().zip(groups.members()).zip(provenance);
    let clips = scores.filter_map(|((score, &group), from)| {
        Some(CalibrationClip { score: (*score)?, group, domain: from.domain.clone() })
    });
    Calibration::of_clips(groups.basis(), clips.collect())
}

/// The references at `indices` scored against another memory.
fn calibration_clips(
    detector: &FittedBeam,
    references: &References,
    groups: &Groups,
    indices: &[usize],
) -> Result<Vec<CalibrationClip>> {
    let clips = indices.iter().filter_map(|&index| Some((index, references.clip(index)?)));
    clips
        .map(|(index, clip)| {
            let (group, from) = (groups.members()[index], &references.provenance()[index]);
            let score = detector.score(&clip)?.value;
            Ok(CalibrationClip { score, group, domain: from.domain.clone() })
        })
        .collect()
}

/// Scores every reference against a coreset of the others: leaving clips out of a coreset they
/// helped to choose would flatter it, so each part of the groups gets its own.
fn calibrate_coresets(
    beam: &Beam,
    references: &References,
    groups: &Groups,
    most: usize,
) -> Result<Calibration> {
    let mut clips = Vec::with_capacity(references.len());
    for fold in groups.folds(MOST_FOLDS).filter(|fold| !fold.remaining.is_empty()) {
        let remaining = references.select(&fold.remaining);
        let chosen = remaining.select(&beam.coreset(&remaining, most)?);
        let detector = beam.fit_for_scoring(chosen)?;
        clips.extend(calibration_clips(&detector, references, groups, &fold.out)?);
    }
    Ok(Calibration::of_clips(groups.basis(), clips))
}

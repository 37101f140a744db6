//! 4. Scoring: one clip becomes a record.

use std::{ops::Deref, sync::Arc};

use auscult_audio::Source;
use auscult_core::{ClipCondition, ClipRecord, Explanation, Result as CoreResult};

use crate::{
    ClipRules, Error, Machine, Result,
    listen::{reference_with, score},
    reading::{JudgedClip, Worker},
};

/// Scores clips that are in memory, with buffers of its own; one a thread.
///
/// # Examples
///
/// ```no_run
/// let pump = auscult::Machine::open("pump.auscult")?;
/// let mut scorer = pump.scorer();
/// let silence = scorer.score(&[0.0; 160_000])?;
/// assert_eq!(silence.verdict().to_string(), "silent");
/// assert_eq!(silence.score(), None);
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug)]
pub struct Scorer<'a> {
    machine: Held<'a>,
    worker: Worker,
}

/// A machine that is borrowed, or shared with those who keep it.
#[derive(Debug)]
enum Held<'a> {
    Borrowed(&'a Machine),
    Shared(Arc<Machine>),
}

impl Deref for Held<'_> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        match self {
            Self::Borrowed(machine) => machine,
            Self::Shared(machine) => machine,
        }
    }
}

impl Scorer<'static> {
    /// A scorer that keeps its machine, for callers that cannot borrow one.
    pub fn shared(machine: Arc<Machine>) -> Self {
        Self::of(Held::Shared(machine))
    }

    /// Scores for another machine from now on. Where both have the same front end and clip length, the buffers are
    /// used again: one scorer a thread serves any number of such machines.
    pub fn switch_to(&mut self, machine: &Arc<Machine>) {
        let (old, new) = (&*self.machine, &**machine);
        let same_length = old.reading().length() == new.reading().length();
        let same_front_end = Arc::ptr_eq(old.front_end(), new.front_end())
            || old.front_end().identity() == new.front_end().identity();
        if same_length && same_front_end {
            // Its bands may be others.
            self.worker.score = None;
            self.machine = Held::Shared(Arc::clone(machine));
        } else {
            *self = Self::shared(Arc::clone(machine));
        }
    }
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        Self::of(Held::Borrowed(machine))
    }

    fn of(machine: Held<'a>) -> Self {
        let worker = Worker::new(&**machine.front_end(), machine.reading().length());
        Self { machine, worker }
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Scores one clip at the model's sample rate; shorter sound is filled up with silence.
    ///
    /// A clip that is not the sound of a machine (silent, constant, not finite, shorter than half a clip) has a record
    /// that says so and no score.
    ///
    /// # Errors
    ///
    /// [`Error::LongClip`] if it is more than one clip.
    pub fn score(&mut self, samples: &[f32]) -> Result<ClipRecord> {
        let mut record = ClipRecord::of("", 0.0, self.check(samples)?);
        self.score_into(samples, &mut record);
        record.copy_of = reference_with(&self.machine, &record, samples);
        Ok(record)
    }

    /// The record of a clip that was read from a source: what [`Machine::listen`] says of it, but for what only the
    /// order of clips tells (copies of each other, alarms).
    pub fn score_read(&mut self, source: &Source, clip: &JudgedClip) -> ClipRecord {
        score(&self.machine, &mut self.worker, source, clip, ClipRules::field())
    }

    /// Every band of a clip with its reasons.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`], [`Error::LongClip`].
    pub fn explain(&mut self, samples: &[f32]) -> Result<Explanation> {
        let condition = self.check(samples)?;
        if !condition.is_usable() {
            return Err(Error::Unusable(condition));
        }
        self.worker.extractor.extract_into(samples, &mut self.worker.vectors)?;
        let scored = self.machine.model().score(&self.worker.vectors)?;
        Ok(self.machine.explain_vectors(&self.worker.vectors, &scored))
    }

    fn check(&self, samples: &[f32]) -> Result<ClipCondition> {
        let length = self.machine.reading().length();
        if samples.len() > length.samples() {
            return Err(Error::LongClip { got: samples.len(), expected: length.samples() });
        }
        Ok(ClipCondition::of(samples, length))
    }

    /// Scores a clip into a record that may have been used before; allocates nothing once warm.
    pub(crate) fn score_into(&mut self, samples: &[f32], record: &mut ClipRecord) {
        let condition = ClipCondition::of(samples, self.machine.reading().length());
        score_into(&self.machine, &mut self.worker, samples, condition, ClipRules::field(), record);
    }
}

/// Fills a record with everything one clip alone says: quality, score, verdict, reason.
pub(crate) fn score_into(
    machine: &Machine,
    worker: &mut Worker,
    samples: &[f32],
    condition: ClipCondition,
    rules: ClipRules,
    record: &mut ClipRecord,
) {
    let model = machine.model();
    record.condition = condition;
    record.seconds = samples.len() as f64 / f64::from(machine.reading().length().sample_rate());
    record.quality = worker.meter.measure(samples);
    record.remarks.clear();
    if let Some(quality) = &record.quality {
        let remarks = machine.usual_recording().remarks(quality, record.recording.as_deref());
        record.remarks.extend(remarks);
    }
    record.error = None;
    if !Arc::ptr_eq(&record.model_hash, machine.hash()) {
        record.model_hash = Arc::clone(machine.hash());
    }
    if rules.takes(condition) {
        // The score's buffers go round: from the last record to the detector and back.
        let spare = record.scored.take().map(|scored| scored.score);
        let mut score =
            spare.or_else(|| worker.score.take()).unwrap_or_else(|| model.detector().new_score());
        let mut find = |worker: &mut Worker| -> CoreResult<()> {
            worker.extractor.extract_into(samples, &mut worker.vectors)?;
            model.detector().score_into(&worker.vectors, &mut score)
        };
        match find(worker) {
            Ok(()) => record.scored = Some(judge(machine, record, score)),
            Err(error) => record.error = Some(error.to_string()),
        }
    } else {
        worker.score = record.scored.take().map(|scored| scored.score).or(worker.score.take());
    }
    machine.names().describe(model, &worker.vectors, worker.meter.spectrum_dbfs(), record);
    if record.scored.is_none() {
        use std::fmt::Write;
        // Writing to a text cannot fail.
        let _ = match &record.error {
            Some(error) => write!(record.reason, "{error}"),
            None => write!(record.reason, "{condition}"),
        };
    }
}

/// The verdict by the thresholds of the record's domain, or of all clips.
fn judge(
    machine: &Machine,
    record: &mut ClipRecord,
    score: auscult_core::ClipScore,
) -> auscult_core::ScoredClip {
    if let Some((_, judge, promise)) = machine.judge(record.domain.as_deref()) {
        record.promise.clone_from(promise);
        return judge.judge(score);
    }
    record.promise.clone_from(machine.promise());
    machine.model().judge(score)
}

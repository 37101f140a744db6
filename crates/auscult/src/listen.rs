//! 5. Listening: sources become records, one after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    sync::Arc,
};

use auscult_audio::{ChannelRule, Extent, RecordedAt, Source};
use auscult_core::{
    ClipCondition, ClipRecord, Control, Event,
    alarm::{AlarmMachine, AlarmState, Observation},
    memory,
    record::{ClipTime, TimeOrigin},
};
use serde::Serialize;

use crate::{
    Changed, ClipRules, Error, Machine, QualitySummary, Reading, Result, Sources,
    changed::RunTally,
    input_quality::QualityTally,
    reading::{JudgedClip, Piece, ReadAll, ReadClip, SourceEnd, Threads, Worker},
    scorer::score_into,
};

/// How to listen; the default is what `auscult score` does without options.
#[derive(Debug, Clone, Default)]
pub struct Listen {
    /// Which channel to take; the one the model was made with if not given.
    pub channel: Option<ChannelRule>,
    /// Time from one clip's start to the next; the clip length if not given.
    pub hop_seconds: Option<f64>,
    /// Which clips are scored.
    pub rules: ClipRules,
    /// The domain whose threshold judges all clips; the sources' own if not given.
    pub domain: Option<String>,
    /// Whether records explain every band.
    pub explain: bool,
    /// Threads to use; those of the current rayon pool if not given.
    pub jobs: Option<NonZeroUsize>,
    /// Who is told, and who may stop it.
    pub control: Control,
}

/// Scores sources: an iterator of records in the order of the sources, computed on all threads in bounded memory.
///
/// After the last record, [`Listening::summary`] tells what the run came to.
#[derive(Debug)]
pub struct Listening<'a> {
    clips: ReadAll<'a, (ClipRecord, u128)>,
    control: Control,
    problems: std::vec::IntoIter<auscult_audio::Error>,
    copies: Copies,
    alarm: Option<AlarmReplay>,
    quality: QualityTally,
    run: RunTally,
    machine: &'a Machine,
    summary: RunSummary,
    is_over: bool,
}

/// What a run over all clips came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RunSummary {
    /// Clips by verdict.
    pub verdicts: BTreeMap<&'static str, usize>,
    /// Whether every clip of every source was scored.
    pub is_complete: bool,
    /// Whether the run was stopped before everything was read.
    pub is_cancelled: bool,
    /// Recordings that could not be read, or not to their end, and why.
    pub unread: Vec<String>,
    /// Clips that could not be scored.
    pub not_scored: usize,
    /// Recordings with a rest too short for a clip.
    pub recordings_with_rest: usize,
    /// How long those rests are together.
    pub seconds_dropped: f64,
    /// Input quality.
    pub quality: Option<QualitySummary>,
    /// The domains clips were judged in; `None` for clips of no domain.
    pub domains: BTreeSet<Option<String>>,
    /// Domains of sources that the model does not know: their clips are judged by the threshold of all.
    pub unknown_domains: BTreeSet<String>,
    /// Clips that raised an alarm; `None` without an alarm rule.
    pub alarms: Option<Vec<String>>,
    /// Whether the recording or the machine has changed as a whole, and how.
    #[serde(skip)]
    pub changed: Option<Changed>,
}

impl RunSummary {
    /// What the JSON form of a run says beside its clips; `program` is who made it.
    pub fn facts(&self, model_hash: &str, program: &str) -> serde_json::Value {
        serde_json::json!({
            "program": program,
            "model_hash": model_hash,
            "changed": self.changed,
            "summary": self,
        })
    }
}

impl<'a> Listening<'a> {
    pub(crate) fn new(
        machine: &'a Machine,
        sources: Sources,
        reading: &Reading,
        threads: Threads,
        listen: &Listen,
    ) -> Self {
        sources.notes().iter().for_each(|note| listen.control.report(Event::Note(note)));
        let (mut sources, problems) = sources.into_parts();
        if let Some(domain) = &listen.domain {
            for source in &mut sources {
                source.domain = Some(domain.clone());
            }
        }
        let is_known = |domain: &&String| machine.judge(Some(domain)).is_some();
        let named = sources.iter().filter_map(|source| source.domain.as_ref());
        let unknown_domains = named.filter(|domain| !is_known(domain)).cloned().collect();
        let alarm = AlarmReplay::new(machine, reading.hop_seconds());
        let (rules, explain) = (reading.rules(), listen.explain);
        let work = move |worker: &mut Worker, source: &Source, clip: &JudgedClip| {
            let mut record = score(machine, worker, source, clip, rules);
            if let Some(scored) = &record.scored {
                record.explanation =
                    explain.then(|| machine.explain_vectors(&worker.vectors, scored));
            }
            (record, content_of(&clip.samples))
        };
        let threads = Arc::new(threads);
        let front_end = machine.front_end();
        Self {
            clips: reading.read_all(front_end, sources, &threads, &listen.control, work),
            control: listen.control.clone(),
            problems: problems.into_iter(),
            copies: Copies::default(),
            alarm,
            quality: QualityTally::default(),
            run: RunTally::default(),
            machine,
            summary: RunSummary { unknown_domains, ..RunSummary::default() },
            is_over: false,
        }
    }

    /// What the run has come to so far; whole once the last record is out.
    pub fn summary(&self) -> RunSummary {
        let summary = &self.summary;
        let failed = summary.unread.len() + summary.not_scored;
        RunSummary {
            is_complete: self.is_over && !summary.is_cancelled && failed == 0,
            quality: self.quality.summary(),
            changed: self.run.changed(self.machine),
            alarms: self.alarm.as_ref().map(|alarm| alarm.raised_at.clone()),
            ..summary.clone()
        }
    }

    /// Adds what only the order of clips tells: copies, alarms, counts.
    fn complete(&mut self, clip: ReadClip<(ClipRecord, u128)>) -> ClipRecord {
        let (mut record, content) = clip.result;
        let name = record.name();
        record.alarm = self.alarm.as_mut().map(|alarm| alarm.observe(&record, &name));
        if record.scored.is_some() {
            record.copy_of = self.copies.earlier(&name, content).or(record.copy_of);
            let level = record.quality.map(|quality| quality.level_dbfs);
            self.quality.add(&name, level, &record.remark_sentences());
            if record.path == LIVE_PATH {
                self.quality.report_first(&self.control);
            }
        } else {
            self.summary.not_scored += 1;
            let reason = &record.reason;
            self.control.report(Event::Problem(&format!("not scored {name}: {reason}")));
        }
        if clip.extent == Extent::CutByDamage {
            self.control.report(Event::Note(&format!("{name} ends where the file is damaged")));
        }
        self.run.add(&record);
        *self.summary.verdicts.entry(record.verdict().name()).or_default() += 1;
        self.summary.domains.insert(record.domain.clone());
        record
    }

    fn end(&mut self, end: SourceEnd) -> Option<Error> {
        if end.seconds_dropped > 0.0 {
            self.summary.recordings_with_rest += 1;
            self.summary.seconds_dropped += end.seconds_dropped;
        }
        end.problem.map(|problem| {
            self.summary.unread.push(problem.clone());
            Error::Unread(problem)
        })
    }
}

impl Iterator for Listening<'_> {
    type Item = Result<ClipRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(problem) = self.problems.next() {
            self.summary.unread.push(problem.to_string());
            return Some(Err(problem.into()));
        }
        loop {
            match self.clips.next() {
                // What is left of a damaged file is short because of the damage, which is told next.
                Some(Piece::Clip(clip)) if is_scrap(&clip) => {}
                Some(Piece::Clip(clip)) => return Some(Ok(self.complete(clip))),
                Some(Piece::End(end)) => {
                    if let Some(error) = self.end(end) {
                        return Some(Err(error));
                    }
                }
                None if std::mem::replace(&mut self.is_over, true) => return None,
                None => {
                    self.quality.report(&self.control);
                    self.summary.is_cancelled = self.clips.is_cancelled();
                    return self.summary.is_cancelled.then_some(Err(Error::Cancelled));
                }
            }
        }
    }
}

/// Whether a piece before damage is too short to be scored.
fn is_scrap(clip: &ReadClip<(ClipRecord, u128)>) -> bool {
    let is_short = matches!(clip.condition, ClipCondition::TooShort { .. });
    clip.extent == Extent::CutByDamage && is_short
}

/// What standard input is called: nobody knows when it ends.
const LIVE_PATH: &str = "-";

/// The record of a clip by itself.
pub(crate) fn score(
    machine: &Machine,
    worker: &mut Worker,
    source: &Source,
    clip: &JudgedClip,
    rules: ClipRules,
) -> ClipRecord {
    let mut record = ClipRecord::of(source.label.clone(), clip.start_seconds, clip.condition);
    record.time = source.recorded_at().map(|recorded| clip_time(recorded, clip.start_seconds));
    record.domain = machine.judge(source.domain.as_deref()).map(|(domain, ..)| domain.to_owned());
    record.recording = Some(Arc::clone(&clip.recording));
    score_into(machine, worker, &clip.samples, clip.condition, rules, &mut record);
    record.copy_of = reference_with(machine, &record, &clip.samples);
    record
}

/// When a clip was recorded. Manifests and names give the start of a recording; the time of a file is near its end, and no
/// clip in it is known better.
fn clip_time(recorded: RecordedAt, start_seconds: f64) -> ClipTime {
    let is_start = recorded.origin != TimeOrigin::FileTime;
    let recorded = if is_start { recorded.after(start_seconds) } else { recorded };
    let RecordedAt { unix_seconds, origin, .. } = recorded;
    ClipTime { unix_seconds, utc: recorded.to_string(), origin }
}

/// The reference that is this very sound.
pub(crate) fn reference_with(
    machine: &Machine,
    record: &ClipRecord,
    samples: &[f32],
) -> Option<String> {
    // Only a reference itself is at no distance from a reference in every band.
    let views = &record.scored.as_ref()?.score.views;
    let mut bands = views.iter().flat_map(|view| &view.bands).peekable();
    let nearest = bands.peek()?.reference;
    if !bands.all(|band| band.distance == 0.0 && band.reference == nearest) {
        return None;
    }
    let reference = machine.model().references().provenance().get(nearest)?;
    let is_same = reference.digest.is_empty() || reference.digest == memory::digest(samples);
    is_same.then(|| format!("the reference {}", reference.source))
}

/// A fingerprint of samples that costs next to nothing beside a score.
fn content_of(samples: &[f32]) -> u128 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut bytes = [[0; 4]; 1024];
    for samples in samples.chunks(bytes.len()) {
        for (bytes, sample) in bytes.iter_mut().zip(samples) {
            *bytes = sample.to_le_bytes();
        }
        hasher.update(bytes[..samples.len()].as_flattened());
    }
    hasher.digest128()
}

/// Recognises sound that comes again, by its content.
#[derive(Debug, Default)]
struct Copies(BTreeMap<u128, String>);

impl Copies {
    /// The name of an earlier clip with the same sound.
    fn earlier(&mut self, name: &str, content: u128) -> Option<String> {
        let earlier = self.0.get(&content).cloned();
        if earlier.is_none() {
            self.0.insert(content, name.to_owned());
        }
        earlier
    }
}

/// The model's alarm rule, as it hears the clips one after the other.
#[derive(Debug)]
struct AlarmReplay {
    machine: AlarmMachine,
    hop_seconds: f64,
    clips: usize,
    raised_at: Vec<String>,
}

impl AlarmReplay {
    fn new(machine: &Machine, hop_seconds: f64) -> Option<Self> {
        let rules = machine.model().settings().alarm?.check().ok()?;
        let machine = AlarmMachine::new(rules);
        Some(Self { machine, hop_seconds, clips: 0, raised_at: Vec::new() })
    }

    /// The state after a clip.
    fn observe(&mut self, record: &ClipRecord, name: &str) -> AlarmState {
        let verdict = record.scored.as_ref().map(|scored| scored.verdict);
        let at = self.clips as f64 * self.hop_seconds;
        self.clips += 1;
        let change = self.machine.observe(at, Observation::of(record.condition, verdict));
        if change.is_some_and(|change| change.to == AlarmState::Alarm) {
            self.raised_at.push(name.to_owned());
        }
        self.machine.state()
    }
}

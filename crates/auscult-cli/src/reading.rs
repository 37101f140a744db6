//! From what the user typed to vectors, clip by clip, on all cores, in bounded memory.

use std::sync::{Arc, Mutex, PoisonError};

use auscult_audio::{
    AudioClip, ChannelRule, CheckedReadSettings, ClipRange, ClipReader, Extent, Label,
    ReadSettings, Source,
};
use auscult_core::{
    ClipCondition, ClipLength, ClipSettings, ClipVectors, Extractor, FrontEnd, QualityMeter,
};
use rayon::prelude::*;

use crate::{
    interrupt,
    printer::{Printer, count, printable},
    progress,
};

/// How sound is read and turned into vectors.
pub(crate) struct Reading {
    pub(crate) front_end: Arc<dyn FrontEnd>,
    pub(crate) length: ClipLength,
    settings: CheckedReadSettings,
}

impl Reading {
    pub(crate) fn new(
        front_end: Arc<dyn FrontEnd>,
        clip: ClipSettings,
        channel: ChannelRule,
        hop_seconds: Option<f64>,
        range: ClipRange,
    ) -> anyhow::Result<Self> {
        let settings = ReadSettings {
            sample_rate: clip.sample_rate,
            channel,
            clip_seconds: clip.seconds,
            hop_seconds,
            range,
        };
        Ok(Self { front_end, length: clip.check()?, settings: settings.check()? })
    }

    /// How files are cut into clips.
    pub(crate) fn settings(&self) -> &CheckedReadSettings {
        &self.settings
    }

    /// One a thread.
    fn worker(&self) -> Worker {
        Worker {
            extractor: self.front_end.extractor(),
            vectors: ClipVectors::for_front_end(&*self.front_end),
            meter: QualityMeter::new(self.length.sample_rate()),
        }
    }
}

/// The buffers of one thread.
pub(crate) struct Worker {
    pub(crate) extractor: Box<dyn Extractor>,
    pub(crate) vectors: ClipVectors,
    pub(crate) meter: QualityMeter,
}

/// Workers that wait for the next file: planning transforms costs more than a clip does.
#[derive(Default)]
struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// Lends a worker that nobody else has.
    fn with<T>(&self, reading: &Reading, work: impl FnOnce(&mut Worker) -> T) -> T {
        let waiting = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worker = waiting().pop().unwrap_or_else(|| reading.worker());
        let result = work(&mut worker);
        waiting().push(worker);
        result
    }
}

/// What became of one file, or of a piece of a live stream.
#[derive(Debug)]
pub(crate) struct FileOutcome<T> {
    pub(crate) source: Source,
    pub(crate) clips: Vec<ClipOutcome<T>>,
    /// Why the file, or the rest of it, could not be read.
    pub(crate) problem: Option<String>,
    /// Sound at the end, too short for a clip.
    pub(crate) seconds_dropped: f64,
    /// Whether more of the same stream follows.
    pub(crate) goes_on: bool,
}

/// What became of one clip.
#[derive(Debug)]
pub(crate) struct ClipOutcome<T> {
    pub(crate) start_seconds: f64,
    pub(crate) condition: ClipCondition,
    pub(crate) extent: Extent,
    pub(crate) result: T,
}

/// Reads every source and hands each file's outcome to `sink`, in input order.
///
/// `work` sees each clip with its source and condition. Files of one batch are read in parallel; standard
/// input may be live, so its clips are handed on one by one. A stop that is asked for ends the
/// reading after the clips at hand. Returns whether all was read.
pub(crate) fn read_all<T: Send>(
    sources: Vec<Source>,
    reading: &Reading,
    printer: &Printer,
    work: impl Fn(&mut Worker, &Source, &AudioClip, ClipCondition) -> T + Sync,
    mut sink: impl FnMut(FileOutcome<T>) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let bar = progress::bar(sources.len(), "files");
    let workers = Workers::default();
    // Several files a thread, so that a slow one does not hold up the others.
    let batch_len = 8 * rayon::current_num_threads();
    let mut sources = sources.into_iter().peekable();
    while sources.peek().is_some() {
        if let Some(stream) = sources.next_if(Source::is_live) {
            read_stream(stream, reading, &work, &mut |piece| bar.suspend(|| sink(piece)))?;
        }
        let batch: Vec<Source> = std::iter::from_fn(|| sources.next_if(|next| !next.is_live()))
            .take(batch_len)
            .collect();
        let outcomes: Vec<Option<FileOutcome<T>>> = batch
            .into_par_iter()
            .map(|source| {
                let outcome = (!interrupt::is_asked()).then(|| {
                    workers.with(reading, |worker| read_file(source, reading, worker, &work))
                });
                bar.inc(1);
                outcome
            })
            .collect();
        for outcome in outcomes.into_iter().flatten() {
            bar.suspend(|| sink(outcome))?;
        }
        if interrupt::is_asked() {
            bar.finish_and_clear();
            printer.problem("stopped before everything was read");
            return Ok(false);
        }
    }
    bar.finish_and_clear();
    Ok(true)
}

fn read_file<T>(
    source: Source,
    reading: &Reading,
    worker: &mut Worker,
    work: &impl Fn(&mut Worker, &Source, &AudioClip, ClipCondition) -> T,
) -> FileOutcome<T> {
    let mut clips = Vec::new();
    let ending = read_clips(&source, reading, worker, work, &mut |clip| {
        clips.push(clip);
        Ok(())
    });
    // Gathering clips cannot fail.
    let (problem, seconds_dropped) = ending.unwrap_or_default();
    FileOutcome { source, clips, problem, seconds_dropped, goes_on: false }
}

/// Hands on each clip as soon as it is there, then how the stream ended.
fn read_stream<T>(
    source: Source,
    reading: &Reading,
    work: &impl Fn(&mut Worker, &Source, &AudioClip, ClipCondition) -> T,
    sink: &mut dyn FnMut(FileOutcome<T>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (problem, seconds_dropped) =
        read_clips(&source, reading, &mut reading.worker(), work, &mut |clip| {
            let (source, clips) = (source.clone(), vec![clip]);
            sink(FileOutcome { source, clips, problem: None, seconds_dropped: 0.0, goes_on: true })
        })?;
    sink(FileOutcome { source, clips: Vec::new(), problem, seconds_dropped, goes_on: false })
}

/// Reads until the end, a problem or a stop; returns the problem and the sound that was left over.
fn read_clips<T>(
    source: &Source,
    reading: &Reading,
    worker: &mut Worker,
    work: &impl Fn(&mut Worker, &Source, &AudioClip, ClipCondition) -> T,
    take: &mut dyn FnMut(ClipOutcome<T>) -> anyhow::Result<()>,
) -> anyhow::Result<(Option<String>, f64)> {
    let mut reader = match ClipReader::open(&source.location, &reading.settings) {
        Ok(reader) => reader,
        Err(error) => return Ok((Some(error.to_string()), 0.0)),
    };
    let mut problem = None;
    for clip in reader.by_ref() {
        match clip {
            Ok(clip) => {
                let condition = ClipCondition::of(&clip.samples, reading.length);
                let result = work(worker, source, &clip, condition);
                let AudioClip { start_seconds, extent, .. } = clip;
                take(ClipOutcome { start_seconds, condition, extent, result })?;
            }
            Err(error) => problem = Some(error.to_string()),
        }
        if interrupt::is_asked() {
            problem = Some(format!("{}: stopped while reading", source.label));
            break;
        }
    }
    Ok((problem, reader.facts().seconds_dropped))
}

/// Like [`expand`], for normal recordings: those that a manifest keeps for testing or labels as anomalous
/// are left out, and labels nobody knows are a problem, for a fault in the memory hides faults.
pub(crate) fn expand_normal(
    paths: &[String],
    visit: Option<&str>,
    domain: Option<&str>,
    printer: &Printer,
) -> anyhow::Result<(Vec<Source>, usize)> {
    let (mut sources, problems) = expand(paths, visit, domain, printer)?;
    let mut problems = problems.len();
    let all = sources.len();
    sources.retain(|source| !source.is_for_test);
    if sources.len() < all {
        let left_out = count(all - sources.len(), "recording");
        printer
            .note(format!("left out {left_out} that the manifest keeps for testing (split: test)"));
    }
    anyhow::ensure!(
        !sources.is_empty(),
        "the manifest keeps every recording for testing; set split to train where one may be learnt from"
    );
    let all = sources.len();
    sources.retain(|source| source.truth != Some(Ok(Label::Anomaly)));
    let anomalous = all - sources.len();
    sources.retain(|source| {
        let Some(Err(unknown)) = &source.truth else { return true };
        printer.problem(format!("skipped {}: {unknown}", source.label));
        problems += 1;
        false
    });
    if anomalous > 0 {
        let left_out = count(anomalous, "recording");
        printer.note(format!(
            "left out {left_out} labelled as anomalous: a model learns from normal sound"
        ));
    }
    anyhow::ensure!(!sources.is_empty(), "no recording is labelled as normal; name normal ones");
    Ok((sources, problems))
}

/// Turns paths into sources, telling what could not be used. Returns the sources and what was told.
pub(crate) fn expand(
    paths: &[String],
    visit: Option<&str>,
    domain: Option<&str>,
    printer: &Printer,
) -> anyhow::Result<(Vec<Source>, Vec<String>)> {
    let expanded = auscult_audio::expand(paths);
    let problems: Vec<String> = expanded.problems.iter().map(ToString::to_string).collect();
    for problem in &problems {
        printer.problem(problem);
    }
    for note in &expanded.notes {
        printer.note(note.to_string());
    }
    let mut sources = expanded.sources;
    anyhow::ensure!(
        !sources.is_empty(),
        "no sound to read; name recordings, folders with recordings, or a manifest"
    );
    for source in &mut sources {
        source.visit = visit.map(str::to_owned).or(source.visit.take());
        source.domain = domain.map(str::to_owned).or(source.domain.take());
    }
    Ok((sources, problems))
}

/// Reads `0`, `1`, ... or `mean`, as a model file holds it.
pub(crate) fn channel(text: &str) -> anyhow::Result<ChannelRule> {
    Ok(text.parse()?)
}

/// `path` or `path at 30.0 s`.
pub(crate) fn clip_name(label: &str, start_seconds: f64) -> String {
    let label = printable(label);
    if start_seconds > 0.0 { format!("{label} at {start_seconds:.1} s") } else { label }
}

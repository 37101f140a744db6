//! From what the user typed to vectors, clip by clip, on all cores, in bounded memory.

use std::sync::Arc;

use anyhow::Context;
use auscult_audio::{
    AudioClip, ChannelRule, CheckedReadSettings, ClipRange, ClipReader, Extent, ReadSettings, Source,
};
use auscult_core::{
    ClipCondition, ClipLength, ClipSettings, ClipVectors, Extractor, FrontEnd,
};
use rayon::prelude::*;

use crate::{interrupt, printer::Printer, progress};

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
        }
    }
}

/// The buffers of one thread.
pub(crate) struct Worker {
    pub(crate) extractor: Box<dyn Extractor>,
    pub(crate) vectors: ClipVectors,
}

/// What became of one file.
#[derive(Debug)]
pub(crate) struct FileOutcome<T> {
    pub(crate) source: Source,
    pub(crate) clips: Vec<ClipOutcome<T>>,
    /// Why the file, or the rest of it, could not be read.
    pub(crate) problem: Option<String>,
    /// Sound at the end, too short for a clip.
    pub(crate) seconds_dropped: f64,
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
/// `work` sees each clip with its condition. Files of one batch are read in parallel; a stop that
/// is asked for ends the reading after the files at hand. Returns whether all was read.
pub(crate) fn read_all<T: Send>(
    sources: Vec<Source>,
    reading: &Reading,
    printer: &Printer,
    work: impl Fn(&mut Worker, &AudioClip, ClipCondition) -> T + Sync,
    mut sink: impl FnMut(FileOutcome<T>) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let bar = progress::bar(sources.len(), "files");
    // Several files a thread, so that a slow one does not hold up the others.
    let batch_len = 8 * rayon::current_num_threads();
    let mut sources = sources.into_iter();
    loop {
        let batch: Vec<Source> = sources.by_ref().take(batch_len).collect();
        if batch.is_empty() {
            break;
        }
        let outcomes: Vec<Option<FileOutcome<T>>> = batch
            .into_par_iter()
            .map_init(
                || reading.worker(),
                |worker, source| {
                    let outcome = (!interrupt::is_asked()).then(|| read_one(source, reading, worker, &work));
                    bar.inc(1);
                    outcome
                },
            )
            .collect();
        for outcome in outcomes.into_iter().flatten() {
            bar.suspend(|| sink(outcome))?;
        }
        if interrupt::is_asked() {
            bar.finish_and_clear();
            printer.problem("stopped before all files were read; what is finished is kept");
            return Ok(false);
        }
    }
    bar.finish_and_clear();
    Ok(true)
}

fn read_one<T>(
    source: Source,
    reading: &Reading,
    worker: &mut Worker,
    work: &impl Fn(&mut Worker, &AudioClip, ClipCondition) -> T,
) -> FileOutcome<T> {
    let mut outcome = FileOutcome { source, clips: Vec::new(), problem: None, seconds_dropped: 0.0 };
    let mut reader = match ClipReader::open(&outcome.source.location, &reading.settings) {
        Ok(reader) => reader,
        Err(error) => return FileOutcome { problem: Some(error.to_string()), ..outcome },
    };
    for clip in reader.by_ref() {
        match clip {
            Ok(clip) => {
                let condition = ClipCondition::of(&clip.samples, reading.length);
                let result = work(worker, &clip, condition);
                let AudioClip { start_seconds, extent, .. } = clip;
                outcome.clips.push(ClipOutcome { start_seconds, condition, extent, result });
            }
            Err(error) => outcome.problem = Some(error.to_string()),
        }
        if interrupt::is_asked() {
            outcome.problem = Some(format!("{}: stopped while reading", outcome.source.label));
            break;
        }
    }
    outcome.seconds_dropped = reader.facts().seconds_dropped;
    outcome
}

/// Turns paths into sources, telling what could not be used. Returns the sources and whether all
/// inputs gave some.
pub(crate) fn expand(
    paths: &[String],
    visit: Option<&str>,
    domain: Option<&str>,
    printer: &Printer,
) -> anyhow::Result<(Vec<Source>, bool)> {
    let expanded = auscult_audio::expand(paths);
    for problem in &expanded.problems {
        printer.problem(problem);
    }
    let mut sources = expanded.sources;
    anyhow::ensure!(!sources.is_empty(), "no sound found in {}", paths.join(", "));
    for source in &mut sources {
        source.visit = visit.map(str::to_owned).or(source.visit.take());
        source.domain = domain.map(str::to_owned).or(source.domain.take());
    }
    Ok((sources, expanded.problems.is_empty()))
}

/// Reads `0`, `1`, ... or `mean`, as a model file holds it.
pub(crate) fn channel(text: &str) -> anyhow::Result<ChannelRule> {
    text.parse().with_context(|| format!("channel rule {text:?}"))
}

/// `path` or `path at 30.0 s`.
pub(crate) fn clip_name(label: &str, start_seconds: f64) -> String {
    if start_seconds > 0.0 { format!("{label} at {start_seconds:.1} s") } else { label.to_owned() }
}

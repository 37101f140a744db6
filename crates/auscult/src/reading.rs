//! 2. Reading: sources become judged clips, on all cores, in order, in bounded memory.

use std::{
    collections::VecDeque,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use auscult_audio::{
    AudioClip, ChannelRule, CheckedReadSettings, ClipReader, Extent, Location, Part, ReadSettings,
    Source,
};
use auscult_core::{
    ClipCondition, ClipLength, ClipScore, ClipSettings, ClipVectors, Control, Event, Extractor,
    FrontEnd, QualityMeter, quality::RecordingKind,
};
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};

use crate::{
    ClipRules, Error, Result,
    waiting::{LivePiece, LiveSource},
};

/// How sound is cut into clips and which of them are used.
#[derive(Debug, Clone)]
pub struct Reading {
    settings: CheckedReadSettings,
    length: ClipLength,
    rules: ClipRules,
}

impl Reading {
    /// Clips of one length and rate, by these rules.
    ///
    /// # Errors
    ///
    /// If a length, rate or hop is out of range.
    pub fn new(
        clip: ClipSettings,
        channel: ChannelRule,
        hop_seconds: Option<f64>,
        rules: ClipRules,
    ) -> Result<Self> {
        let settings = ReadSettings {
            sample_rate: clip.sample_rate,
            channel,
            clip_seconds: clip.seconds,
            hop_seconds,
            range: rules.clips,
        };
        Ok(Self { length: clip.check()?, settings: settings.check()?, rules })
    }

    /// The length of a clip in samples.
    pub fn length(&self) -> ClipLength {
        self.length
    }

    /// Which channel is read.
    pub fn channel(&self) -> ChannelRule {
        self.settings.settings().channel
    }

    /// Which clips are used.
    pub fn rules(&self) -> ClipRules {
        self.rules
    }

    /// Time from one clip's start to the next.
    pub fn hop_seconds(&self) -> f64 {
        let settings = self.settings.settings();
        settings.hop_seconds.unwrap_or(settings.clip_seconds)
    }

    /// How sound is read, for those who open it themselves.
    pub fn settings(&self) -> &CheckedReadSettings {
        &self.settings
    }

    /// The clips of one recording, each judged before anything is done with it.
    ///
    /// # Errors
    ///
    /// If the recording cannot be opened.
    pub fn clips(&self, location: &Location) -> auscult_audio::Result<JudgedClips> {
        Ok(JudgedClips::new(ClipReader::open(location, &self.settings)?, self.length))
    }

    /// The clips of sound in a stream of bytes; `label` names it in errors.
    ///
    /// # Errors
    ///
    /// If the sound cannot be opened.
    pub fn clips_of_stream(
        &self,
        label: &str,
        stream: impl std::io::Read + Send + Sync + 'static,
    ) -> auscult_audio::Result<JudgedClips> {
        let reader = ClipReader::from_stream(label, stream, &self.settings)?;
        Ok(JudgedClips::new(reader, self.length))
    }

    /// The clips of a sound file in memory, or of a part of it; `label` names it in errors.
    ///
    /// # Errors
    ///
    /// If the sound cannot be opened.
    pub fn clips_of_bytes(
        &self,
        label: &str,
        bytes: Arc<[u8]>,
        part: Option<Part>,
    ) -> auscult_audio::Result<JudgedClips> {
        let reader = ClipReader::from_bytes(label, bytes, part, &self.settings)?;
        Ok(JudgedClips::new(reader, self.length))
    }

    /// The samples of the clip that starts at `start_seconds`; `None` if there is none, or the recording cannot be read.
    pub fn samples_at(&self, location: &Location, start_seconds: f64) -> Option<Vec<f32>> {
        let is_wanted = |clip: &auscult_audio::Result<JudgedClip>| {
            clip.as_ref().is_ok_and(|clip| clip.start_seconds >= start_seconds - 1e-3)
        };
        Some(self.clips(location).ok()?.find(is_wanted)?.ok()?.samples)
    }

    /// Reads all sources and does `work` with every clip, each thread with buffers of its own.
    ///
    /// What comes out is in the order of the sources, whatever the number of threads.
    pub fn read_all<'a, T: Send + 'a>(
        &self,
        front_end: &Arc<dyn FrontEnd>,
        sources: Vec<Source>,
        threads: &Arc<Threads>,
        control: &Control,
        work: impl Fn(&mut Worker, &Source, &JudgedClip) -> T + Send + Sync + 'a,
    ) -> ReadAll<'a, T> {
        control.report(Event::Started { what: "files", total: sources.len(), name: "" });
        let shared = Shared {
            reading: self.clone(),
            front_end: Arc::clone(front_end),
            control: control.clone(),
            work: Box::new(work),
            workers: Mutex::default(),
        };
        ReadAll {
            shared,
            sources: sources.into_iter().peekable(),
            threads: Arc::clone(threads),
            live: None,
            ready: VecDeque::new(),
            is_finished: false,
        }
    }
}

/// One clip and what a look at its samples says.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedClip {
    /// Where it starts in the recording.
    pub start_seconds: f64,
    /// At most one clip length, never padded.
    pub samples: Vec<f32>,
    /// Whether it has its full length, and if not, why.
    pub extent: Extent,
    /// Whether it is worth scoring.
    pub condition: ClipCondition,
    /// How the recording is stored.
    pub recording: Arc<RecordingKind>,
}

/// The clips of one recording.
#[derive(Debug)]
pub struct JudgedClips {
    reader: ClipReader,
    length: ClipLength,
    recording: Arc<RecordingKind>,
}

impl JudgedClips {
    fn new(reader: ClipReader, length: ClipLength) -> Self {
        let facts = reader.facts();
        let (codec, bits, sample_rate) = (facts.codec, facts.bits, facts.sample_rate);
        Self { reader, length, recording: Arc::new(RecordingKind { codec, bits, sample_rate }) }
    }

    /// The clips of another part of the same recording, which was opened with a part, going on from here if that is
    /// possible; `None` if it has to be opened again.
    ///
    /// # Errors
    ///
    /// If the sound cannot be read that way.
    pub fn next_part(self, part: Part, reading: &Reading) -> auscult_audio::Result<Option<Self>> {
        let next = self.reader.next_part(part, &reading.settings)?;
        Ok(next.map(|reader| Self::new(reader, reading.length)))
    }

    /// Channels of the recording.
    pub fn channels(&self) -> usize {
        self.reader.facts().channels
    }

    /// Sound at the end that was too short for a clip; known once all clips are read.
    pub fn seconds_dropped(&self) -> f64 {
        self.reader.facts().seconds_dropped
    }
}

impl Iterator for JudgedClips {
    type Item = auscult_audio::Result<JudgedClip>;

    fn next(&mut self) -> Option<Self::Item> {
        let judged = |AudioClip { start_seconds, samples, extent, .. }: AudioClip| JudgedClip {
            start_seconds,
            condition: ClipCondition::of(&samples, self.length),
            samples,
            extent,
            recording: Arc::clone(&self.recording),
        };
        Some(self.reader.next()?.map(judged))
    }
}

/// The threads that work is done on: the caller's pool, or a number of its own.
#[derive(Debug, Default)]
pub struct Threads(Option<ThreadPool>);

impl Threads {
    /// As many threads, or those of the current rayon pool with `None`.
    ///
    /// # Errors
    ///
    /// [`Error::Threads`] if they cannot be started.
    pub fn new(jobs: Option<NonZeroUsize>) -> Result<Self> {
        let Some(jobs) = jobs else { return Ok(Self(None)) };
        let pool = ThreadPoolBuilder::new().num_threads(jobs.get()).build();
        let failed = |error: rayon::ThreadPoolBuildError| Error::Threads {
            jobs: jobs.get(),
            reason: error.to_string(),
        };
        Ok(Self(Some(pool.map_err(failed)?)))
    }

    /// Does work on these threads.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn count(&self) -> usize {
        self.0.as_ref().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads)
    }
}

/// The buffers of one thread.
pub struct Worker {
    /// Computes features.
    pub extractor: Box<dyn Extractor>,
    /// Room for the vectors of a clip.
    pub vectors: ClipVectors,
    /// Measures input quality.
    pub meter: QualityMeter,
    /// Room for a score, once there is a detector.
    pub(crate) score: Option<ClipScore>,
}

impl Worker {
    pub(crate) fn new(front_end: &dyn FrontEnd, length: ClipLength) -> Self {
        Self {
            extractor: front_end.extractor(),
            vectors: ClipVectors::for_front_end(front_end),
            meter: QualityMeter::new(length.sample_rate()),
            score: None,
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Worker").field("vectors", &self.vectors).finish_non_exhaustive()
    }
}

/// What became of a source, clip by clip.
#[derive(Debug)]
pub enum Piece<T> {
    /// A clip, with what `work` made of it.
    Clip(ReadClip<T>),
    /// The source has ended.
    End(SourceEnd),
}

/// A clip that was read, without its samples.
#[derive(Debug)]
pub struct ReadClip<T> {
    /// Where it came from.
    pub source: Arc<Source>,
    /// Where it starts there.
    pub start_seconds: f64,
    /// Whether it has its full length.
    pub extent: Extent,
    /// What a look at its samples says.
    pub condition: ClipCondition,
    /// What `work` made of it.
    pub result: T,
}

/// How a source ended.
#[derive(Debug)]
pub struct SourceEnd {
    /// Which one.
    pub source: Arc<Source>,
    /// Why it, or the rest of it, could not be read.
    pub problem: Option<String>,
    /// Sound at the end, too short for a clip.
    pub seconds_dropped: f64,
}

/// Reads sources batch by batch, on all threads; a live source clip by clip.
///
/// A cancelled reading ends after the clips it is busy with; [`ReadAll::is_cancelled`] then says so.
pub struct ReadAll<'a, T> {
    shared: Shared<'a, T>,
    sources: std::iter::Peekable<std::vec::IntoIter<Source>>,
    threads: Arc<Threads>,
    live: Option<(LiveSource, Worker)>,
    ready: VecDeque<Piece<T>>,
    is_finished: bool,
}

/// What is done with every clip.
type Work<'a, T> = dyn Fn(&mut Worker, &Source, &JudgedClip) -> T + Send + Sync + 'a;

/// What all threads use.
struct Shared<'a, T> {
    reading: Reading,
    front_end: Arc<dyn FrontEnd>,
    control: Control,
    work: Box<Work<'a, T>>,
    /// Workers that wait for the next file: planning transforms costs more than a clip does.
    workers: Mutex<Vec<Worker>>,
}

impl<T> fmt::Debug for ReadAll<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reading = &self.shared.reading;
        formatter.debug_struct("ReadAll").field("reading", reading).finish_non_exhaustive()
    }
}

impl<T> Shared<'_, T> {
    fn new_worker(&self) -> Worker {
        Worker::new(&*self.front_end, self.reading.length)
    }

    /// Lends a worker that nobody else has.
    fn with_worker<R>(&self, work: impl FnOnce(&mut Worker) -> R) -> R {
        let waiting = || self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = waiting().pop();
        let mut worker = spare.unwrap_or_else(|| self.new_worker());
        let result = work(&mut worker);
        waiting().push(worker);
        result
    }

    fn read_file(&self, source: Source) -> Vec<Piece<T>> {
        if self.control.is_cancelled() {
            return Vec::new();
        }
        let pieces = self.with_worker(|worker| self.pieces_of(source, worker));
        self.control.report(Event::Advanced);
        pieces
    }

    fn pieces_of(&self, source: Source, worker: &mut Worker) -> Vec<Piece<T>> {
        let source = Arc::new(source);
        let mut clips = match self.reading.clips(&source.location) {
            Ok(clips) => clips,
            Err(error) => return vec![end(source, Some(error.to_string()), 0.0)],
        };
        let mut pieces = Vec::new();
        let mut problem = None;
        for clip in clips.by_ref() {
            match clip {
                Ok(clip) => pieces.push(self.work_on(&source, &clip, worker)),
                Err(error) => problem = Some(error.to_string()),
            }
            if self.control.is_cancelled() {
                problem = Some(stopped(&source));
                break;
            }
        }
        pieces.push(end(source, problem, clips.seconds_dropped()));
        pieces
    }

    fn work_on(&self, source: &Arc<Source>, clip: &JudgedClip, worker: &mut Worker) -> Piece<T> {
        Piece::Clip(ReadClip {
            source: Arc::clone(source),
            start_seconds: clip.start_seconds,
            extent: clip.extent,
            condition: clip.condition,
            result: (self.work)(worker, source, clip),
        })
    }
}

/// Several files a thread, so that a slow one does not hold up the others.
const FILES_PER_THREAD: usize = 8;

impl<T: Send> ReadAll<'_, T> {
    /// Whether the reading was cancelled before its end.
    pub fn is_cancelled(&self) -> bool {
        self.shared.control.is_cancelled()
    }

    fn read_batch(&mut self) {
        let most = FILES_PER_THREAD * self.threads.count();
        let sources = &mut self.sources;
        let batch: Vec<Source> =
            std::iter::from_fn(|| sources.next_if(|next| !next.is_live())).take(most).collect();
        let shared = &self.shared;
        let pieces: Vec<Vec<Piece<T>>> = self
            .threads
            .run(|| batch.into_par_iter().map(|source| shared.read_file(source)).collect());
        self.ready.extend(pieces.into_iter().flatten());
    }

    /// The next clip of the live source as soon as it is there, or its end.
    fn read_live(&mut self) -> Option<Piece<T>> {
        let (live, mut worker) = self.live.take()?;
        let piece = match live.wait(&self.shared.control) {
            LivePiece::Clip(clip) => {
                let piece = self.shared.work_on(&live.source, &clip, &mut worker);
                if self.is_cancelled() {
                    let problem = stopped(&live.source);
                    self.ready.push_back(end(live.source, Some(problem), 0.0));
                } else {
                    self.live = Some((live, worker));
                }
                return Some(piece);
            }
            LivePiece::End(problem, seconds_dropped) => end(live.source, problem, seconds_dropped),
            LivePiece::Cancelled => {
                let problem = stopped(&live.source);
                end(live.source, Some(problem), 0.0)
            }
        };
        self.shared.control.report(Event::Advanced);
        Some(piece)
    }

    /// Opens the next source if it is live; why it could not be opened comes out as its end.
    fn open_live(&mut self) -> bool {
        let Some(source) = self.sources.next_if(Source::is_live) else { return false };
        match LiveSource::start(source.clone(), &self.shared.reading) {
            Ok(live) => self.live = Some((live, self.shared.new_worker())),
            Err(error) => {
                self.ready.push_back(end(Arc::new(source), Some(error.to_string()), 0.0));
            }
        }
        true
    }
}

impl<T: Send> Iterator for ReadAll<'_, T> {
    type Item = Piece<T>;

    fn next(&mut self) -> Option<Piece<T>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if let Some(piece) = self.read_live() {
                return Some(piece);
            }
            if self.is_cancelled() || self.sources.peek().is_none() {
                if !std::mem::replace(&mut self.is_finished, true) {
                    self.shared.control.report(Event::Finished);
                }
                return None;
            }
            if !self.open_live() {
                self.read_batch();
            }
        }
    }
}

fn end<T>(source: Arc<Source>, problem: Option<String>, seconds_dropped: f64) -> Piece<T> {
    Piece::End(SourceEnd { source, problem, seconds_dropped })
}

fn stopped(source: &Source) -> String {
    format!("{}: stopped while reading", source.label)
}

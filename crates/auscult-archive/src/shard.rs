//! 5. The pure function: clips in, rows out.

use std::{
    num::NonZeroUsize,
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, ScopedJoinHandle},
};

use auscult::{
    ClipCondition, ClipRules, Control, Event, Machine, Reading, Scorer,
    audio::{Extent, Location, Source},
    reading::JudgedClips,
};

use crate::{
    ArchiveRow, ClipReference, Error, Models, Settings, Sound, read_ahead::ReadAhead, sound::Place,
};

/// Clips that a thread takes at a time: enough to go on within a recording, few enough to share a shard.
const CLIPS_AT_A_TIME: usize = 16;

/// Scores the clips of a shard: the same clips, model and settings give the same rows, whoever calls it and on however
/// many threads.
///
/// Everything that is wrong with a clip is an error in its row, never an error of the shard.
#[derive(Debug, Clone, Copy)]
pub struct ShardScorer<'a> {
    /// The models.
    pub models: &'a Models,
    /// How clips are read.
    pub settings: &'a Settings,
    /// Where they are.
    pub sound: &'a Sound,
    /// Threads to use.
    pub jobs: NonZeroUsize,
    /// Who is told of every clip that is done, and who may stop the work.
    pub control: &'a Control,
}

impl ShardScorer<'_> {
    /// The rows of these clips, in their order; a recording that is longer than a clip has several.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if it was stopped, and no rows then.
    pub fn score(&self, clips: &[ClipReference]) -> Result<Vec<ArchiveRow>, Error> {
        let pieces: Vec<&[ClipReference]> = clips.chunks(CLIPS_AT_A_TIME).collect();
        let read_ahead = ReadAhead::new(self.sound, clips);
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        // Pieces are taken in their order, so what was fetched first is used first.
        let work = || {
            let mut worker = Worker::new(self, &read_ahead);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(index) else { return };
                let mut rows = Vec::new();
                for clip in *piece {
                    if self.control.is_cancelled() {
                        return;
                    }
                    worker.score(clip, &mut rows);
                    read_ahead.release(&clip.uri);
                    self.control.report(Event::Advanced);
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).push((index, rows));
            }
        };
        thread::scope(|scope| {
            for _ in 0..read_ahead.connections() {
                scope.spawn(|| read_ahead.fetch());
            }
            let workers = self.jobs.get().min(pieces.len());
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let ends: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
            read_ahead.stop();
            // A panic is not an end: it goes on here.
            for end in ends {
                end.unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        if self.control.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done.into_iter().flat_map(|(_, rows)| rows).collect())
    }
}

/// What a thread works with.
struct Worker<'a> {
    shard: &'a ShardScorer<'a>,
    read_ahead: &'a ReadAhead<'a>,
    settings_hash: String,
    /// The machine of the last clip, and how sound is read for it.
    machine: Option<(Arc<Machine>, Reading)>,
    scorer: Option<Scorer<'static>>,
    /// The recording of the last clip, at the end of the part that was read.
    open: Option<(String, JudgedClips)>,
}

impl<'a> Worker<'a> {
    fn new(shard: &'a ShardScorer<'a>, read_ahead: &'a ReadAhead<'a>) -> Self {
        let settings_hash = shard.settings.hash();
        Self { shard, read_ahead, settings_hash, machine: None, scorer: None, open: None }
    }

    /// Adds the rows of a clip.
    fn score(&mut self, clip: &ClipReference, rows: &mut Vec<ArchiveRow>) {
        let hash = self.settings_hash.clone();
        let (machine, reading) = match self.machine_of(clip) {
            Ok(found) => found,
            Err(reason) => return rows.push(ArchiveRow::of_error(clip, reason, None, &hash)),
        };
        let failed =
            |reason: String| ArchiveRow::of_error(clip, reason, Some(&**machine.hash()), &hash);
        let mut clips = match self.clips_of(clip, &reading) {
            Ok(clips) => clips,
            Err(reason) => return rows.push(failed(reason)),
        };
        let scorer = match &mut self.scorer {
            Some(scorer) => {
                scorer.switch_to(&machine);
                scorer
            }
            none => none.insert(Scorer::shared(Arc::clone(&machine))),
        };
        let path = self.shard.sound.path_of(&clip.uri).unwrap_or_default();
        let mut source = Source::new(Location::File(path));
        (source.label, source.domain) = (clip.uri.clone(), clip.domain.clone());
        for judged in clips.by_ref() {
            match judged {
                // What is left of a damaged recording is short because of the damage, which is told next.
                Ok(piece)
                    if piece.extent == Extent::CutByDamage
                        && matches!(piece.condition, ClipCondition::TooShort { .. }) => {}
                Ok(piece) => {
                    rows.push(ArchiveRow::of_record(&scorer.score_read(&source, &piece), &hash));
                }
                Err(error) => rows.push(failed(error.to_string())),
            }
        }
        self.open = clip.part().map(|_| (clip.uri.clone(), clips));
    }

    /// The machine that judges a clip, and how sound is read for it.
    fn machine_of(&mut self, clip: &ClipReference) -> Result<(Arc<Machine>, Reading), String> {
        let machine = self.shard.models.of(clip.machine.as_deref())?;
        if let Some((last, reading)) = &self.machine
            && Arc::ptr_eq(last, &machine)
        {
            return Ok((machine, reading.clone()));
        }
        let Settings { channel, hop_seconds } = *self.shard.settings;
        let channel = channel.unwrap_or(machine.reading().channel());
        let settings = machine.model().settings().clip;
        let reading = Reading::new(settings, channel, hop_seconds, ClipRules::field());
        let reading = reading.map_err(|error| error.to_string())?;
        self.machine = Some((Arc::clone(&machine), reading.clone()));
        // It may have been opened for another rate or channel.
        self.open = None;
        Ok((machine, reading))
    }

    fn clips_of(&mut self, clip: &ClipReference, reading: &Reading) -> Result<JudgedClips, String> {
        let part = clip.part();
        if part.is_none() && (clip.start_seconds.is_some() || clip.seconds.is_some()) {
            return Err(format!("{}: start_seconds and seconds must be at least 0", clip.uri));
        }
        if let (Some((uri, before)), Some(part)) = (self.open.take(), part)
            && uri == clip.uri
            && let Some(clips) =
                before.next_part(part, reading).map_err(|error| error.to_string())?
        {
            return Ok(clips);
        }
        let clips = match self.read_ahead.get(&clip.uri)? {
            Place::Bytes(bytes) => reading.clips_of_bytes(&clip.uri, bytes, part),
            Place::File(path) => {
                let location = match part {
                    Some(part) => Location::Part(path, part),
                    None => Location::File(path),
                };
                if location.is_live() {
                    return Err(format!("{}: is a pipe, not a recording", clip.uri));
                }
                reading.clips(&location)
            }
        };
        clips.map_err(|error| error.to_string())
    }
}

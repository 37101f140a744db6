//! Live sound: pushed samples become records.

use std::sync::Arc;

use auscult_audio::LiveClips;
use auscult_core::{ClipCondition, ClipRecord};

use crate::{Machine, Result, Scorer};

/// Scores sound as it comes.
///
/// Records are used again from push to push, so nothing is allocated for a normal clip once the first ones are through.
///
/// # Examples
///
/// ```no_run
/// let pump = auscult::Machine::open("pump.auscult")?;
/// let mut live = pump.live_at(48_000)?;
/// # let microphone: Vec<Vec<f32>> = Vec::new();
/// for chunk in microphone {
///     for clip in live.push(&chunk)? {
///         println!("{:.0} s: {}, {}", clip.start_seconds(), clip.verdict(), clip.reason());
///     }
/// }
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug)]
pub struct Live<'a> {
    scorer: Scorer<'a>,
    sample_rate: u32,
    clips: Option<LiveClips>,
    records: Vec<ClipRecord>,
}

/// What the records of pushed sound are called.
const LIVE: &str = "live";

impl Live<'static> {
    /// As [`Machine::live_at`], for callers that cannot borrow the machine.
    ///
    /// # Errors
    ///
    /// If the rate is out of range.
    pub fn shared(machine: Arc<Machine>, sample_rate: u32) -> Result<Self> {
        let mut live =
            Self { scorer: Scorer::shared(machine), sample_rate, clips: None, records: Vec::new() };
        live.prepare()?;
        Ok(live)
    }
}

impl<'a> Live<'a> {
    pub(crate) fn new(machine: &'a Machine, sample_rate: u32) -> Self {
        Self { scorer: machine.scorer(), sample_rate, clips: None, records: Vec::new() }
    }

    /// Plans resampling and cutting, if that is not done yet.
    pub(crate) fn prepare(&mut self) -> Result<&mut LiveClips> {
        let settings = self.scorer.machine().reading().settings();
        Ok(match &mut self.clips {
            Some(clips) => clips,
            none => none.insert(LiveClips::new(self.sample_rate, settings)?),
        })
    }

    /// Takes the next samples, of any number, and gives the records of the clips they complete.
    ///
    /// # Errors
    ///
    /// If the sound cannot be resampled.
    pub fn push(&mut self, samples: &[f32]) -> Result<&[ClipRecord]> {
        self.prepare()?;
        let Self { scorer, clips, records, .. } = self;
        let mut count = 0;
        if let Some(clips) = clips {
            clips.push(samples, &mut |clip, start_seconds| {
                if count == records.len() {
                    records.push(ClipRecord::of(LIVE, 0.0, ClipCondition::Usable));
                }
                let record = &mut records[count];
                record.start_seconds = start_seconds;
                scorer.score_into(clip, record);
                count += 1;
            })?;
        }
        Ok(&records[..count])
    }

    /// Ends the sound: resampled sound may complete a last clip. Also tells how many seconds were left over.
    ///
    /// # Errors
    ///
    /// If the sound cannot be resampled.
    pub fn finish(mut self) -> Result<(Option<ClipRecord>, f64)> {
        let Some(clips) = self.clips.take() else { return Ok((None, 0.0)) };
        let mut last = None;
        let scorer = &mut self.scorer;
        let seconds_left = clips.finish(&mut |clip, start_seconds| {
            let mut record = ClipRecord::of(LIVE, start_seconds, ClipCondition::Usable);
            scorer.score_into(clip, &mut record);
            last = Some(record);
        })?;
        Ok((last, seconds_left))
    }
}

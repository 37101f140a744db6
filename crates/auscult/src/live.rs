//! Live sound: pushed samples become records.

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
    clips: LiveClips,
    records: Vec<ClipRecord>,
}

/// What the records of pushed sound are called.
const LIVE: &str = "live";

impl<'a> Live<'a> {
    pub(crate) fn new(machine: &'a Machine, sample_rate: u32) -> Result<Self> {
        let clips = LiveClips::new(sample_rate, machine.reading().settings())?;
        Ok(Self { scorer: machine.scorer(), clips, records: Vec::new() })
    }

    /// Takes the next samples, of any number, and gives the records of the clips they complete.
    ///
    /// # Errors
    ///
    /// If the sound cannot be resampled.
    pub fn push(&mut self, samples: &[f32]) -> Result<&[ClipRecord]> {
        let Self { scorer, clips, records } = self;
        let mut count = 0;
        clips.push(samples, &mut |clip, start_seconds| {
            if count == records.len() {
                records.push(ClipRecord::of(LIVE, 0.0, ClipCondition::Usable));
            }
            let record = &mut records[count];
            record.start_seconds = start_seconds;
            scorer.score_into(clip, record);
            count += 1;
        })?;
        Ok(&records[..count])
    }
}

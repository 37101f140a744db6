//! 3. The ear of a machine: sound that arrives in pieces becomes clips with times.

use auscult::audio::{CheckedReadSettings, LiveClips};

use crate::error::Result;

/// Samples of one channel that arrived together.
#[derive(Debug, Clone)]
pub struct Sound {
    /// Mono; full scale is 1.
    pub samples: Vec<f32>,
    /// Samples a second.
    pub sample_rate: u32,
    /// When the last of them arrived.
    pub arrived: f64,
    /// Whether it is a recording of its own, such as of a recorder that wakes up every minute, and not part of a stream.
    pub stands_alone: bool,
}

/// Cuts a stream into clips.
#[derive(Debug)]
pub(super) struct Ear {
    clips: LiveClips,
    sample_rate: u32,
    /// When the stream began, by the clock.
    began: f64,
    pushed: u64,
}

/// Something about a stream that its clips cannot show.
#[derive(Debug, Clone, PartialEq)]
pub enum Seam {
    /// Sound is missing: this many seconds.
    Gap(f64),
    /// The sample rate is another one: before and now.
    Rate(u32, u32),
}

/// Sound may be this late before it counts as missing.
const LATE_SECONDS: f64 = 2.0;

impl Ear {
    /// Begins with sound that is arriving now.
    ///
    /// # Errors
    ///
    /// If the sample rate cannot be converted.
    pub(super) fn new(sound: &Sound, settings: &CheckedReadSettings) -> Result<Self> {
        let seconds = sound.samples.len() as f64 / f64::from(sound.sample_rate.max(1));
        Ok(Self {
            clips: LiveClips::new(sound.sample_rate, settings)?,
            sample_rate: sound.sample_rate,
            began: sound.arrived - seconds,
            pushed: 0,
        })
    }

    /// Whether this sound does not follow on what came before.
    pub(super) fn seam(&self, sound: &Sound) -> Option<Seam> {
        if sound.sample_rate != self.sample_rate {
            return Some(Seam::Rate(self.sample_rate, sound.sample_rate));
        }
        let pushed = self.pushed + sound.samples.len() as u64;
        let expected = self.began + pushed as f64 / f64::from(self.sample_rate);
        let missing = sound.arrived - expected;
        (missing > LATE_SECONDS).then_some(Seam::Gap(missing))
    }

    /// Takes the next samples and gives each clip they fill, with when it began.
    ///
    /// # Errors
    ///
    /// If the sound cannot be resampled.
    pub(super) fn push(
        &mut self,
        samples: &[f32],
        each: &mut dyn FnMut(&[f32], f64),
    ) -> Result<()> {
        self.pushed += samples.len() as u64;
        let began = self.began;
        self.clips.push(samples, &mut |clip, start_seconds| each(clip, began + start_seconds))?;
        Ok(())
    }

    /// The clock was set.
    pub(super) fn shift_clock(&mut self, seconds: f64) {
        self.began += seconds;
    }
}

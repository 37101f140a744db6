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
    /// How late the last sound was, compared with the first.
    late: f64,
}

/// Something about the order of sound that its clips cannot show.
#[derive(Debug, Clone, PartialEq)]
pub enum Seam {
    /// Sound is missing: this many seconds.
    Gap(f64),
    /// This many seconds were recorded twice.
    Overlap(f64),
    /// The recorder's clock was this many seconds slow, or fast if negative; from here on the times are ours again.
    Clocks(f64),
    /// The sample rate is another one: before and now.
    Rate(u32, u32),
}

impl Seam {
    /// What is remarked at the clip after it; nothing where an event says it.
    pub(super) fn remark(&self) -> Option<String> {
        match self {
            Self::Gap(seconds) => Some(format!("gap of {seconds:.1} s")),
            Self::Overlap(seconds) => Some(format!("overlap of {seconds:.1} s")),
            Self::Clocks(seconds) => {
                let word = if *seconds > 0.0 { "slow" } else { "fast" };
                Some(format!("recorder's clock {word} by {:.1} s", seconds.abs()))
            }
            Self::Rate(..) => None,
        }
    }
}

/// Sound may be this late before it counts as missing, and recordings may overlap by this much: names have whole seconds.
const LATE_SECONDS: f64 = 2.0;

/// Clocks of recorders differ by less than this share; what is later is missing, and what is earlier is sent faster than it plays.
const CLOCKS: f64 = 0.001;

/// Clocks move apart in smaller steps than this, from one piece of sound to the next.
const STEP_SECONDS: f64 = 0.5;

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
            late: 0.0,
        })
    }

    /// Whether this sound does not follow on what came before. A recorder's clock is never quite ours: what has added up over hours is
    /// taken back, so that times stay right for months.
    pub(super) fn seam(&mut self, sound: &Sound) -> Option<Seam> {
        if sound.sample_rate != self.sample_rate {
            return Some(Seam::Rate(self.sample_rate, sound.sample_rate));
        }
        let pushed = self.pushed + sound.samples.len() as u64;
        let played = pushed as f64 / f64::from(self.sample_rate);
        let late = sound.arrived - self.began - played;
        let step = late - std::mem::replace(&mut self.late, late);
        if late.abs() <= LATE_SECONDS {
            return None;
        }
        if late.abs() <= CLOCKS * played && step.abs() <= STEP_SECONDS {
            self.began += late;
            self.late = 0.0;
            return Some(Seam::Clocks(late));
        }
        (late > 0.0).then_some(Seam::Gap(late))
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

/// When the last recordings were made, where they say so themselves: what two of them hold is noticed.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    path: String,
    span: Option<(f64, f64)>,
    before: Option<(f64, f64)>,
}

impl Recorded {
    /// By how much a clip overlaps the recording before its own.
    pub(super) fn overlap(&mut self, path: &str, began: f64, seconds: f64) -> Option<Seam> {
        if self.path != path {
            path.clone_into(&mut self.path);
            self.before = self.span.take();
        }
        let end = began + seconds;
        let (from, to) = self.span.unwrap_or((began, end));
        self.span = Some((from.min(began), to.max(end)));
        let (from, to) = self.before?;
        let both = end.min(to) - began.max(from);
        (both > LATE_SECONDS).then_some(Seam::Overlap(both))
    }
}

#[cfg(test)]
mod tests {
    use auscult::audio::ReadSettings;

    use super::*;

    const RATE: u32 = 1_000;

    fn sound(seconds: f64, arrived: f64) -> Sound {
        let samples = vec![0.1; (seconds * f64::from(RATE)) as usize];
        Sound { samples, sample_rate: RATE, arrived, stands_alone: false }
    }

    /// Hears pieces of ten seconds that arrive at these times; gives the seams, and when the last clip ended.
    fn hear(arrivals: impl IntoIterator<Item = f64>) -> (Vec<Seam>, f64) {
        let settings = ReadSettings { sample_rate: RATE, ..ReadSettings::default() };
        let settings = settings.check().unwrap();
        let (mut ear, mut seams, mut end) = (None::<Ear>, Vec::new(), 0.0);
        for arrived in arrivals {
            let sound = sound(10.0, arrived);
            let mut now = ear.take().unwrap_or_else(|| Ear::new(&sound, &settings).unwrap());
            match now.seam(&sound) {
                Some(seam @ Seam::Gap(_)) => {
                    seams.push(seam);
                    now = Ear::new(&sound, &settings).unwrap();
                }
                other => seams.extend(other),
            }
            now.push(&sound.samples, &mut |clip, began| {
                end = began + clip.len() as f64 / f64::from(RATE);
            })
            .unwrap();
            ear = Some(now);
        }
        (seams, end)
    }

    #[test]
    fn clocks_that_move_apart_for_hours_are_no_gap_and_times_stay_right() {
        for pace in [1.0004, 0.9996] {
            let arrivals = (1..=2_000).map(|piece| 1e9 + 10.0 * pace * f64::from(piece));
            let (seams, end) = hear(arrivals);
            assert_eq!(seams.len(), 3, "8 s, of which 2 s each are taken back: {seams:?}");
            assert!(seams.iter().all(|seam| matches!(seam, Seam::Clocks(_))), "{seams:?}");
            let now = 1e9 + 20_000.0 * pace;
            assert!((end - now).abs() < 2.1, "{pace}: {}", end - now);
        }
    }

    #[test]
    fn what_is_missing_is_a_gap_also_after_hours() {
        for before in [10, 2_000] {
            let pause = |piece: u32| if piece > before { 5.0 } else { 0.0 };
            let (seams, _) = hear((1..=before + 9).map(|it| 10.0 * f64::from(it) + pause(it)));
            assert_eq!(seams, [Seam::Gap(5.0)]);
        }
        // Half a second of every piece is lost: too much for a clock.
        let (seams, _) = hear((1..=20).map(|piece| 10.5 * f64::from(piece)));
        assert!(seams.len() > 2 && seams.iter().all(|it| matches!(it, Seam::Gap(_))), "{seams:?}");
    }

    #[test]
    fn sound_that_is_sent_faster_than_it_plays_is_one_stream() {
        let (seams, end) = hear((1..=500).map(|piece| 1e9 + f64::from(piece)));
        assert_eq!(seams, []);
        assert!((end - (1e9 - 9.0 + 5_000.0)).abs() < 1e-3, "{end}");
    }

    #[test]
    fn recordings_of_the_same_time_overlap_and_clips_of_one_do_not() {
        let mut recorded = Recorded::default();
        assert_eq!(recorded.overlap("a", 0.0, 10.0), None);
        assert_eq!(recorded.overlap("a", 5.0, 10.0), None, "a hop of half a clip");
        assert_eq!(recorded.overlap("b", 14.0, 10.0), None, "names have whole seconds");
        assert_eq!(recorded.overlap("c", 16.0, 10.0), Some(Seam::Overlap(8.0)));
        assert_eq!(recorded.overlap("c", 26.0, 10.0), None);
        assert_eq!(recorded.overlap("d", 3.0, 10.0), None, "an older one comes late");
    }
}

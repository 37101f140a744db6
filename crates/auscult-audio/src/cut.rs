//! A stream of samples becomes clips of one length.

use crate::CheckedReadSettings;

/// One piece of sound: mono, at the wanted sample rate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AudioClip {
    /// Where the clip starts in the input, in seconds.
    pub start_seconds: f64,
    /// The samples: at most one clip length, never padded, not finite where the input is not.
    pub samples: Vec<f32>,
    /// Whether the clip has its full length, and if not, why.
    pub extent: Extent,
}

/// Whether a clip has its full length, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A full clip.
    Full,
    /// All of an input that is shorter than one clip.
    ShortFile,
    /// What was left when the input turned out to be cut or damaged; an error follows.
    CutByDamage,
}

/// Cuts a stream of samples; holds no more than one clip and one block.
#[derive(Debug)]
pub(crate) struct Cutter {
    clip_len: usize,
    hop_len: usize,
    sample_rate: u32,
    /// Samples from the next clip's start on.
    waiting: Vec<f32>,
    /// Samples between clips, still to be passed over.
    gap_left: usize,
    /// Where the next clip starts, in samples.
    next_clip_start: u64,
    taken: u64,
}

impl Cutter {
    pub(crate) fn new(settings: &CheckedReadSettings) -> Self {
        Self {
            clip_len: settings.clip_len(),
            hop_len: settings.hop_len(),
            sample_rate: settings.sample_rate(),
            waiting: Vec::new(),
            gap_left: 0,
            next_clip_start: 0,
            taken: 0,
        }
    }

    /// Whether no sample came yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// Whether no clip was full yet.
    pub(crate) fn is_before_first_clip(&self) -> bool {
        self.next_clip_start == 0
    }

    /// How many samples there is room for without growing.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.waiting.capacity()
    }

    pub(crate) fn push(&mut self, samples: &[f32]) {
        self.taken += samples.len() as u64;
        let passed_over = self.gap_left.min(samples.len());
        self.gap_left -= passed_over;
        let samples = &samples[passed_over..];
        // Room for a whole clip at once, unless the input may be shorter.
        let is_late = self.waiting.len() + samples.len() > self.waiting.capacity();
        if is_late && !self.waiting.is_empty() {
            self.waiting
                .reserve_exact((self.clip_len + samples.len()).saturating_sub(self.waiting.len()));
        }
        self.waiting.extend_from_slice(samples);
    }

    /// The next full clip, if its last sample has arrived.
    pub(crate) fn full_clip(&mut self) -> Option<AudioClip> {
        let start_seconds = self.start_seconds();
        let full = self.lend_clip()?.0;
        let samples = if self.hop_len >= self.clip_len {
            // Nothing of this clip is needed again: it goes out as it is.
            let next = self.waiting[self.hop_len.min(self.waiting.len())..].to_vec();
            let passed = self.waiting.len() - next.len();
            let mut samples = std::mem::replace(&mut self.waiting, next);
            samples.truncate(self.clip_len);
            self.count_passed(passed);
            samples
        } else {
            let samples = full.to_vec();
            self.pass_clip();
            samples
        };
        Some(AudioClip { start_seconds, samples, extent: Extent::Full })
    }

    /// The samples of the next full clip and where it starts, in seconds; it stays here until
    /// [`Self::pass_clip`].
    pub(crate) fn lend_clip(&self) -> Option<(&[f32], f64)> {
        Some((self.waiting.get(..self.clip_len)?, self.start_seconds()))
    }

    /// Goes on to the clip after the full one that waits.
    pub(crate) fn pass_clip(&mut self) {
        let passed = self.hop_len.min(self.waiting.len());
        self.waiting.drain(..passed);
        self.count_passed(passed);
    }

    fn count_passed(&mut self, samples: usize) {
        self.gap_left = self.hop_len - samples;
        self.next_clip_start += self.hop_len as u64;
    }

    /// Makes room for one clip and a block of `samples`, which is all there ever is.
    pub(crate) fn reserve(&mut self, samples: usize) {
        self.waiting.reserve_exact(self.clip_len + samples);
    }

    /// What is left at the end, if anything.
    pub(crate) fn rest(&mut self, extent: Extent) -> Option<AudioClip> {
        let samples = std::mem::take(&mut self.waiting);
        let start_seconds = self.start_seconds();
        (!samples.is_empty()).then_some(AudioClip { start_seconds, samples, extent })
    }

    fn start_seconds(&self) -> f64 {
        self.next_clip_start as f64 / f64::from(self.sample_rate)
    }

    /// The sound after the last clip that began a clip but did not fill it.
    pub(crate) fn dropped_seconds(&self) -> f64 {
        let covered = match self.next_clip_start {
            0 => 0,
            next => (next + self.clip_len as u64 - self.hop_len as u64).max(next),
        };
        self.taken.saturating_sub(covered) as f64 / f64::from(self.sample_rate)
    }
}

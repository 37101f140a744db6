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
        if self.waiting.len() < self.clip_len {
            return None;
        }
        let start_seconds = self.start_seconds();
        let passed = self.hop_len.min(self.waiting.len());
        let samples = if self.hop_len >= self.clip_len {
            // Nothing of this clip is needed again: it goes out as it is.
            let next = self.waiting[passed..].to_vec();
            let mut samples = std::mem::replace(&mut self.waiting, next);
            samples.truncate(self.clip_len);
            samples
        } else {
            let samples = self.waiting[..self.clip_len].to_vec();
            self.waiting.drain(..passed);
            samples
        };
        self.gap_left = self.hop_len - passed;
        self.next_clip_start += self.hop_len as u64;
        Some(AudioClip { start_seconds, samples, extent: Extent::Full })
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
        let last_clip_end = (self.next_clip_start + self.clip_len as u64) - self.hop_len as u64;
        let covered = last_clip_end.max(self.next_clip_start);
        self.taken.saturating_sub(covered) as f64 / f64::from(self.sample_rate)
    }
}

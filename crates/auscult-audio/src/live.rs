//! Sound that arrives piece by piece becomes clips.

use crate::cut::Cutter;
use crate::resample::Resampler;
use crate::{CheckedReadSettings, ClipRange, Error, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, Result};

/// Longer pieces are taken in parts of this many samples, so that memory stays bounded.
const PART_LEN: usize = 4_096;

/// Cuts live sound into clips, whatever the size of the pieces it arrives in.
///
/// The clips are bit for bit those that [`ClipReader`](crate::ClipReader) gives for the same sound
/// in a file. The sound is mono: the setting `channel` is for the one who records it. Memory is one
/// clip and one block; once the first blocks have passed, nothing is allocated.
///
/// # Examples
///
/// ```
/// use auscult_audio::{LiveClips, ReadSettings};
///
/// let settings = ReadSettings { clip_seconds: 1.0, ..Default::default() }.check()?;
/// let mut clips = LiveClips::new(48_000, &settings)?;
/// let mut starts = Vec::new();
/// for _ in 0..250 {
///     // 10 ms from a microphone.
///     clips.push(&[0.0; 480], &mut |clip, start_seconds| {
///         assert_eq!(clip.len(), 16_000);
///         starts.push(start_seconds);
///     })?;
/// }
/// let seconds_left = clips.finish(&mut |_, start_seconds| starts.push(start_seconds))?;
/// assert_eq!((starts, seconds_left), (vec![0.0, 1.0], 0.5));
/// # Ok::<(), auscult_audio::Error>(())
/// ```
#[derive(Debug)]
pub struct LiveClips {
    range: ClipRange,
    resampler: Resampler,
    cutter: Cutter,
    resampled: Vec<f32>,
}

impl LiveClips {
    /// Gets ready for sound with `sample_rate` samples a second.
    ///
    /// # Errors
    ///
    /// [`Error::SampleRate`] if the rate is outside [`MIN_SAMPLE_RATE`] to [`MAX_SAMPLE_RATE`],
    /// [`Error::Resample`] if it cannot be converted.
    pub fn new(sample_rate: u32, settings: &CheckedReadSettings) -> Result<Self> {
        let (min, max) = (MIN_SAMPLE_RATE, MAX_SAMPLE_RATE);
        if !(min..=max).contains(&sample_rate) {
            let input = "live sound".to_owned();
            return Err(Error::SampleRate { input, rate: sample_rate, min, max });
        }
        let resampler = Resampler::new(sample_rate, settings.sample_rate())?;
        let room = resampler.max_output_len(PART_LEN);
        let mut cutter = Cutter::new(settings);
        cutter.reserve(room);
        let resampled = Vec::with_capacity(room);
        Ok(Self { range: settings.settings().range, resampler, cutter, resampled })
    }

    /// Takes the next samples and calls `each` for every clip they fill, with its samples and where
    /// it starts, in seconds from the first sample on.
    ///
    /// # Errors
    ///
    /// [`Error::Resample`] if the resampler fails; what was pushed is lost then.
    pub fn push(&mut self, samples: &[f32], each: &mut dyn FnMut(&[f32], f64)) -> Result<()> {
        for part in samples.chunks(PART_LEN) {
            self.resampled.clear();
            self.resampler.push(part, &mut self.resampled)?;
            self.cut(each);
        }
        Ok(())
    }

    /// Ends the sound: the last clip may come only now, since a resampler looks ahead. Returns how
    /// many seconds at the end began a clip and did not fill it.
    ///
    /// # Errors
    ///
    /// As [`LiveClips::push`].
    pub fn finish(mut self, each: &mut dyn FnMut(&[f32], f64)) -> Result<f64> {
        self.resampled.clear();
        self.resampler.finish(&mut self.resampled)?;
        self.cut(each);
        Ok(if self.wants_more() { self.cutter.dropped_seconds() } else { 0.0 })
    }

    fn cut(&mut self, each: &mut dyn FnMut(&[f32], f64)) {
        if self.wants_more() {
            self.cutter.push(&self.resampled);
        }
        while self.wants_more()
            && let Some((clip, start_seconds)) = self.cutter.lend_clip()
        {
            each(clip, start_seconds);
            self.cutter.pass_clip();
        }
    }

    fn wants_more(&self) -> bool {
        self.range == ClipRange::All || self.cutter.is_before_first_clip()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Wav, noise, read, scaled};
    use crate::{AudioClip, Extent, ReadSettings};

    type Clips = Vec<(f64, Vec<u32>)>;

    fn bits(samples: &[f32]) -> Vec<u32> {
        samples.iter().map(|sample| sample.to_bits()).collect()
    }

    /// The clips of live sound in pieces of the given sizes, over and over, and what is left.
    fn live(samples: &[f32], rate: u32, pieces: &[usize], settings: ReadSettings) -> (Clips, f64) {
        let mut live = LiveClips::new(rate, &settings.check().unwrap()).unwrap();
        let mut clips = Vec::new();
        let mut take = |clip: &[f32], start: f64| clips.push((start, bits(clip)));
        let mut rest = samples;
        for len in pieces.iter().cycle() {
            let (piece, later) = rest.split_at((*len).min(rest.len()));
            live.push(piece, &mut take).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let left = live.finish(&mut take).unwrap();
        (clips, left)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn clips_are_those_of_a_file_with_the_same_sound(
            rate in prop::sample::select(vec![8_000, 16_000, 44_100, 48_000]),
            len in 1_usize..60_000,
            clip_len in 1_600_usize..8_000,
            hop_len in 200_usize..12_000,
            pieces in prop::collection::vec(1_usize..10_000, 1..5),
            range in prop::sample::select(vec![ClipRange::All, ClipRange::First]),
        ) {
            let settings = ReadSettings {
                clip_seconds: clip_len as f64 / 16_000.0,
                hop_seconds: Some(hop_len as f64 / 16_000.0),
                range,
                ..Default::default()
            };
            let samples = noise(len);
            let file = read(Wav::of_samples(&samples).rate(rate).bytes(), settings.clone());
            let full = |clip: &AudioClip| clip.extent == Extent::Full;
            let expected: Clips = file.into_iter().map(|clip| clip.unwrap()).filter(full)
                .map(|clip| (clip.start_seconds, bits(&clip.samples))).collect();
            let (clips, _) = live(&scaled(&samples), rate, &pieces, settings);
            prop_assert!(clips == expected, "{} clips for {}", clips.len(), expected.len());
        }
    }

    #[test]
    fn what_is_left_over_is_told() {
        let settings = ReadSettings { clip_seconds: 1.0, ..Default::default() };
        for (rate, len) in [(16_000, 40_000), (48_000, 120_000)] {
            let (clips, left) = live(&vec![0.1; len], rate, &[777], settings.clone());
            assert_eq!((clips.len(), left), (2, 0.5));
        }
        let (clips, left) = live(&[0.1; 4_000], 16_000, &[1_000], settings);
        assert_eq!((clips.len(), left), (0, 0.25));
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        let settings = ReadSettings::default().check().unwrap();
        for rate in [0, 999, 768_001, u32::MAX] {
            let error = LiveClips::new(rate, &settings).unwrap_err();
            assert!(matches!(error, Error::SampleRate { .. }), "{error}");
        }
    }
}

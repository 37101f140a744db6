//! Samples that are in memory already are sound too.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::Result;
use crate::decode::{Block, Format, check_format};

/// Samples handed out at a time, so that a long sound is cut and resampled in bounded memory.
const BLOCK_LEN: usize = 16_384;

/// Mono sound in memory; clones share the samples.
///
/// It is read exactly as a file with the same samples is. Two of them are equal if they share their samples.
///
/// # Examples
///
/// ```
/// use auscult_audio::{ClipReader, Location, MemorySound, ReadSettings};
///
/// let sound = MemorySound::new("hum", 16_000, vec![0.1; 16_000])?;
/// let settings = ReadSettings { clip_seconds: 0.5, ..Default::default() }.check()?;
/// let clips = ClipReader::open(&Location::Memory(sound), &settings)?;
/// assert_eq!(clips.count(), 2);
/// # Ok::<(), auscult_audio::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemorySound {
    name: Arc<str>,
    sample_rate: u32,
    samples: Arc<[f32]>,
}

impl MemorySound {
    /// Samples, full scale is 1, with what they are called in records and errors.
    ///
    /// # Errors
    ///
    /// [`crate::Error::SampleRate`] if the rate is outside [`crate::MIN_SAMPLE_RATE`] to
    /// [`crate::MAX_SAMPLE_RATE`].
    pub fn new(
        name: impl Into<Arc<str>>,
        sample_rate: u32,
        samples: impl Into<Arc<[f32]>>,
    ) -> Result<Self> {
        let name = name.into();
        check_format(&name, sample_rate, 1)?;
        Ok(Self { name, sample_rate, samples: samples.into() })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long it is, in seconds.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.sample_rate)
    }
}

impl PartialEq for MemorySound {
    fn eq(&self, other: &Self) -> bool {
        self.sample_rate == other.sample_rate && Arc::ptr_eq(&self.samples, &other.samples)
    }
}

impl Eq for MemorySound {}

impl Hash for MemorySound {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sample_rate.hash(state);
        Arc::as_ptr(&self.samples).cast::<f32>().hash(state);
    }
}

/// Hands out the samples block by block.
pub(crate) struct MemoryReader {
    samples: Arc<[f32]>,
    position: usize,
    format: Format,
}

impl MemoryReader {
    pub(crate) fn new(sound: &MemorySound) -> Self {
        let codec = "memory".to_owned();
        let format = Format { sample_rate: sound.sample_rate, channels: 1, bits: None, codec };
        Self { samples: Arc::clone(&sound.samples), position: 0, format }
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    pub(crate) fn next_block(&mut self, samples: &mut Vec<f32>) -> Block {
        samples.clear();
        let rest = &self.samples[self.position..];
        if rest.is_empty() {
            return Block::End;
        }
        let block = &rest[..rest.len().min(BLOCK_LEN)];
        samples.extend_from_slice(block);
        self.position += block.len();
        Block::Samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Wav, noise, read, scaled};
    use crate::{ClipReader, Error, Location, ReadSettings};

    fn open(sound: MemorySound, settings: &ReadSettings) -> ClipReader {
        ClipReader::open(&Location::Memory(sound), &settings.clone().check().unwrap()).unwrap()
    }

    #[test]
    fn sound_in_memory_is_read_as_the_same_sound_in_a_file() {
        let integers = noise(50_000);
        let settings = ReadSettings { clip_seconds: 0.25, ..Default::default() };
        for rate in [16_000, 44_100] {
            let bytes = Wav::of_samples(&integers).rate(rate).bytes();
            let of_file: Vec<_> =
                read(bytes, settings.clone()).into_iter().map(Result::unwrap).collect();
            let sound = MemorySound::new("x", rate, scaled(&integers)).unwrap();
            let of_memory: Vec<_> = open(sound, &settings).map(Result::unwrap).collect();
            assert_eq!(of_memory, of_file);
        }
    }

    #[test]
    fn nothing_and_odd_rates_are_refused_by_name() {
        let error = MemorySound::new("array 3", 10, vec![0.0]).unwrap_err();
        assert!(matches!(&error, Error::SampleRate { input, rate: 10, .. } if input == "array 3"));
        let nothing = MemorySound::new("array 3", 16_000, Vec::new()).unwrap();
        let error = open(nothing, &ReadSettings::default()).next().unwrap().unwrap_err();
        assert!(matches!(error, Error::NoSound { input } if input == "array 3"));
    }
}

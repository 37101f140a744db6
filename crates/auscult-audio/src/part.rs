//! Parts of recordings.

use std::ops::Range;
use std::time::Duration;

/// A part of a recording; it is read as a file with the same samples would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Part {
    /// Where it starts.
    pub start: Duration,
    /// How long it is; to the end of the recording if not given.
    pub length: Option<Duration>,
}

/// Which frames of an input are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    /// One past the last; the end of the input if not given.
    pub(crate) end: Option<u64>,
}

impl Window {
    pub(crate) fn of(part: Part, sample_rate: u32) -> Self {
        let frame = |time: Duration| (time.as_secs_f64() * f64::from(sample_rate)).round() as u64;
        let start = frame(part.start);
        Self { start, end: part.length.map(|length| start.saturating_add(frame(length))) }
    }

    /// The frames of a block that are read; the block is `frames` long and starts at `first`.
    pub(crate) fn within(self, first: u64, frames: usize) -> Range<usize> {
        let place = |frame: u64| {
            usize::try_from(frame.saturating_sub(first)).map_or(frames, |place| place.min(frames))
        };
        let start = place(self.start);
        start..self.end.map_or(frames, place).max(start)
    }

    pub(crate) fn is_over(self, frames_read: u64) -> bool {
        self.end.is_some_and(|end| frames_read >= end)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Wav, fixture, noise};
    use crate::{
        AudioClip, CheckedReadSettings, ClipReader, Error, Extent, Location, ReadSettings, Result,
    };

    /// Settings in samples at 16 kHz.
    fn settings(clip_len: usize, hop_len: usize) -> ReadSettings {
        ReadSettings {
            clip_seconds: clip_len as f64 / 16_000.0,
            hop_seconds: Some(hop_len as f64 / 16_000.0),
            ..Default::default()
        }
    }

    fn ok(clips: Vec<Result<AudioClip>>) -> Vec<AudioClip> {
        clips.into_iter().map(Result::unwrap).collect()
    }

    fn part(start: f64, length: Option<f64>) -> Part {
        let seconds = Duration::from_secs_f64;
        Part { start: seconds(start), length: length.map(seconds) }
    }

    fn open_part(path: &Path, part: Part, settings: &CheckedReadSettings) -> ClipReader {
        ClipReader::open(&Location::Part(path.to_owned(), part), settings).unwrap()
    }

    /// Goes on with a reader if it can be done.
    fn next_part(
        last: Option<ClipReader>,
        path: &Path,
        part: Part,
        settings: &CheckedReadSettings,
    ) -> ClipReader {
        let next = last.and_then(|last| last.next_part(part, settings).unwrap());
        next.unwrap_or_else(|| open_part(path, part, settings))
    }

    /// The clips of a part, with their places in it.
    fn clips_of_part(reader: ClipReader, start: f64) -> (Vec<AudioClip>, ClipReader) {
        let mut reader = reader;
        let mut clips = ok(reader.by_ref().collect());
        for clip in &mut clips {
            clip.start_seconds = ((clip.start_seconds - start) * 1e6).round() / 1e6;
        }
        (clips, reader)
    }

    proptest! {
        #[test]
        fn a_part_is_read_as_a_file_of_its_own(
            (rate, channels) in prop_oneof![Just((16_000_u32, 1_u16)), Just((8_000, 2)), Just((16_000, 3))],
            cuts in prop::collection::vec((0_usize..60_000, 200_usize..9_000), 1..5),
            sorted in any::<bool>(),
        ) {
            let samples = noise(70_000 * usize::from(channels));
            let folder = tempfile::tempdir().unwrap();
            let write = |name: &str, samples: &[i16]| {
                let path = folder.path().join(name);
                std::fs::write(&path, Wav::of_samples(samples).rate(rate).channels(channels).bytes()).unwrap();
                path
            };
            let whole = write("whole.wav", &samples);
            let settings = settings(3_000, 2_000).check().unwrap();
            let mut cuts = cuts;
            if sorted {
                cuts.sort_unstable();
            }
            let mut last: Option<ClipReader> = None;
            for (start, len) in cuts {
                let own = &samples[start * usize::from(channels)..][..len * usize::from(channels)];
                let own = Location::File(write("own.wav", own));
                let expected = ok(ClipReader::open(&own, &settings).unwrap().collect());
                let rate = f64::from(rate);
                let (from, seconds) = (start as f64 / rate, len as f64 / rate);
                let place = part(from, Some(seconds));
                let alone = open_part(&whole, place, &settings);
                prop_assert_eq!(&clips_of_part(alone, from).0, &expected);
                let bytes = std::fs::read(&whole).unwrap().into();
                let in_memory = ClipReader::from_bytes("x", bytes, Some(place), &settings).unwrap();
                prop_assert_eq!(&clips_of_part(in_memory, from).0, &expected);
                let next = next_part(last.take(), &whole, place, &settings);
                let (clips, reader) = clips_of_part(next, from);
                prop_assert_eq!(clips, expected);
                last = Some(reader);
            }
        }
    }

    #[test]
    fn parts_of_compressed_files_are_their_samples() {
        let saw = |start: usize, len: usize| -> Vec<f32> {
            let value = |index: usize| ((3 * index % 2_001) as f32 - 1_000.0) / 2_048.0;
            (start..start + len).map(value).collect()
        };
        let settings = ReadSettings::default().check().unwrap();
        let mut reader: Option<ClipReader> = None;
        // Far ahead, within the same packet, a little ahead, back, and up to the end.
        for (start, len) in
            [(100_000, 500), (100_600, 700), (150_000, 30_000), (20_000, 500), (199_990, 10)]
        {
            let place = part(start as f64 / 16e3, Some(len as f64 / 16e3));
            let mut next = next_part(reader.take(), &fixture("long.flac"), place, &settings);
            let clip = next.next().unwrap().unwrap();
            assert_eq!(clip.start_seconds, start as f64 / 16e3);
            assert_eq!(clip.samples, saw(start, len));
            assert!(next.next().is_none());
            reader = Some(next);
        }
        // What cannot be entered anywhere is decoded up to there.
        let all = ClipReader::open(&Location::File(fixture("tone.mp3")), &settings).unwrap();
        let all = ok(all.collect()).remove(0).samples.len();
        let rest = open_part(&fixture("tone.mp3"), part(0.25, None), &settings);
        let rest = ok(rest.collect()).remove(0);
        assert!((all - 4_000).abs_diff(rest.samples.len()) < 2, "{} of {all}", rest.samples.len());
    }

    #[test]
    fn parts_beyond_the_end_are_errors_after_what_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wav");
        std::fs::write(&path, Wav::of_samples(&noise(16_000)).bytes()).unwrap();
        let settings = ReadSettings::default().check().unwrap();
        let read = |start, length| -> Vec<Result<AudioClip>> {
            open_part(&path, part(start, length), &settings).collect()
        };
        let clips = read(0.75, Some(0.5));
        let [Ok(piece), Err(error)] = &clips[..] else { panic!("{clips:?}") };
        assert_eq!((piece.extent, piece.samples.len()), (Extent::CutByDamage, 4_000));
        assert!(
            error.to_string().ends_with(
                "a.wav: ends after 1.000 s, before the part from 0.750 s to 1.250 s is over; correct \
                 start_seconds and seconds"
            ),
            "{error}"
        );
        for (start, length) in [(2.0, Some(1.0)), (2.0, None), (1e8, Some(1.0))] {
            assert!(matches!(read(start, length)[..], [Err(Error::PartBeyondEnd { .. })]));
        }
        // Times in manifests are rounded.
        assert!(matches!(read(0.5, Some(0.504))[..], [Ok(_)]));
        assert!(matches!(read(0.5, Some(0.0))[..], [Err(Error::NoSound { .. })]));
    }
}

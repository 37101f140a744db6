//! An input is read clip by clip.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use crate::channels::mix_down;
use crate::cut::Cutter;
use crate::decode::{Block, Decoder};
use crate::far::FarTaken;
use crate::input::Input;
use crate::part::Window;
use crate::resample::Resampler;
use crate::{
    AudioClip, ChannelRule, CheckedReadSettings, ClipRange, Error, Extent, Location, Part, Result,
};

/// What is known about an input, so far.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StreamFacts {
    /// The sample rate of the input, in Hz.
    pub sample_rate: u32,
    /// The number of channels of the input.
    pub channels: usize,
    /// A short name of its coding, such as `pcm_s16le` or `flac`.
    pub codec: String,
    /// Bits a sample, where the coding has them.
    pub bits: Option<u32>,
    /// How much sound was decoded, in seconds.
    pub seconds_read: f64,
    /// The tail that was too short for a clip and not returned, in seconds; 0 before the end.
    pub seconds_dropped: f64,
}

/// Reads the clips of one input, one after the other, in bounded memory.
///
/// Clips start every hop. Only full clips come out, with two exceptions: an input
/// shorter than one clip gives one short clip, and a damaged input gives the piece
/// before the damage, then one [`Error::Damaged`], then nothing more.
///
/// # Examples
///
/// ```no_run
/// use auscult_audio::{ClipReader, Location, ReadSettings};
///
/// let settings = ReadSettings::default().check()?;
/// let reader = ClipReader::open(&Location::File("pump.wav".into()), &settings)?;
/// for clip in reader {
///     let clip = clip?;
///     println!("{} s: {} samples", clip.start_seconds, clip.samples.len());
/// }
/// # Ok::<(), auscult_audio::Error>(())
/// ```
pub struct ClipReader {
    label: String,
    decoder: Decoder,
    channel: ChannelRule,
    far: Option<FarTaken>,
    range: ClipRange,
    resampler: Resampler,
    cutter: Cutter,
    stage: Stage,
    window: Window,
    /// Whether another part of the same input may be read from here on.
    can_resume: bool,
    frames_read: u64,
    seconds_dropped: f64,
    /// The last block, which ends at `frames_read`.
    interleaved: Vec<f32>,
    mono: Vec<f32>,
    resampled: Vec<f32>,
}

/// How far a reader has come.
enum Stage {
    /// More sound may follow.
    Reading,
    /// The sound ended as it should.
    Ended,
    /// The sound broke off.
    Broken(Error),
    /// Only this error is left to give.
    Failed(Error),
    /// Nothing more comes.
    Done,
}

impl ClipReader {
    /// Opens an input and reads its header.
    ///
    /// # Errors
    ///
    /// Any [`Error`] about the input: not there, not readable, empty, not sound, of a kind
    /// this build cannot decode, outside the limits, or without the wanted channel.
    pub fn open(location: &Location, settings: &CheckedReadSettings) -> Result<Self> {
        let (label, decoder) = Decoder::at(location)?;
        let part = match location {
            Location::Part(_, part) => Some(*part),
            _ => None,
        };
        Ok(Self::new(label, decoder, settings)?.of_part(part))
    }

    /// Reads from the bytes of a sound file, or a part of it; `label` names it in errors.
    ///
    /// # Errors
    ///
    /// As [`ClipReader::open`].
    pub fn from_bytes(
        label: &str,
        bytes: Arc<[u8]>,
        part: Option<Part>,
        settings: &CheckedReadSettings,
    ) -> Result<Self> {
        let decoder = Decoder::open(Input::from_bytes(label, bytes)?)?;
        Ok(Self::new(label.to_owned(), decoder, settings)?.of_part(part))
    }

    /// Another part of the input that was opened with a part before, going on from where the reader is if it can:
    /// parts that come in their order are decoded once. `None` if it has passed the part, or cannot go on.
    ///
    /// # Errors
    ///
    /// Those of [`ClipReader::open`].
    pub fn next_part(self, part: Part, settings: &CheckedReadSettings) -> Result<Option<Self>> {
        let window = Window::of(part, self.decoder.format().sample_rate);
        let block = self.interleaved.len() / self.decoder.format().channels;
        let is_ahead = window.start >= self.frames_read - block as u64;
        if !self.can_resume || !is_ahead {
            return Ok(None);
        }
        let mut next = Self::new(self.label, self.decoder, settings)?.of_part(Some(part));
        (next.frames_read, next.interleaved) = (self.frames_read, self.interleaved);
        // What the part before left of its last block is the first of this one.
        next.stage = next.pass_on(block).map_or_else(Stage::Broken, |()| Stage::Reading);
        Ok(Some(next))
    }

    fn of_part(self, part: Option<Part>) -> Self {
        let Some(part) = part else { return self };
        let window = Window::of(part, self.decoder.format().sample_rate);
        Self { window, can_resume: true, ..self }
    }

    /// Reads from any stream of bytes; `label` names it in errors.
    ///
    /// # Errors
    ///
    /// As [`ClipReader::open`], and [`Error::NeedsSeeking`] for formats that cannot be read
    /// front to back.
    pub fn from_stream(
        label: &str,
        stream: impl Read + Send + Sync + 'static,
        settings: &CheckedReadSettings,
    ) -> Result<Self> {
        let decoder = Decoder::open(Input::from_stream(label, stream)?)?;
        Self::new(label.to_owned(), decoder, settings)
    }

    fn new(label: String, decoder: Decoder, settings: &CheckedReadSettings) -> Result<Self> {
        let format = decoder.format();
        let channel = settings.settings().channel;
        if let Some(index) = channel.highest().filter(|&highest| highest >= format.channels) {
            return Err(Error::NoSuchChannel { input: label, index, channels: format.channels });
        }
        let resampler = Resampler::new(format.sample_rate, settings.sample_rate())?;
        let far = matches!(channel, ChannelRule::Without { .. })
            .then(|| FarTaken::new(format.sample_rate));
        Ok(Self {
            label,
            decoder,
            channel,
            far,
            range: settings.settings().range,
            resampler,
            cutter: Cutter::new(settings),
            stage: Stage::Reading,
            window: Window { start: 0, end: None },
            can_resume: false,
            frames_read: 0,
            seconds_dropped: 0.0,
            interleaved: Vec::new(),
            mono: Vec::new(),
            resampled: Vec::new(),
        })
    }

    /// What is known about the input so far; complete once the iterator has ended.
    pub fn facts(&self) -> StreamFacts {
        let format = self.decoder.format();
        StreamFacts {
            sample_rate: format.sample_rate,
            channels: format.channels,
            codec: format.codec.clone(),
            bits: format.bits,
            seconds_read: self.seconds_read(),
            seconds_dropped: self.seconds_dropped,
        }
    }

    fn seconds_read(&self) -> f64 {
        self.frames_read as f64 / f64::from(self.decoder.format().sample_rate)
    }

    /// Decodes one block and passes it on to the cutter.
    fn read_block(&mut self) -> Stage {
        if self.window.is_over(self.frames_read) {
            return self.flush().map_or_else(Stage::Broken, |()| Stage::Ended);
        }
        let outcome = match self.decoder.skip(self.frames_read, self.window.start) {
            Ok(frame) => {
                self.frames_read = frame;
                self.decoder.next_block(&mut self.interleaved)
            }
            Err(reason) => Err(reason),
        };
        match outcome {
            Ok(Block::Samples) => {
                let frames = self.interleaved.len() / self.decoder.format().channels;
                self.frames_read += frames as u64;
                self.pass_on(frames).map_or_else(Stage::Broken, |()| Stage::Reading)
            }
            Ok(Block::End) => match self.flush() {
                Ok(()) => self.missing_part().map_or(Stage::Ended, Stage::Broken),
                Err(error) => Stage::Broken(error),
            },
            Err(reason) => {
                self.can_resume = false;
                let damage = self.decoder.damage(&self.label, self.seconds_read(), reason);
                Stage::Broken(self.flush().err().unwrap_or(damage))
            }
        }
    }

    /// The error that the sound has ended before the part that was asked for.
    fn missing_part(&self) -> Option<Error> {
        let Window { start, end } = self.window;
        let end = end.unwrap_or(start);
        let sample_rate = self.decoder.format().sample_rate;
        let seconds = |frames: u64| frames as f64 / f64::from(sample_rate);
        // Times in manifests are rounded.
        let rounding = u64::from(sample_rate / 100);
        (self.frames_read + rounding < end).then(|| Error::PartBeyondEnd {
            input: self.label.clone(),
            seconds: self.seconds_read(),
            from: seconds(start),
            to: seconds(end),
        })
    }

    /// Passes on what is wanted of the last block, which has `frames` frames.
    fn pass_on(&mut self, frames: usize) -> Result<()> {
        let channels = self.decoder.format().channels;
        let wanted = self.window.within(self.frames_read - frames as u64, frames);
        let interleaved = &self.interleaved[wanted.start * channels..wanted.end * channels];
        if channels == 1 && self.resampler.is_idle() {
            self.cutter.push(interleaved);
            return Ok(());
        }
        self.mono.clear();
        match (&mut self.far, self.channel) {
            (Some(taking), ChannelRule::Without { near, far }) => {
                let frames = interleaved.chunks_exact(channels);
                taking.push(frames.map(|frame| (frame[near], frame[far])), &mut self.mono);
            }
            (_, channel) => mix_down(interleaved, channels, channel, &mut self.mono),
        }
        self.resampled.clear();
        self.resampler.push(&self.mono, &mut self.resampled)?;
        self.cutter.push(&self.resampled);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.resampled.clear();
        if let Some(taking) = &mut self.far {
            self.mono.clear();
            taking.finish(&mut self.mono);
            self.resampler.push(&self.mono, &mut self.resampled)?;
        }
        self.resampler.finish(&mut self.resampled)?;
        self.cutter.push(&self.resampled);
        Ok(())
    }

    /// A clip with its place in the input, not in the part.
    fn placed(&self, mut clip: AudioClip) -> AudioClip {
        let start = self.window.start as f64;
        clip.start_seconds += start / f64::from(self.decoder.format().sample_rate);
        clip
    }

    /// The last thing to give when the sound has ended as it should.
    fn end(&mut self) -> Option<Result<AudioClip>> {
        if self.cutter.is_empty() {
            return Some(Err(Error::NoSound { input: self.label.clone() }));
        }
        if self.cutter.is_before_first_clip() {
            let rest = self.cutter.rest(Extent::ShortFile);
            return rest.map(|clip| Ok(self.placed(clip)));
        }
        self.seconds_dropped = self.cutter.dropped_seconds();
        None
    }
}

impl Iterator for ClipReader {
    type Item = Result<AudioClip>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if matches!(self.stage, Stage::Done) {
                return None;
            }
            if let Some(clip) = self.cutter.full_clip() {
                if self.range == ClipRange::First {
                    self.stage = Stage::Done;
                }
                return Some(Ok(self.placed(clip)));
            }
            match std::mem::replace(&mut self.stage, Stage::Done) {
                Stage::Reading => self.stage = self.read_block(),
                Stage::Ended => return self.end(),
                Stage::Broken(error) => match self.cutter.rest(Extent::CutByDamage) {
                    Some(piece) => {
                        self.stage = Stage::Failed(error);
                        return Some(Ok(self.placed(piece)));
                    }
                    None => return Some(Err(error)),
                },
                Stage::Failed(error) => return Some(Err(error)),
                Stage::Done => return None,
            }
        }
    }
}

impl std::iter::FusedIterator for ClipReader {}

impl fmt::Debug for ClipReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClipReader")
            .field("label", &self.label)
            .field("facts", &self.facts())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::*;
    use crate::ReadSettings;
    use crate::testing::{Wav, fixture, noise, read, read_error, read_stream, scaled};

    /// Settings in samples at 16 kHz.
    fn settings(clip_len: usize, hop_len: usize) -> ReadSettings {
        ReadSettings {
            clip_seconds: clip_len as f64 / 16_000.0,
            hop_seconds: Some(hop_len as f64 / 16_000.0),
            ..Default::default()
        }
    }

    /// A stream that gives at most `at_once` bytes at a time, and breaks off with an
    /// error where the bytes end, if `breaks`.
    struct Trickle {
        bytes: io::Cursor<Vec<u8>>,
        at_once: usize,
        breaks: bool,
    }

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.at_once);
            match self.bytes.read(&mut buffer[..len])? {
                0 if self.breaks && len > 0 => Err(io::Error::other("the line is dead")),
                read => Ok(read),
            }
        }
    }

    fn trickle(bytes: Vec<u8>, at_once: usize) -> Trickle {
        Trickle { bytes: io::Cursor::new(bytes), at_once, breaks: false }
    }

    fn ok(clips: Vec<Result<AudioClip>>) -> Vec<AudioClip> {
        clips.into_iter().map(Result::unwrap).collect()
    }

    fn open(bytes: Vec<u8>, settings: ReadSettings) -> ClipReader {
        let settings = settings.check().unwrap();
        ClipReader::from_stream("test", io::Cursor::new(bytes), &settings).unwrap()
    }

    proptest! {
        #[test]
        fn cutting_a_stream_equals_slicing_the_whole(
            len in 1_usize..10_000,
            clip_len in 1_600_usize..4_000,
            hop_len in 1_usize..6_000,
            at_once in 1_usize..10_000,
        ) {
            let samples = noise(len);
            let stream = trickle(Wav::of_samples(&samples).bytes(), at_once);
            let clips = ok(read_stream(stream, settings(clip_len, hop_len)));
            let whole = scaled(&samples);
            let expected: Vec<_> = if len < clip_len {
                vec![AudioClip { start_seconds: 0.0, samples: whole, extent: Extent::ShortFile }]
            } else {
                (0..=len - clip_len).step_by(hop_len).map(|start| AudioClip {
                    start_seconds: start as f64 / 16_000.0,
                    samples: whole[start..start + clip_len].to_vec(),
                    extent: Extent::Full,
                }).collect()
            };
            prop_assert_eq!(clips, expected);
        }

        #[test]
        fn size_of_reads_does_not_matter_when_resampling(at_once in 1_usize..5_000) {
            let bytes = Wav::of_samples(&noise(18_000)).rate(44_100).channels(2).bytes();
            let channel = ChannelRule::Mean;
            let settings = ReadSettings { clip_seconds: 0.1, channel, ..Default::default() };
            let whole = ok(read(bytes.clone(), settings.clone()));
            prop_assert_eq!(whole, ok(read_stream(trickle(bytes, at_once), settings)));
        }
    }

    #[test]
    fn tail_shorter_than_a_clip_is_dropped_and_counted() {
        let cases = [
            (4_000, 4_000, 2_000),
            (4_000, 1_000, 0),
            (4_000, 8_000, 2_000),
            (4_000, 7_000, 3_000),
        ];
        for (clip_len, hop_len, dropped) in cases {
            let mut reader =
                open(Wav::of_samples(&noise(10_000)).bytes(), settings(clip_len, hop_len));
            assert!(reader.by_ref().all(|clip| clip.is_ok()));
            let facts = reader.facts();
            let times =
                [facts.seconds_read, facts.seconds_dropped].map(|time| (time * 16_000.0) as u32);
            assert_eq!(times, [10_000, dropped], "{clip_len} {hop_len}");
        }
    }

    #[test]
    fn first_clip_only_stops_there() {
        let settings = ReadSettings { range: ClipRange::First, ..settings(2_000, 500) };
        let bytes = Wav::of_samples(&noise(1_000_000)).bytes();
        let mut reader = open(bytes, settings);
        assert_eq!(reader.next().unwrap().unwrap().samples, scaled(&noise(2_000)));
        assert!(reader.next().is_none());
        assert!(reader.facts().seconds_read < 10.0);
    }

    #[test]
    fn damage_gives_the_clips_then_the_piece_then_one_error_then_nothing() {
        let mut bytes = Wav::of_samples(&noise(10_000)).bytes();
        bytes.truncate(bytes.len() - 2_000);
        let mut reader = open(bytes, settings(4_000, 4_000));
        let extents: Vec<_> =
            reader.by_ref().map_while(|clip| clip.ok().map(|clip| clip.extent)).collect();
        assert_eq!(extents, [Extent::Full, Extent::Full, Extent::CutByDamage]);
        assert!(reader.next().is_none());
    }

    #[test]
    fn dead_line_is_damage_with_its_reason() {
        let bytes = Wav { stated_len: Some(0), ..Wav::of_samples(&noise(16_000)) }.bytes();
        let stream = Trickle { breaks: true, ..trickle(bytes, 1_000) };
        let clips = read_stream(stream, settings(8_000, 8_000));
        let [Ok(_), Ok(_), Err(error)] = &clips[..] else { panic!("{clips:?}") };
        assert!(error.to_string().starts_with("test: damaged after 1.000 s: the line is dead"));
    }

    #[test]
    fn readers_can_go_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<ClipReader>();
    }

    #[test]
    fn channel_beyond_the_last_is_refused_with_both_numbers() {
        let bytes = Wav::of_samples(&noise(100)).channels(2).bytes();
        let settings = ReadSettings { channel: ChannelRule::Index(2), ..Default::default() };
        let error = read(bytes, settings).remove(0).unwrap_err().to_string();
        assert!(error.starts_with("test: there is no channel 2: the file has 2"), "{error}");
    }

    #[test]
    fn an_hour_is_read_in_little_memory() {
        let seconds = 3_600;
        let header =
            Wav { stated_len: Some(0), ..Wav::new(1, 8, Vec::new()).rate(48_000) }.header();
        let stream = io::Cursor::new(header).chain(io::repeat(0x90).take(seconds * 48_000));
        let settings = ReadSettings::default().check().unwrap();
        let mut reader = ClipReader::from_stream("test", stream, &settings).unwrap();
        let mut count = 0;
        while let Some(clip) = reader.next() {
            assert_eq!(clip.unwrap().samples.len(), 160_000);
            count += 1;
            let held = reader.interleaved.capacity()
                + reader.mono.capacity()
                + reader.resampled.capacity()
                + reader.cutter.capacity();
            assert!(held < 4 * 160_000, "{held} samples held");
        }
        assert_eq!(count, seconds / 10);
        assert_eq!(reader.frames_read, seconds * 48_000);
    }

    /// Reads to the end as a file and as a stream; that it gets there is the test.
    fn survives(bytes: Vec<u8>) {
        let settings = settings(1_600, 700);
        let input = Input::from_bytes("test", bytes.clone());
        let decoder = input.and_then(Decoder::open);
        let reader = decoder.and_then(|decoder| {
            ClipReader::new("test".to_owned(), decoder, &settings.clone().check()?)
        });
        let as_file = reader.map_or_else(|error| vec![Err(error)], Iterator::collect);
        for clips in [as_file, read(bytes, settings)] {
            assert!(clips.iter().rev().skip(1).all(Result::is_ok));
        }
    }

    #[test]
    fn every_beginning_of_a_file_gives_clips_or_a_clean_error() {
        let wav = Wav { is_extensible: true, ..Wav::of_samples(&noise(200)) }.bytes();
        let flac = std::fs::read(fixture("saw16.flac")).unwrap();
        for bytes in [wav, flac] {
            for len in 0..bytes.len() {
                let clips = read(bytes[..len].to_vec(), settings(1_600, 700));
                assert!(matches!(clips.last(), Some(Err(_))), "{len} bytes: {clips:?}");
            }
        }
    }

    #[test]
    fn empty_input_is_refused() {
        assert!(matches!(read_error(Vec::new()), Error::EmptyFile { .. }));
    }

    const FILES: [&str; 9] = [
        "saw16.flac",
        "saw24.flac",
        "tone.aac",
        "tone.m4a",
        "tone.mp3",
        "tone.ogg",
        "tone.opus",
        "tone_adpcm.wav",
        "tone_faststart.m4a",
    ];

    proptest! {
        #[test]
        fn flipped_bytes_give_clips_or_a_clean_error(
            file in prop::sample::select(&FILES[..]),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
            at_front in any::<bool>(),
        ) {
            let mut bytes = std::fs::read(fixture(file)).unwrap();
            let reach = if at_front { bytes.len().min(200) } else { bytes.len() };
            for (index, value) in flips {
                bytes[index.index(reach)] ^= value;
            }
            survives(bytes);
        }

        #[test]
        fn flipped_header_bytes_give_clips_or_a_clean_error(
            flips in prop::collection::vec((0_usize..60, any::<u8>()), 1..5),
        ) {
            let mut bytes = Wav::of_samples(&noise(500)).bytes();
            for (index, value) in flips {
                bytes[index] ^= value;
            }
            survives(bytes);
        }

        #[test]
        fn noise_gives_clips_or_a_clean_error(
            head in prop::sample::select(vec!["", "fLaC", "OggS", "ID3", "\u{0}\u{0}\u{0}\u{8}ftyp", "RIFF....WAVE", "FORM....AIFC"]),
            tail in prop::collection::vec(any::<u8>(), 0..500),
        ) {
            survives([head.as_bytes(), &tail].concat());
        }
    }
}

//! Files and streams become blocks of interleaved samples.

use std::io;

use symphonia::core::audio::Channels;
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known::{CODEC_ID_FLAC, CODEC_ID_MP3, CODEC_ID_OPUS};
use symphonia::core::codecs::audio::{AudioCodecId, AudioDecoder, AudioDecoderOptions};
use symphonia::core::codecs::registry::CodecRegistry;
use symphonia::core::errors::Error as MediaError;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, SeekMode, SeekTo, Track, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::units::Timestamp;

use crate::input::{Container, Input};
use crate::memory::MemoryReader;
use crate::pcm::PcmReader;
use crate::settings::{MAX_SAMPLE_RATE, MIN_SAMPLE_RATE};
use crate::table::TableReader;
use crate::{Error, Location, MAX_CHANNELS, Result, aiff, wave};

/// Fewer frames than this are decoded rather than looked for.
const WORTH_SEEKING: u64 = 1 << 16;

/// The largest compressed packet that is decoded, in bytes.
const MAX_PACKET_BYTES: usize = 16 << 20;

const KNOWN_FORMATS: &str =
    "WAV (also RF64 and BW64), FLAC, MP3, Ogg Vorbis, AAC, M4A and AIFF; check the file's content";

/// What a sound's header says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) sample_rate: u32,
    pub(crate) channels: usize,
    pub(crate) codec: String,
    /// Bits a sample, where the coding has them.
    pub(crate) bits: Option<u32>,
}

/// What a decoder gave when asked for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Samples, perhaps none this time.
    Samples,
    /// The sound is over, as it should be.
    End,
}

/// Any input as a source of interleaved blocks.
pub(crate) enum Decoder {
    Pcm(PcmReader),
    Packets(PacketReader),
    Table(TableReader),
    Memory(MemoryReader),
}

impl Decoder {
    /// Opens whatever is at a location, with the name it has in errors.
    pub(crate) fn at(location: &Location) -> Result<(String, Self)> {
        match location {
            Location::Table(path, column) => {
                let reader = TableReader::open(path, column)?;
                Ok((path.display().to_string(), Self::Table(reader)))
            }
            Location::Memory(sound) => {
                Ok((sound.name().to_owned(), Self::Memory(MemoryReader::new(sound))))
            }
            Location::File(path) | Location::Part(path, _) => {
                Self::of_input(Input::open_file(path)?)
            }
            Location::StandardInput => Self::of_input(Input::standard_input()?),
        }
    }

    fn of_input(input: Input) -> Result<(String, Self)> {
        Ok((input.label.clone(), Self::open(input)?))
    }

    pub(crate) fn open(input: Input) -> Result<Self> {
        match input.container {
            Container::Wave => wave::open(input).map(Self::Pcm),
            Container::Aiff => aiff::open(input).map(Self::Pcm),
            Container::Wave64 => Err(Error::Unsupported {
                input: input.label,
                format: "Sony Wave64".to_owned(),
                convert: "ffmpeg -i in.w64 -rf64 auto out.wav",
            }),
            Container::OggOpus if cfg!(not(feature = "opus")) => {
                Err(Error::NoOpus { input: input.label })
            }
            _ => PacketReader::open(input).map(Self::Packets),
        }
    }

    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::Pcm(reader) => reader.format(),
            Self::Packets(reader) => &reader.format,
            Self::Table(reader) => reader.format(),
            Self::Memory(reader) => reader.format(),
        }
    }

    /// Replaces `interleaved` (frames × channels) by the next block.
    ///
    /// The error says why the sound stops before its end.
    pub(crate) fn next_block(
        &mut self,
        interleaved: &mut Vec<f32>,
    ) -> std::result::Result<Block, String> {
        match self {
            Self::Pcm(reader) => reader.next_block(interleaved),
            Self::Packets(reader) => reader.next_block(interleaved),
            Self::Table(reader) => reader.next_block(interleaved),
            Self::Memory(reader) => Ok(reader.next_block(interleaved)),
        }
    }

    /// Goes from a frame towards a later one, as far as that is possible without decoding, and says which frame is next.
    pub(crate) fn skip(&mut self, from: u64, to: u64) -> std::result::Result<u64, String> {
        match self {
            _ if to <= from => Ok(from),
            Self::Pcm(reader) => Ok(from + reader.skip(to - from)?),
            Self::Packets(reader) if to - from >= WORTH_SEEKING => {
                Ok(reader.seek(to).unwrap_or(from))
            }
            Self::Packets(_) | Self::Table(_) | Self::Memory(_) => Ok(from),
        }
    }

    /// Why the sound of an input stops after `seconds`, as an error.
    pub(crate) fn damage(&self, input: &str, seconds: f64, reason: String) -> Error {
        let input = input.to_owned();
        match self {
            Self::Table(reader) => Error::TableRow { input, line: reader.line(), reason },
            Self::Pcm(_) | Self::Packets(_) | Self::Memory(_) => {
                Error::Damaged { input, seconds, reason }
            }
        }
    }
}

/// Refuses sounds whose header is outside the limits of this crate.
pub(crate) fn check_format(label: &str, sample_rate: u32, channels: usize) -> Result<()> {
    let input = || label.to_owned();
    if channels == 0 || channels > MAX_CHANNELS {
        return Err(Error::ChannelCount { input: input(), channels, max: MAX_CHANNELS });
    }
    if !(MIN_SAMPLE_RATE..=MAX_SAMPLE_RATE).contains(&sample_rate) {
        let (min, max) = (MIN_SAMPLE_RATE, MAX_SAMPLE_RATE);
        return Err(Error::SampleRate { input: input(), rate: sample_rate, min, max });
    }
    Ok(())
}

/// Compressed sound, read packet by packet through symphonia.
pub(crate) struct PacketReader {
    reader: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track: u32,
    format: Format,
    /// Frames the header speaks of.
    frames: Option<u64>,
    /// Frames the header promises, where such a promise can be trusted.
    promised: Option<u64>,
    /// Where the sound has been decoded to.
    decoded: u64,
    /// Whether decoding can begin anywhere.
    can_seek: bool,
    /// The first block, decoded when the input was opened.
    first: Option<(Vec<f32>, std::result::Result<Block, String>)>,
}

impl PacketReader {
    fn open(input: Input) -> Result<Self> {
        let Input { label, container, media } = input;
        let is_stream = !media.is_seekable();
        let not_sound = || Error::NotSound { input: label.clone(), known: KNOWN_FORMATS };
        let stream = MediaSourceStream::new(media, MediaSourceStreamOptions::default());
        let reader = symphonia::default::get_probe()
            .probe(&Hint::new(), stream, FormatOptions::default(), MetadataOptions::default())
            .map_err(|error| match container {
                Container::Mp4 if is_stream => {
                    Error::NeedsSeeking { input: label.clone(), reason: reason(&error) }
                }
                Container::Unknown => not_sound(),
                _ => Error::BadHeader { input: label.clone(), reason: reason(&error) },
            })?;
        let track = reader.default_track(TrackType::Audio).ok_or_else(not_sound)?;
        let Some(CodecParameters::Audio(parameters)) = &track.codec_params else {
            return Err(not_sound());
        };
        if parameters.codec == CODEC_ID_OPUS && cfg!(not(feature = "opus")) {
            return Err(Error::NoOpus { input: label });
        }
        let decoder = codecs()
            .make_audio_decoder(parameters, &AudioDecoderOptions::default())
            .map_err(|error| match container {
                // Other files may look like MPEG layer 1 or 2 by chance.
                Container::Unknown => not_sound(),
                _ => unsupported_coding(&label, &error),
            })?;
        let promised = promised_frames(track, parameters.codec);
        let format = Format {
            sample_rate: parameters.sample_rate.unwrap_or(0),
            channels: parameters.channels.as_ref().map_or(0, Channels::count),
            codec: decoder.codec_info().short_name.to_owned(),
            bits: (parameters.codec == CODEC_ID_FLAC)
                .then_some(parameters.bits_per_sample)
                .flatten(),
        };
        let (frames, track) = (track.num_frames, track.id);
        let mut packets = Self {
            reader,
            decoder,
            track,
            can_seek: !is_stream && format.codec == "flac",
            format,
            frames,
            promised,
            decoded: 0,
            first: None,
        };
        packets.decode_first_block();
        if let (0, Some((_, Err(reason)))) = (packets.format.channels, &packets.first) {
            return Err(Error::BadHeader { input: label, reason: reason.clone() });
        }
        check_format(&label, packets.format.sample_rate, packets.format.channels)?;
        Ok(packets)
    }

    /// How long the header says the sound is, in seconds.
    pub(crate) fn seconds(&self) -> Option<f64> {
        Some(self.frames? as f64 / f64::from(self.format.sample_rate))
    }

    /// Decodes ahead to learn the rate and the channels from the sound itself:
    /// M4A and raw AAC headers may leave them out or get them wrong.
    fn decode_first_block(&mut self) {
        let mut samples = Vec::new();
        let outcome = loop {
            match self.decode_packet(&mut samples) {
                Ok(Block::Samples) if samples.is_empty() => {}
                outcome => break outcome,
            }
        };
        self.first = Some((samples, outcome));
    }

    fn next_block(&mut self, samples: &mut Vec<f32>) -> std::result::Result<Block, String> {
        match self.first.take() {
            Some((first, outcome)) => {
                *samples = first;
                outcome
            }
            None => self.decode_packet(samples),
        }
    }

    /// Goes to the packet with a frame, and says at which frame it starts. Only FLAC can be entered anywhere: its
    /// packets do not depend on those before.
    fn seek(&mut self, frame: u64) -> Option<u64> {
        if !self.can_seek || self.frames.is_none_or(|all| frame >= all) {
            return None;
        }
        let to = SeekTo::Timestamp {
            ts: Timestamp::new(i64::try_from(frame).ok()?),
            track_id: self.track,
        };
        let found = self.reader.seek(SeekMode::Accurate, to);
        self.can_seek = found.is_ok();
        self.decoded = u64::try_from(found.ok()?.actual_ts.get()).ok()?;
        self.decoder.reset();
        self.first = None;
        Some(self.decoded)
    }

    fn decode_packet(&mut self, samples: &mut Vec<f32>) -> std::result::Result<Block, String> {
        samples.clear();
        let Some(packet) = self.reader.next_packet().map_err(|error| reason(&error))? else {
            return self.end();
        };
        if packet.track_id != self.track {
            return Ok(Block::Samples);
        }
        if packet.data.len() > MAX_PACKET_BYTES {
            let len = packet.data.len();
            return Err(format!("a packet has {len} bytes, allowed are {MAX_PACKET_BYTES}"));
        }
        let sound = self.decoder.decode(&packet).map_err(|error| reason(&error))?;
        if sound.frames() == 0 {
            return Ok(Block::Samples);
        }
        let found = (sound.spec().rate(), sound.spec().channels().count());
        if self.decoded == 0 {
            (self.format.sample_rate, self.format.channels) = found;
        } else if found != (self.format.sample_rate, self.format.channels) {
            let (rate, channels) = found;
            return Err(format!("the sound changes to {channels} channels at {rate} Hz there"));
        }
        self.decoded += sound.frames() as u64;
        sound.copy_to_vec_interleaved(samples);
        Ok(Block::Samples)
    }

    fn end(&self) -> std::result::Result<Block, String> {
        match self.promised {
            Some(promised) if promised > self.decoded => {
                Err("the file ends before the length its header promises".to_owned())
            }
            _ => Ok(Block::End),
        }
    }
}

/// The least number of frames a header promises, where headers can be trusted.
fn promised_frames(track: &Track, codec: AudioCodecId) -> Option<u64> {
    match codec {
        CODEC_ID_FLAC => track.num_frames,
        // Only the LAME tag states the delay; without it the number is a guess from the
        // bit rate. Encoders count its frames differently, by up to two frames.
        CODEC_ID_MP3 if track.delay.is_some() => {
            track.num_frames.map(|frames| frames.saturating_sub(2 * 1_152))
        }
        _ => None,
    }
}

/// The decoders of this build.
fn codecs() -> &'static CodecRegistry {
    #[cfg(feature = "opus")]
    {
        static CODECS: std::sync::LazyLock<CodecRegistry> = std::sync::LazyLock::new(|| {
            let mut codecs = CodecRegistry::new();
            symphonia::default::register_enabled_codecs(&mut codecs);
            codecs.register_audio_decoder::<symphonia_adapter_libopus::OpusDecoder>();
            codecs
        });
        &CODECS
    }
    #[cfg(not(feature = "opus"))]
    symphonia::default::get_codecs()
}

fn unsupported_coding(label: &str, error: &MediaError) -> Error {
    let format = match error {
        MediaError::Unsupported(what) if !what.starts_with("core") => {
            format!("its coding ({what})")
        }
        _ => "the coding of its sound".to_owned(),
    };
    Error::Unsupported { input: label.to_owned(), format, convert: "ffmpeg -i in.m4a out.flac" }
}

/// Explains why a packet could not be read or decoded.
fn reason(error: &MediaError) -> String {
    match error {
        MediaError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the file ends too early".to_owned()
        }
        MediaError::ResetRequired => {
            "a second sound follows in the same file; only the first is read".to_owned()
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::testing::{fixture, level, read, read_error, read_stream};
    use crate::{ClipReader, Extent, Location, ReadSettings, StreamFacts};

    /// The samples of a short fixture at a rate, and what is known about it.
    fn decode(name: &str, sample_rate: u32) -> (Vec<f32>, StreamFacts) {
        let settings = ReadSettings { sample_rate, ..Default::default() }.check().unwrap();
        let mut reader = ClipReader::open(&Location::File(fixture(name)), &settings).unwrap();
        let clip = reader.next().unwrap().unwrap();
        assert!(reader.next().is_none());
        (clip.samples, reader.facts())
    }

    /// The first channel of the fixture script's saw tooth, divided by `full_scale`.
    fn saw(len: usize, scale: i32, full_scale: f32) -> Vec<f32> {
        let value = |index: i32| ((3 * index % 2_001 - 1_000) * scale) as f32 / full_scale;
        (0..).map(value).take(len).collect()
    }

    #[test]
    fn flac_of_16_bits_is_exact() {
        let (samples, facts) = decode("saw16.flac", 16_000);
        assert_eq!(samples, saw(8_000, 16, 32_768.0));
        assert_eq!((facts.codec.as_str(), facts.channels), ("flac", 1));
    }

    #[test]
    fn flac_of_24_bits_and_two_channels_is_exact() {
        let (samples, facts) = decode("saw24.flac", 48_000);
        assert_eq!(samples, saw(4_800, 4_096, 8_388_608.0));
        assert_eq!((facts.sample_rate, facts.channels), (48_000, 2));
    }

    #[test]
    fn lossy_formats_keep_the_tone_and_its_length() {
        // The AAC decoder does not take the encoder's delay away: up to 2 048 samples more.
        let cases = [
            // LAME scales by 0.95, which is -0.45 dB; ffmpeg decodes it to the same level.
            ("tone.mp3", "mp3", 0, -21.52),
            ("tone.ogg", "vorbis", 0, -21.07),
            ("tone.aac", "aac", 2_048, -21.07),
            ("tone.m4a", "aac", 2_048, -21.07),
            ("tone_faststart.m4a", "aac", 2_048, -21.07),
        ];
        for (name, codec, extra, expected) in cases {
            let (samples, facts) = decode(name, 44_100);
            assert_eq!((facts.codec.as_str(), facts.sample_rate), (codec, 44_100), "{name}");
            assert!((22_050..=22_050 + extra).contains(&samples.len()), "{name} {}", samples.len());
            let tone = level(&samples[6_000..18_000]);
            assert!((tone - expected).abs() < 0.1, "{name}: {tone} dB");
        }
    }

    #[cfg(feature = "opus")]
    #[test]
    fn opus_is_decoded_with_its_feature() {
        let (samples, facts) = decode("tone.opus", 48_000);
        assert_eq!((facts.codec.as_str(), facts.sample_rate), ("opus", 48_000));
        assert!(samples.len().abs_diff(24_000) <= 960, "{}", samples.len());
        let tone = level(&samples[6_000..18_000]);
        assert!((tone + 21.07).abs() < 0.2, "{tone} dB");
    }

    #[cfg(not(feature = "opus"))]
    #[test]
    fn opus_without_its_feature_is_refused_with_a_way_out() {
        let error = read_error(fs::read(fixture("tone.opus")).unwrap()).to_string();
        assert!(error.starts_with("test: this build has no Opus decoder; build with"), "{error}");
    }

    #[test]
    fn stream_that_needs_seeking_is_refused_and_one_that_does_not_is_read() {
        let refused = read_error(fs::read(fixture("tone.m4a")).unwrap());
        assert!(matches!(refused, Error::NeedsSeeking { .. }), "{refused}");
        for name in ["tone_faststart.m4a", "tone.mp3", "tone.ogg", "tone.aac", "saw16.flac"] {
            let file = File::open(fixture(name)).unwrap();
            let clips = read_stream(file, ReadSettings::default());
            assert!(matches!(clips[..], [Ok(_)]), "{name}: {clips:?}");
        }
    }

    #[test]
    fn inputs_that_are_no_sound_say_so() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "test: the file is empty (0 bytes)"),
            (b"RIFFs and other text, long enough to be read", "test: not a sound file"),
            (&[b'x'; 5_000], "test: not a sound file"),
            (b"R", "test: not a sound file"),
            (b"riff\x2e\x91\xcf\x11", "test: Sony Wave64 is not supported"),
            (b"fLaC\0\0\0\x22", "test: the header is damaged"),
        ];
        for (bytes, message) in cases {
            let error = read_error(bytes.to_vec()).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn cut_flac_gives_what_it_has_and_says_where_it_ends() {
        let bytes = fs::read(fixture("saw16.flac")).unwrap();
        let clips = read(bytes[..bytes.len() * 3 / 4].to_vec(), ReadSettings::default());
        let [Ok(piece), Err(error)] = &clips[..] else { panic!("{clips:?}") };
        assert_eq!(piece.extent, Extent::CutByDamage);
        assert_eq!(piece.samples, saw(piece.samples.len(), 16, 32_768.0));
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }

    #[test]
    fn cut_mp3_with_a_length_in_its_header_is_reported() {
        let bytes = fs::read(fixture("tone.mp3")).unwrap();
        let clips = read(bytes[..bytes.len() / 2].to_vec(), ReadSettings::default());
        assert!(matches!(clips[..], [Ok(_), Err(Error::Damaged { .. })]), "{clips:?}");
    }

    #[test]
    fn paths_that_cannot_be_read_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let settings = ReadSettings::default().check().unwrap();
        let open = |path| ClipReader::open(&Location::File(path), &settings).unwrap_err();
        assert!(matches!(open(folder.path().to_owned()), Error::IsFolder { .. }));
        assert!(matches!(open(folder.path().join("gone.wav")), Error::NotFound { .. }));
        let empty = folder.path().join("empty.wav");
        fs::write(&empty, "").unwrap();
        assert!(matches!(open(empty), Error::EmptyFile { .. }));
    }
}

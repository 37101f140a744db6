//! Files and streams become blocks of interleaved samples.

use std::io;

use symphonia::core::audio::Channels;
use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known::{CODEC_ID_FLAC, CODEC_ID_OPUS};
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::codecs::registry::CodecRegistry;
use symphonia::core::errors::Error as MediaError;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;

use crate::input::{Container, Input};
use crate::pcm::PcmReader;
use crate::settings::{MAX_SAMPLE_RATE, MIN_SAMPLE_RATE};
use crate::{Error, MAX_CHANNELS, Result, aiff, wave};

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
}

impl Decoder {
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
            Container::OggOpus | Container::Other => PacketReader::open(input).map(Self::Packets),
        }
    }

    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::Pcm(reader) => reader.format(),
            Self::Packets(reader) => &reader.format,
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
    /// Frames the header promises, where such a promise can be trusted.
    promised: Option<u64>,
    decoded: u64,
    /// The first block, decoded when the input was opened.
    first: Option<(Vec<f32>, std::result::Result<Block, String>)>,
}

impl PacketReader {
    fn open(input: Input) -> Result<Self> {
        let label = input.label;
        let is_stream = !input.media.is_seekable();
        let failed = |error: MediaError| cannot_open(&label, is_stream, &error);
        let not_sound = || Error::NotSound { input: label.clone(), known: KNOWN_FORMATS };
        let stream = MediaSourceStream::new(input.media, MediaSourceStreamOptions::default());
        let reader = symphonia::default::get_probe()
            .probe(&Hint::new(), stream, FormatOptions::default(), MetadataOptions::default())
            .map_err(failed)?;
        let track = reader.default_track(TrackType::Audio).ok_or_else(not_sound)?;
        let Some(CodecParameters::Audio(parameters)) = &track.codec_params else {
            return Err(not_sound());
        };
        if parameters.codec == CODEC_ID_OPUS && cfg!(not(feature = "opus")) {
            return Err(Error::NoOpus { input: label });
        }
        let decoder = codecs()
            .make_audio_decoder(parameters, &AudioDecoderOptions::default())
            .map_err(failed)?;
        let promised = track.num_frames.filter(|_| parameters.codec == CODEC_ID_FLAC);
        let format = Format {
            sample_rate: parameters.sample_rate.unwrap_or(0),
            channels: parameters.channels.as_ref().map_or(0, Channels::count),
            codec: decoder.codec_info().short_name.to_owned(),
        };
        let track = track.id;
        let mut packets =
            Self { reader, decoder, track, format, promised, decoded: 0, first: None };
        packets.decode_first_block();
        check_format(&label, packets.format.sample_rate, packets.format.channels)?;
        Ok(packets)
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
            Some(promised) if promised > self.decoded => Err(format!(
                "the header promises {promised} samples but the file ends after {}",
                self.decoded
            )),
            _ => Ok(Block::End),
        }
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

/// Explains why symphonia could not open an input.
fn cannot_open(label: &str, is_stream: bool, error: &MediaError) -> Error {
    let input = label.to_owned();
    match error {
        MediaError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Error::NotSound { input, known: KNOWN_FORMATS }
        }
        MediaError::SeekError(_) if is_stream => {
            Error::NeedsSeeking { input, reason: reason(error) }
        }
        _ => Error::BadHeader { input, reason: error.to_string() },
    }
}

/// Explains why a packet could not be read or decoded.
fn reason(error: &MediaError) -> String {
    match error {
        MediaError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the file ends in the middle of a packet".to_owned()
        }
        MediaError::ResetRequired => {
            "a second sound follows in the same file; only the first is read".to_owned()
        }
        error => error.to_string(),
    }
}

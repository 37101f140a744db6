//! The sound of cameras and recorders on the network; their pictures are not fetched.

use futures_util::StreamExt;
use retina::{
    client::{Credentials, Demuxed, PlayOptions, Session, SessionOptions, SetupOptions, Stream},
    codec::{CodecItem, ParametersRef},
};
use symphonia::core::{
    audio::{Channels, layouts},
    codecs::audio::{
        AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
        well_known::{
            CODEC_ID_AAC, CODEC_ID_PCM_ALAW, CODEC_ID_PCM_MULAW, CODEC_ID_PCM_S16BE,
            CODEC_ID_PCM_U8,
        },
    },
    packet::Packet,
    units::{Duration as Frames, Timestamp},
};
use tokio::time::timeout;
use url::Url;

use super::{Backoff, STALLED, Tap, begun, deliver};
use crate::clock::Clock;

pub(super) async fn rtsp(address: String, taps: Vec<Tap>, clock: Clock) {
    let mut backoff = Backoff::default();
    let name = crate::site::without_password(&address);
    loop {
        let end = match timeout(STALLED, connect(&address)).await {
            Ok(Ok((sound, coding))) => {
                let text = format!("{name}: {coding}");
                begun(&taps, coding.channels.into(), &text, backoff.succeeded()).await;
                play(sound, coding, &taps, &clock).await
            }
            Ok(Err(reason)) => reason,
            Err(_) => format!("no answer for {} s", STALLED.as_secs()),
        };
        backoff.report_and_wait(&taps, &format!("rtsp {name}: {end}")).await;
    }
}

/// How the sound is coded.
#[derive(Debug, Clone, PartialEq)]
struct Coding {
    name: String,
    codec: AudioCodecId,
    sample_rate: u32,
    channels: u16,
    extra: Vec<u8>,
}

impl std::fmt::Display for Coding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, channels, sample_rate, .. } = self;
        write!(formatter, "{name}, {channels} channels at {sample_rate} Hz")
    }
}

impl Coding {
    fn of(stream: &Stream) -> Result<Self, String> {
        let name = stream.encoding_name();
        let codec = match name {
            "l16" => CODEC_ID_PCM_S16BE,
            "u8" => CODEC_ID_PCM_U8,
            "pcma" => CODEC_ID_PCM_ALAW,
            "pcmu" => CODEC_ID_PCM_MULAW,
            "mpeg4-generic" => CODEC_ID_AAC,
            _ => {
                return Err(format!(
                    "its sound is coded as {name}; auscult reads L16, U8, PCMA, PCMU and AAC: choose one in the camera"
                ));
            }
        };
        let Some(ParametersRef::Audio(parameters)) = stream.parameters() else {
            return Err(format!("it does not say how its {name} sound is coded"));
        };
        Ok(Self {
            name: name.to_owned(),
            codec,
            sample_rate: parameters.clock_rate(),
            channels: parameters.channels().get(),
            extra: parameters.extra_data().to_vec(),
        })
    }

    fn decoder(&self) -> Result<Box<dyn AudioDecoder>, String> {
        let mut parameters = AudioCodecParameters::new();
        let channels = match self.channels {
            1 => layouts::CHANNEL_LAYOUT_MONO,
            2 => layouts::CHANNEL_LAYOUT_STEREO,
            count => Channels::Discrete(count),
        };
        parameters.for_codec(self.codec).with_sample_rate(self.sample_rate).with_channels(channels);
        if !self.extra.is_empty() {
            parameters.with_extra_data(self.extra.clone().into_boxed_slice());
        }
        symphonia::default::get_codecs()
            .make_audio_decoder(&parameters, &AudioDecoderOptions::default())
            .map_err(|error| format!("its sound ({self}) cannot be decoded: {error}"))
    }
}

/// Asks for the first sound that the address has.
async fn connect(address: &str) -> Result<(Demuxed, Coding), String> {
    let mut url = Url::parse(address).map_err(|error| error.to_string())?;
    let credentials = (!url.username().is_empty()).then(|| Credentials {
        username: url.username().to_owned(),
        password: url.password().unwrap_or_default().to_owned(),
    });
    // Who logs in is said in its own line of the request, never in the address.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let options = SessionOptions::default().creds(credentials).user_agent("auscult".to_owned());
    let fail = |error: retina::Error| error.to_string();
    let mut session = Session::describe(url, options).await.map_err(fail)?;
    let is_sound = |stream: &Stream| stream.media() == "audio";
    let Some(index) = session.streams().iter().position(is_sound) else {
        return Err("it has pictures and no sound: turn on its microphone".to_owned());
    };
    let coding = Coding::of(&session.streams()[index])?;
    session.setup(index, SetupOptions::default()).await.map_err(fail)?;
    let playing = session.play(PlayOptions::default()).await.map_err(fail)?;
    Ok((playing.demuxed().map_err(fail)?, coding))
}

/// Delivers sound until its end; says how it ended.
async fn play(mut sound: Demuxed, coding: Coding, taps: &[Tap], clock: &Clock) -> String {
    let mut decoder = match coding.decoder() {
        Ok(decoder) => decoder,
        Err(reason) => return reason,
    };
    let mut interleaved: Vec<f32> = Vec::new();
    let mut position = 0;
    loop {
        let frame = match timeout(STALLED, sound.next()).await {
            Ok(Some(Ok(CodecItem::AudioFrame(frame)))) => frame,
            Ok(Some(Ok(_))) => continue,
            Ok(Some(Err(error))) => return error.to_string(),
            Ok(None) => return "the sound has ended".to_owned(),
            Err(_) => return format!("no sound for {} s", STALLED.as_secs()),
        };
        if frame.loss() > 0 {
            tracing::warn!(packets = frame.loss(), "packets of sound were lost on the network");
        }
        let length = u64::from(frame.frame_length().get());
        let (at, length) = (Timestamp::new(position), Frames::new(length));
        let packet = Packet::new(0, at, length, frame.data());
        match decoder.decode(&packet) {
            Ok(decoded) => {
                position += decoded.frames() as i64;
                let (rate, channels) = (decoded.spec().rate(), decoded.spec().channels().count());
                decoded.copy_to_vec_interleaved(&mut interleaved);
                deliver(taps, &interleaved, channels, rate, clock.now()).await;
            }
            // One broken packet is a gap, not the end.
            Err(error) => tracing::warn!(%error, "a packet of sound could not be decoded"),
        }
    }
}

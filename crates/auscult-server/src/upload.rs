//! Sound in the body of a request: written to a file of its own in the data folder, which is deleted afterwards.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::File,
    io::{BufWriter, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use auscult_monitor::data::DataFolder;
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use crate::{
    error::{Problem, Result},
    sound::wav_header,
    state::App,
};

/// The folder within a data folder.
const FOLDER: &str = "incoming";

/// Deletes what a service that was killed has left.
pub(crate) fn clear(data: &DataFolder) {
    // It may not be there.
    let _ = std::fs::remove_dir_all(data.file(FOLDER));
}

/// A file of our own for a while; it is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct Passing(PathBuf);

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Passing {
    /// A name that nobody else has.
    pub(crate) fn new(data: &DataFolder, extension: &str) -> Result<Self> {
        let folder = data.file(FOLDER);
        let failed = |error| Problem::internal("the data folder cannot be written", &error);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Self(folder.join(format!("{}-{number}.{extension}", std::process::id()))))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // Nothing may have been written.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Sound that was sent.
#[derive(Debug)]
pub(crate) struct Upload(Passing);

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Wav,
    Flac,
    Raw(Raw),
}

impl Form {
    /// Whether a body of this many bytes can be such sound.
    fn check(self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Err(Problem::invalid("body", "the body is empty: send sound"));
        }
        if let Self::Raw(raw) = self
            && !bytes.is_multiple_of(raw.frame())
        {
            let text = format!(
                "the body has {bytes} bytes, which is not a whole number of samples of {} bytes",
                raw.frame()
            );
            return Err(Problem::invalid("body", text));
        }
        Ok(())
    }
}

/// Samples without a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Raw {
    rate: u32,
    channels: u16,
    bits: u16,
    is_float: bool,
    is_big_endian: bool,
}

impl Raw {
    fn frame(self) -> u64 {
        u64::from(self.channels) * u64::from(self.bits) / 8
    }

    fn header(self, bytes: u32) -> Vec<u8> {
        let form = if self.is_float { 3 } else { 1 };
        wav_header(self.rate, self.channels, self.bits, form, bytes)
    }
}

impl Upload {
    /// Takes the sound of a request, piece by piece, up to the limit.
    pub(crate) async fn receive(app: &App, headers: &HeaderMap, body: Body) -> Result<Self> {
        let form = form_of(headers)?;
        let most = app.monitor().site().server.body.0;
        let length = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
        if length.and_then(|it| it.parse::<u64>().ok()).is_some_and(|length| length > most) {
            return Err(Problem::too_large(most));
        }
        let _permit = app.uploads.acquire().await;
        let upload = Self::new(&app.monitor().settings().data, form)?;
        let (send, pieces) = mpsc::channel::<Bytes>(8);
        let path = upload.path().to_owned();
        let writing = tokio::task::spawn_blocking(move || write(&path, form, pieces));
        // In any case the file is closed before it is read or deleted.
        let total = hand_over(body, most, send).await;
        let failed =
            |error: &dyn Display| Problem::internal("the data folder cannot be written", error);
        writing.await.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        form.check(total?)?;
        Ok(upload)
    }

    /// Takes sound that is in memory, in a few pieces.
    pub(crate) fn of_bytes(data: &DataFolder, kind: &str, body: &[u8]) -> Result<Self> {
        let mut headers = HeaderMap::new();
        headers.extend(HeaderValue::from_str(kind).ok().map(|kind| (header::CONTENT_TYPE, kind)));
        let form = form_of(&headers)?;
        let upload = Self::new(data, form)?;
        let (send, pieces) = mpsc::channel(3);
        for piece in body.chunks(body.len() / 3 + 1) {
            // There is room for all of them.
            let _ = send.try_send(Bytes::copy_from_slice(piece));
        }
        drop(send);
        let failed = |error| Problem::internal("the data folder cannot be written", &error);
        write(upload.path(), form, pieces).map_err(failed)?;
        form.check(body.len() as u64)?;
        Ok(upload)
    }

    fn new(data: &DataFolder, form: Form) -> Result<Self> {
        let extension = if form == Form::Flac { "flac" } else { "wav" };
        Ok(Self(Passing::new(data, extension)?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A text that names the file, so that it names the body.
    pub(crate) fn named(&self, text: &dyn Display) -> String {
        text.to_string().replace(&self.path().display().to_string(), "the body")
    }
}

/// Hands a body over piece by piece; gives its length.
async fn hand_over(body: Body, most: u64, send: mpsc::Sender<Bytes>) -> Result<u64> {
    let mut body = body.into_data_stream();
    let mut total = 0;
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| Problem::bad_request("the body breaks off"))?;
        total += piece.len() as u64;
        if total > most {
            return Err(Problem::too_large(most));
        }
        if send.send(piece).await.is_err() {
            break;
        }
    }
    Ok(total)
}

fn write(path: &Path, form: Form, mut pieces: mpsc::Receiver<Bytes>) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    let Form::Raw(raw) = form else {
        while let Some(piece) = pieces.blocking_recv() {
            file.write_all(&piece)?;
        }
        return file.flush();
    };
    // The head is written again when the length is known.
    file.write_all(&raw.header(0))?;
    let mut bytes: u32 = 0;
    // Half a sample may be left of a piece.
    let mut half: Option<u8> = None;
    while let Some(piece) = pieces.blocking_recv() {
        bytes = bytes.saturating_add(piece.len() as u32);
        if !raw.is_big_endian {
            file.write_all(&piece)?;
            continue;
        }
        for byte in piece {
            match half.take() {
                Some(high) => file.write_all(&[byte, high])?,
                None => half = Some(byte),
            }
        }
    }
    file.flush()?;
    let mut file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&raw.header(bytes))
}

const KNOWN: &str = "audio/wav, audio/flac, audio/L16;rate=16000 (16 bits, big-endian), or \
     audio/x-raw;rate=16000;format=s16le;channels=1 (also s24le, s32le, f32le)";

/// What the head of a request says about its sound.
fn form_of(headers: &HeaderMap) -> Result<Form> {
    let text = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let unknown = || {
        let shown: String = text.unwrap_or("nothing").chars().take(80).collect();
        Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("Content-Type is {shown:?}: {KNOWN}"),
        )
    };
    let mut parts = text.ok_or_else(unknown)?.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let settings: BTreeMap<String, String> = parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_ascii_lowercase()))
        .collect();
    let number = |name: &'static str, usual: Option<u32>, range: std::ops::RangeInclusive<u32>| {
        let given = settings.get(name).map(|text| text.parse::<u32>().ok());
        let value = given.map_or(usual, |given| given);
        value.filter(|value| range.contains(value)).ok_or_else(|| {
            let text = format!(
                "Content-Type: {name} is missing or out of range: {} to {}",
                range.start(),
                range.end()
            );
            Problem::invalid("Content-Type", text)
        })
    };
    let raw = |bits, is_float, is_big_endian| -> Result<Form> {
        let rate = number("rate", None, 1_000..=384_000)?;
        let channels = number("channels", Some(1), 1..=64)? as u16;
        Ok(Form::Raw(Raw { rate, channels, bits, is_float, is_big_endian }))
    };
    match kind.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Ok(Form::Wav),
        "audio/flac" | "audio/x-flac" => Ok(Form::Flac),
        "audio/l16" => raw(16, false, true),
        "audio/x-raw" => match settings.get("format").map_or("s16le", String::as_str) {
            "s16le" => raw(16, false, false),
            "s24le" => raw(24, false, false),
            "s32le" => raw(32, false, false),
            "f32le" => raw(32, true, false),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Result<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, text.parse().unwrap());
        form_of(&headers)
    }

    #[test]
    fn types_of_sound_are_understood() {
        assert_eq!(form("audio/WAV; codecs=1").unwrap(), Form::Wav);
        assert_eq!(form("audio/x-flac").unwrap(), Form::Flac);
        let l16 = form("audio/L16;rate=16000").unwrap();
        assert!(matches!(
            l16,
            Form::Raw(Raw { rate: 16_000, channels: 1, bits: 16, is_big_endian: true, .. })
        ));
        let float = form("audio/x-raw; rate=48000; format=F32LE; channels=2").unwrap();
        assert!(matches!(float, Form::Raw(raw) if raw.frame() == 8 && raw.is_float));
        for (text, status) in [
            ("text/plain", 415),
            ("audio/mpeg", 415),
            ("audio/x-raw;rate=16000;format=u8", 415),
            ("audio/L16", 422),
            ("audio/L16;rate=0", 422),
            ("audio/L16;rate=-1", 422),
            ("audio/L16;rate=16000;channels=0", 422),
        ] {
            assert_eq!(form(text).unwrap_err().status().as_u16(), status, "{text}");
        }
    }

    #[test]
    fn big_endian_samples_become_a_wav_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.wav");
        let (send, pieces) = mpsc::channel(8);
        for piece in [&[0x12_u8][..], &[0x34, 0x56], &[0x78]] {
            send.try_send(Bytes::copy_from_slice(piece)).unwrap();
        }
        drop(send);
        write(&path, form("audio/L16;rate=8000").unwrap(), pieces).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(&bytes[44..], [0x34, 0x12, 0x78, 0x56]);
        assert_eq!(&bytes[40..44], 4_u32.to_le_bytes());
    }
}

//! Sound in the body of a request: written to a file of its own in the data folder, which is deleted afterwards.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs::File,
    io::{BufWriter, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use auscult_monitor::data::DataFolder;
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

/// Sound that was sent, with the room it takes.
#[derive(Debug)]
pub(crate) struct Upload {
    file: Arc<Passing>,
    _room: Room,
}

/// How much sound may be on its way at a time. It is counted as it comes: a client that stops sending takes no room from
/// others, however many of them there are.
#[derive(Debug, Clone)]
pub(crate) struct Rooms(Arc<Semaphore>);

/// Room is given in pieces of this many bytes.
const UNIT: u64 = 64 << 10;

/// The largest bodies that there is room for at a time.
const BODIES: u64 = 16;

impl Rooms {
    pub(crate) fn new(largest_body: u64) -> Self {
        let units = usize::try_from((largest_body.div_ceil(UNIT) + 1).saturating_mul(BODIES));
        Self(Arc::new(Semaphore::new(units.unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS))))
    }
}

/// The room that a body takes.
#[derive(Debug, Default)]
struct Room(Option<OwnedSemaphorePermit>);

impl Room {
    /// Takes as much as a body of this many bytes needs.
    fn grow(&mut self, rooms: &Rooms, bytes: u64) -> Result<()> {
        let has = self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) as u64;
        let more = u32::try_from(bytes.div_ceil(UNIT).saturating_sub(has)).unwrap_or(u32::MAX);
        if more == 0 {
            return Ok(());
        }
        let more = Arc::clone(&rooms.0).try_acquire_many_owned(more).map_err(|_| {
            Problem::unavailable("too much sound is being received; send it again in a moment")
        })?;
        match &mut self.0 {
            Some(permit) => permit.merge(more),
            None => self.0 = Some(more),
        }
        Ok(())
    }
}

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
        let file = Self::file(&app.monitor().settings().data, form)?;
        let (mut room, mut total) = (Room::default(), 0);
        let (mut body, mut writer) = (body.into_data_stream(), None);
        let mut gathered = Vec::new();
        loop {
            // No thread waits for the network: a client may take its time.
            let piece = body.next().await.transpose();
            let piece = piece.map_err(|_| Problem::bad_request("the body breaks off"))?;
            let is_over = piece.is_none();
            let piece = piece.unwrap_or_default();
            total += piece.len() as u64;
            if total > most {
                return Err(Problem::too_large(most));
            }
            room.grow(&app.uploads, total)?;
            gathered.extend_from_slice(&piece);
            if gathered.len() as u64 >= UNIT || is_over {
                // Who writes keeps the file: it is deleted after that, also if the client has gone.
                let (bytes, open, file) =
                    (std::mem::take(&mut gathered), writer.take(), Arc::clone(&file));
                let write = move || Writer::write(open, file.path(), form, &bytes, is_over);
                let written = tokio::task::spawn_blocking(write).await;
                let written = written.map_err(|error| failed(&error))?;
                writer = written.map_err(|error| failed(&error))?;
            }
            if is_over {
                break;
            }
        }
        form.check(total)?;
        Ok(Self { file, _room: room })
    }

    /// Takes sound that is in memory, in a few pieces.
    pub(crate) fn of_bytes(data: &DataFolder, kind: &str, body: &[u8]) -> Result<Self> {
        let mut headers = HeaderMap::new();
        headers.extend(HeaderValue::from_str(kind).ok().map(|kind| (header::CONTENT_TYPE, kind)));
        let form = form_of(&headers)?;
        let file = Self::file(data, form)?;
        let mut writer = None;
        for piece in body.chunks(body.len() / 3 + 1) {
            writer = Writer::write(writer, file.path(), form, piece, false)
                .map_err(|error| failed(&error))?;
        }
        Writer::write(writer, file.path(), form, &[], true).map_err(|error| failed(&error))?;
        form.check(body.len() as u64)?;
        Ok(Self { file, _room: Room::default() })
    }

    fn file(data: &DataFolder, form: Form) -> Result<Arc<Passing>> {
        Ok(Arc::new(Passing::new(data, if form == Form::Flac { "flac" } else { "wav" })?))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// A text that names the file, so that it names the body.
    pub(crate) fn named(&self, text: &dyn Display) -> String {
        text.to_string().replace(&self.path().display().to_string(), "the body")
    }
}

fn failed(error: &dyn Display) -> Problem {
    Problem::internal("the data folder cannot be written", error)
}

/// A body that is being written.
struct Writer {
    file: BufWriter<File>,
    /// What its head says, if we write it.
    raw: Option<Raw>,
    bytes: u32,
    /// Half a sample may be left of a piece.
    half: Option<u8>,
}

impl Writer {
    /// Writes one more piece, and closes the file after the last one. Without a writer it is the first.
    fn write(
        writer: Option<Self>,
        path: &Path,
        form: Form,
        piece: &[u8],
        is_over: bool,
    ) -> std::io::Result<Option<Self>> {
        let mut writer = match writer {
            Some(writer) => writer,
            None => Self::begin(path, form)?,
        };
        writer.add(piece)?;
        if !is_over {
            return Ok(Some(writer));
        }
        writer.end()?;
        Ok(None)
    }

    fn begin(path: &Path, form: Form) -> std::io::Result<Self> {
        let mut file = BufWriter::new(File::create_new(path)?);
        let raw = match form {
            Form::Raw(raw) => Some(raw),
            Form::Wav | Form::Flac => None,
        };
        // The head is written again when the length is known.
        if let Some(raw) = raw {
            file.write_all(&raw.header(0))?;
        }
        Ok(Self { file, raw, bytes: 0, half: None })
    }

    fn add(&mut self, piece: &[u8]) -> std::io::Result<()> {
        self.bytes = self.bytes.saturating_add(u32::try_from(piece.len()).unwrap_or(u32::MAX));
        if !self.raw.is_some_and(|raw| raw.is_big_endian) {
            return self.file.write_all(piece);
        }
        for byte in piece {
            match self.half.take() {
                Some(high) => self.file.write_all(&[*byte, high])?,
                None => self.half = Some(*byte),
            }
        }
        Ok(())
    }

    fn end(mut self) -> std::io::Result<()> {
        self.file.flush()?;
        let Some(raw) = self.raw else { return Ok(()) };
        let mut file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&raw.header(self.bytes))
    }
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
        let raw = form("audio/L16;rate=8000").unwrap();
        let mut writer = None;
        for piece in [&[0x12_u8][..], &[0x34, 0x56], &[0x78]] {
            writer = Writer::write(writer, &path, raw, piece, false).unwrap();
        }
        assert!(Writer::write(writer, &path, raw, &[], true).unwrap().is_none());
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(&bytes[44..], [0x34, 0x12, 0x78, 0x56]);
        assert_eq!(&bytes[40..44], 4_u32.to_le_bytes());
    }
    #[test]
    fn room_is_taken_as_sound_comes_and_given_back() {
        let rooms = Rooms::new(UNIT);
        // Many that have sent a little leave room for one that sends much.
        let mut slow: Vec<Room> = (0..BODIES).map(|_| Room::default()).collect();
        for room in &mut slow {
            room.grow(&rooms, 1).unwrap();
            room.grow(&rooms, UNIT).unwrap();
        }
        let mut large = Room::default();
        large.grow(&rooms, BODIES * UNIT).unwrap();
        let full = large.grow(&rooms, BODIES * UNIT + 1).unwrap_err();
        assert_eq!(full.status().as_u16(), 503);
        drop(slow);
        large.grow(&rooms, BODIES * UNIT + 1).unwrap();
    }
}

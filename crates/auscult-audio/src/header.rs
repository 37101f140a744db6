//! Whether a file is what its header says, without reading the sound.

use std::io::Read;

use crate::decode::{Block, Decoder};
use crate::input::Input;
use crate::pcm::cut_off;
use crate::{Error, Location, Part, Result};

/// Reads the header of a file of `file_len` bytes and says what is wrong with the file, as far as
/// that can be seen: of WAV and AIFF also whether the sound is cut off.
///
/// `start` are the first bytes of the file, with at least the whole header; `label` names it in
/// errors.
///
/// # Errors
///
/// As those of [`ClipReader::from_stream`](crate::ClipReader::from_stream), [`Error::NoSound`] and
/// [`Error::Damaged`].
pub fn check_header(
    label: &str,
    start: impl Read + Send + Sync + 'static,
    file_len: u64,
) -> Result<()> {
    let Decoder::Pcm(reader) = Decoder::open(Input::from_stream(label, start)?)? else {
        return Ok(());
    };
    let input = label.to_owned();
    match reader.found_in(file_len) {
        (0, 0) => Err(Error::NoSound { input }),
        (_, 0) => Ok(()),
        (frames, missing) => {
            let seconds = frames as f64 / f64::from(reader.format().sample_rate);
            Err(Error::Damaged { input, seconds, reason: cut_off(missing) })
        }
    }
}

/// The sample rate of a recording, in Hz, from its header. Of standard input this reads the header away.
///
/// # Errors
///
/// As those of [`ClipReader::open`](crate::ClipReader::open).
pub fn native_rate(location: &Location) -> Result<u32> {
    let (_, decoder) = Decoder::at(location)?;
    Ok(decoder.format().sample_rate)
}

/// How long a recording is, in seconds, as far as its header tells; `None` if that is not known without reading
/// all of it.
///
/// # Errors
///
/// As those of [`ClipReader::open`](crate::ClipReader::open).
pub fn header_seconds(location: &Location) -> Result<Option<f64>> {
    let path = match location {
        Location::File(path) => path,
        Location::Part(_, Part { length: Some(length), .. }) => {
            return Ok(Some(length.as_secs_f64()));
        }
        Location::Part(path, part) => {
            let whole = header_seconds(&Location::File(path.clone()))?;
            return Ok(whole.map(|seconds| (seconds - part.start.as_secs_f64()).max(0.0)));
        }
        Location::Memory(sound) => return Ok(Some(sound.seconds())),
        Location::Table(..) => return counted_seconds(location),
        Location::StandardInput => return Ok(None),
    };
    let (_, decoder) = Decoder::at(location)?;
    Ok(match decoder {
        Decoder::Pcm(reader) => {
            let found = std::fs::metadata(path).map_err(|reason| Error::from_io(path, reason))?;
            Some(reader.seconds_in(found.len()))
        }
        Decoder::Packets(reader) => reader.seconds(),
        Decoder::Table(_) | Decoder::Memory(_) => None,
    })
}

/// The length of a table, which has no header: its rows are counted, up to that of a long recording.
fn counted_seconds(location: &Location) -> Result<Option<f64>> {
    const LONG: f64 = 60.0;
    let (_, mut decoder) = Decoder::at(location)?;
    let format = decoder.format();
    let (rate, channels) = (f64::from(format.sample_rate), format.channels);
    let (mut samples, mut block) = (0, Vec::new());
    while samples as f64 / channels as f64 <= LONG * rate {
        match decoder.next_block(&mut block) {
            Ok(Block::Samples) => samples += block.len(),
            Ok(Block::End) => break,
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(samples as f64 / channels as f64 / rate))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::testing::{Wav, fixture, noise};

    /// As much of a file as a caller would read.
    fn check(bytes: &[u8]) -> Result<()> {
        let start = bytes[..bytes.len().min(4096)].to_vec();
        check_header("test", Cursor::new(start), bytes.len() as u64)
    }

    #[test]
    fn whole_files_are_good_whatever_follows_the_sound() {
        let wav = Wav::of_samples(&noise(8_000));
        check(&wav.bytes()).unwrap();
        check(&[wav.bytes(), b"LIST\x04\0\0\0INFO".to_vec()].concat()).unwrap();
        // What programs write into a pipe promises nothing.
        check(&Wav { stated_len: Some(0), ..wav }.bytes()).unwrap();
        check(&std::fs::read(fixture("saw16.flac")).unwrap()).unwrap();
    }

    #[test]
    fn headers_know_how_long_recordings_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wav");
        let wav = Wav::of_samples(&noise(8_000));
        let seconds = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            header_seconds(&Location::File(path.clone())).unwrap()
        };
        assert_eq!(seconds(&wav.bytes()), Some(0.5));
        assert_eq!(seconds(&[wav.bytes(), b"LIST\x04\0\0\0INFO".to_vec()].concat()), Some(0.5));
        assert_eq!(seconds(&wav.bytes()[..wav.header().len() + 8_000]), Some(0.25), "cut off");
        let flac = header_seconds(&Location::File(fixture("saw16.flac"))).unwrap();
        assert!(flac.is_some_and(|seconds| seconds > 0.0), "{flac:?}");
        assert_eq!(header_seconds(&Location::StandardInput).unwrap(), None);
        header_seconds(&Location::File(folder.path().join("gone"))).unwrap_err();
    }

    #[test]
    fn the_same_is_said_as_when_all_is_read() {
        let wav = Wav::of_samples(&noise(16_000));
        let (whole, head) = (wav.bytes(), wav.header().len());
        for (bytes, expected) in [
            (&whole[..0], "test: the file is empty (0 bytes)"),
            (&whole[..20], "test: the header is damaged: the file ends"),
            (&whole[..head], "test: damaged after 0.000 s: the file ends 32000 bytes before"),
            (
                &whole[..head + 16_000],
                "test: damaged after 0.500 s: the file ends 16000 bytes before",
            ),
            (&Wav::of_samples(&[]).bytes()[..], "test: no sound in it"),
            (&b"<html>not found</html>"[..], "test: not a sound file"),
        ] {
            let error = check(bytes).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

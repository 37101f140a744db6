//! An input is opened and its first bytes tell what it is.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use symphonia::core::io::{MediaSource, ReadOnlySource};

use crate::{Error, Result};

/// Enough for every magic number, and for the codec name in a first Ogg page.
const HEAD_LEN: u64 = 64;

/// The containers that are told apart before a decoder sees the sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// RIFF, RF64 or BW64 with the form type WAVE.
    Wave,
    /// AIFF or AIFF-C.
    Aiff,
    /// Sony Wave64.
    Wave64,
    /// Opus in Ogg.
    OggOpus,
    /// MP4 and M4A, whose index may stand behind the sound.
    Mp4,
    /// FLAC, other Ogg, or MP3 with a tag in front.
    Compressed,
    /// No magic number; raw MP3 and AAC have none either.
    Unknown,
}

/// An opened input at its first byte.
pub(crate) struct Input {
    /// The path as the user knows it, or `standard input`.
    pub(crate) label: String,
    pub(crate) container: Container,
    pub(crate) media: Box<dyn MediaSource>,
}

impl Input {
    pub(crate) fn standard_input() -> Result<Self> {
        Self::from_stream("standard input", io::stdin())
    }

    pub(crate) fn open_file(path: &Path) -> Result<Self> {
        let failed = |error| Error::from_io(path, error);
        let label = path.display().to_string();
        let mut file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?;
        if kind.is_dir() {
            return Err(Error::IsFolder { input: label });
        }
        if !kind.is_file() {
            return Self::from_stream(&label, file);
        }
        let container = identify(&read_head(&mut file).map_err(failed)?, &label)?;
        file.rewind().map_err(failed)?;
        Ok(Self { label, container, media: Box::new(file) })
    }

    /// Takes bytes that can be read in any order, as those of a file.
    pub(crate) fn from_bytes(
        label: &str,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Self> {
        let head = bytes.as_ref();
        let head = &head[..head.len().min(HEAD_LEN as usize)];
        let container = identify(head, label)?;
        Ok(Self { label: label.to_owned(), container, media: Box::new(Cursor::new(bytes)) })
    }

    /// Takes a stream that cannot go back.
    pub(crate) fn from_stream(
        label: &str,
        mut stream: impl Read + Send + Sync + 'static,
    ) -> Result<Self> {
        let head = read_head(&mut stream)
            .map_err(|reason| Error::Unreadable { input: label.to_owned(), reason })?;
        let container = identify(&head, label)?;
        let media = Box::new(ReadOnlySource::new(Cursor::new(head).chain(stream)));
        Ok(Self { label: label.to_owned(), container, media })
    }
}

fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD_LEN).read_to_end(&mut head)?;
    Ok(head)
}

fn identify(head: &[u8], label: &str) -> Result<Container> {
    let form = head.get(8..12).unwrap_or_default();
    let container = match head.get(..4).unwrap_or(head) {
        b"" => return Err(Error::EmptyFile { input: label.to_owned() }),
        b"RIFF" | b"RF64" | b"BW64" if form == b"WAVE" => Container::Wave,
        b"FORM" if form == b"AIFF" || form == b"AIFC" => Container::Aiff,
        b"riff" => Container::Wave64,
        b"OggS" if head.windows(8).any(|bytes| bytes == b"OpusHead") => Container::OggOpus,
        b"fLaC" | b"OggS" | [b'I', b'D', b'3', _] => Container::Compressed,
        _ if head.get(4..8) == Some(b"ftyp") => Container::Mp4,
        _ => Container::Unknown,
    };
    Ok(container)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_told_by_their_first_bytes() {
        let cases: [(&[u8], Container); 8] = [
            (b"RIFF....WAVEfmt ", Container::Wave),
            (b"BW64....WAVEds64", Container::Wave),
            (b"RIFF....AVI LIST", Container::Unknown),
            (b"FORM....AIFCFVER", Container::Aiff),
            (b"OggS\0\x02......................OpusHead", Container::OggOpus),
            (b"fLaC", Container::Compressed),
            (b"\0\0\0\x18ftypM4A ", Container::Mp4),
            (b"R", Container::Unknown),
        ];
        for (head, expected) in cases {
            assert_eq!(identify(head, "x").unwrap(), expected, "{head:?}");
        }
    }

    #[test]
    fn a_stream_starts_again_at_its_first_byte() {
        let bytes: Vec<u8> = (0..200).collect();
        let mut input = Input::from_stream("x", Cursor::new(bytes.clone())).unwrap();
        let mut read = Vec::new();
        input.media.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }
}

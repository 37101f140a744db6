//! Which files are sound, by their names or first bytes.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Extensions of sound that is read, in lower case.
pub(crate) const SUPPORTED: &[&str] = &[
    "wav", "wave", "rf64", "bw64", "flac", "mp3", "ogg", "oga", "aac", "m4a", "mp4", "aif", "aiff",
    "aifc",
    // Refused by name when they are opened: `opus` in builds without it, `w64` in all.
    "opus", "w64",
];

/// Extensions of sound that is not read, in lower case. Those of other things too, such as `raw`,
/// are not among them.
const UNSUPPORTED: &[&str] = &[
    "3ga", "ac3", "amr", "ape", "au", "caf", "dsf", "dts", "m4b", "mka", "mp2", "mpc", "ra", "spx",
    "tta", "voc", "webm", "wma", "wv",
];

/// Whether a path has the extension of sound that is read, in upper or lower case.
pub fn has_sound_extension(path: &Path) -> bool {
    has_one_of(path, SUPPORTED)
}

/// Whether a path has the extension of sound that is known and not read.
pub(crate) fn has_unsupported_extension(path: &Path) -> bool {
    has_one_of(path, UNSUPPORTED)
}

fn has_one_of(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .is_some_and(|found| extensions.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

/// Whether a file is a recording, to judge by its name or its first bytes.
pub fn is_sound_file(path: &Path) -> bool {
    let mut first = [0; 12];
    let read = || -> std::io::Result<usize> {
        let mut file = fs::File::open(path)?;
        let mut len = 0;
        while len < first.len() {
            match file.read(&mut first[len..])? {
                0 => break,
                read => len += read,
            }
        }
        Ok(len)
    };
    let len = { read }().unwrap_or(0);
    let first = &first[..len];
    let starts = [b"RIFF", b"RF64", b"BW64", b"FORM", b"fLaC", b"OggS"];
    let is_sound = starts.iter().any(|start| first.starts_with(*start))
        || first.starts_with(b"ID3")
        || first.get(4..8) == Some(b"ftyp");
    len > 0 && (is_sound || has_sound_extension(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_in_one_list_only_and_in_lower_case() {
        for extension in UNSUPPORTED {
            assert!(!SUPPORTED.contains(extension), "{extension}");
        }
        for extension in SUPPORTED.iter().chain(UNSUPPORTED) {
            assert_eq!(*extension, extension.to_ascii_lowercase());
        }
        assert!(has_sound_extension(Path::new("a/B.WAV")));
        assert!(!has_sound_extension(Path::new("wav")));
    }

    #[test]
    fn recordings_are_known_by_name_or_by_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        assert!(!is_sound_file(&write("empty.wav", b"")), "nothing to lose");
        assert!(!is_sound_file(&folder.path().join("nowhere")));
        assert!(is_sound_file(&write("damaged.flac", b"x")));
        assert!(is_sound_file(&write("no_extension", b"RIFF....WAVEfmt ")));
        assert!(is_sound_file(&write("film", b"....ftypM4A ")));
        assert!(!is_sound_file(&write("table.csv", b"path,score\n")));
    }
}

//! Files are read as far as their kind may be long, and no further.

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    path::Path,
};

/// Reads a file, or a pipe, of at most `most` bytes.
///
/// # Errors
///
/// If it cannot be read, is a folder or a device, or has more bytes.
///
/// # Examples
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("protocol.toml");
/// std::fs::write(&path, "name = \"mine\"")?;
/// assert_eq!(auscult_files::read_at_most(&path, 1 << 20)?.len(), 13);
/// assert!(auscult_files::read_at_most(&path, 10).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large = |bytes: u64| {
        let text = format!("it has {bytes} bytes or more; files of its kind have at most {most}");
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    let facts = path.metadata()?;
    if facts.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if is_device(&facts) {
        return Err(io::Error::other("it is a device, not a file"));
    }
    if facts.len() > most {
        return Err(too_large(facts.len()));
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize);
    // One byte more than allowed tells a pipe or a growing file apart from the largest file.
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// As [`read_at_most`], for text.
///
/// # Errors
///
/// As [`read_at_most`], and if it is not UTF-8.
pub fn read_text_at_most(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_at_most(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

#[cfg(unix)]
fn is_device(facts: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    facts.file_type().is_char_device() || facts.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_above_the_limit_are_refused_with_both_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        std::fs::write(&path, [0; 11]).unwrap();
        let error = read_at_most(&path, 10).unwrap_err();
        assert_eq!(error.to_string(), "it has 11 bytes or more; files of its kind have at most 10");
        assert_eq!(read_at_most(&path, 11).unwrap(), [0; 11]);
        assert!(read_text_at_most(folder.path(), 10).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_that_never_ends_is_refused() {
        let error = read_at_most(Path::new("/dev/zero"), 10).unwrap_err();
        assert_eq!(error.to_string(), "it is a device, not a file");
    }
}

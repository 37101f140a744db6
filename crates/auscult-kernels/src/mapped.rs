//! Files as memory.

use std::{fs::File, io, ops::Deref, path::Path};

/// A file mapped into memory, read only: pages are read when they are touched and are not counted
/// twice.
///
/// The file must not be changed while it is mapped: a shortened file ends the program, and changed
/// bytes are seen. Files written by renaming a finished one are safe.
#[derive(Debug)]
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<memmap2::Mmap>,
}

impl MappedFile {
    /// Maps a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is read only and its bytes are checked before use; what happens if
        // another program changes the file meanwhile is documented above.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self { map: Some(map) })
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

//! What lies in a folder, archives included, as one list of paths.

use std::{
    fs::{self, File},
    io::{BufReader, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use zip::ZipArchive;

use crate::{Error, Result};

/// Where the bytes of a file are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ClipFile {
    /// A file of its own.
    Plain(PathBuf),
    /// An entry of a zip archive, read in place.
    Archived {
        /// The archive.
        archive: PathBuf,
        /// The entry's name in it.
        entry: String,
    },
}

/// A clip's file may have at most so many bytes: an hour of 16 channels would not.
const LARGEST_BYTES: u64 = 1 << 30;

impl ClipFile {
    /// All bytes of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if it cannot be read or is larger than 1 GB.
    pub fn bytes(&self, archives: &Archives) -> Result<Vec<u8>> {
        match self {
            Self::Plain(path) => {
                let file = File::open(path).map_err(Error::read(path))?;
                let size = file.metadata().map_or(0, |found| found.len());
                bounded(file, size, path)
            }
            Self::Archived { archive, entry } => archives.bytes(archive, entry),
        }
    }

    /// The first bytes of the file, so many at most, and how many it has.
    pub(super) fn start(&self, most: u64, archives: &Archives) -> Result<(Vec<u8>, u64)> {
        match self {
            Self::Plain(path) => {
                let file = File::open(path).map_err(Error::read(path))?;
                let len = file.metadata().map_err(Error::read(path))?.len();
                Ok((bounded(file.take(most), most, path)?, len))
            }
            Self::Archived { archive, entry } => archives.start(most, archive, entry),
        }
    }

    /// The path as shown to users.
    pub fn label(&self) -> String {
        match self {
            Self::Plain(path) => path.display().to_string(),
            Self::Archived { archive, entry } => format!("{}:{entry}", archive.display()),
        }
    }
}

fn bounded(input: impl Read, size: u64, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size.min(LARGEST_BYTES) as usize);
    input.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(Error::read(path))?;
    if bytes.len() as u64 > LARGEST_BYTES {
        let source = std::io::Error::other("the file is larger than 1 GB, too large for a clip");
        return Err(Error::Read { path: path.to_owned(), source });
    }
    Ok(bytes)
}

type OpenArchive = ZipArchive<BufReader<File>>;

/// Archives that were opened; kept open, since their directories are long.
#[derive(Debug, Default)]
pub struct Archives {
    open: Mutex<Vec<(PathBuf, Arc<Mutex<OpenArchive>>)>>,
}

impl Archives {
    fn archive(&self, path: &Path) -> Result<Arc<Mutex<OpenArchive>>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, archive)) = open.iter().find(|(other, _)| other == path) {
            return Ok(Arc::clone(archive));
        }
        let archive = Arc::new(Mutex::new(open_archive(path)?));
        open.push((path.to_owned(), Arc::clone(&archive)));
        Ok(archive)
    }

    fn bytes(&self, path: &Path, entry: &str) -> Result<Vec<u8>> {
        let archive = self.archive(path)?;
        let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = archive.by_name(entry).map_err(|error| damaged(path, &error))?;
        let size = entry.size();
        bounded(entry, size, path)
    }

    fn start(&self, most: u64, path: &Path, entry: &str) -> Result<(Vec<u8>, u64)> {
        let archive = self.archive(path)?;
        let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = archive.by_name(entry).map_err(|error| damaged(path, &error))?;
        let len = entry.size();
        Ok((bounded(entry.take(most), most, path)?, len))
    }
}

fn open_archive(path: &Path) -> Result<OpenArchive> {
    let file = File::open(path).map_err(Error::read(path))?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, &error))
}

fn damaged(path: &Path, error: &zip::result::ZipError) -> Error {
    let words = format!("{error}; a download that stopped half way? fetch it again or remove it");
    Error::Read { path: path.to_owned(), source: std::io::Error::other(words) }
}

/// A file below a root: its place, folder by folder, and where its bytes are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TreeFile {
    /// The path below the root; an archive counts as a folder with its name (less `.zip`).
    pub(super) path: Vec<String>,
    pub(super) file: ClipFile,
}

impl TreeFile {
    /// The base name.
    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// The folder `up` levels above the file: 1 is the one it lies in.
    pub(super) fn folder(&self, up: usize) -> &str {
        self.path.len().checked_sub(up + 1).map_or("", |at| self.path[at].as_str())
    }

    /// The base name without its extension.
    pub(super) fn stem(&self) -> &str {
        let name = self.name();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    pub(super) fn is_sound(&self) -> bool {
        self.has_extension(&["wav", "flac", "ogg", "mp3", "aif", "aiff", "m4a"])
    }

    pub(super) fn has_extension(&self, wanted: &[&str]) -> bool {
        let name = self.name();
        name.rsplit_once('.')
            .is_some_and(|(_, found)| wanted.iter().any(|other| found.eq_ignore_ascii_case(other)))
    }
}

/// What to say about downloads that are not finished, if there are any.
pub(super) fn unfinished(files: &[TreeFile]) -> Option<String> {
    let mut parts = files.iter().filter(|file| file.name().ends_with(".zip.part"));
    let first = parts.next()?.file.label();
    let more = match parts.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!(
        "{first}{more} is a download that stopped half way: the same auscult data download goes on"
    ))
}

/// Folders are searched so deep.
const MOST_LEVELS: usize = 12;

/// Everything below `root`, archives opened; hidden files are left out.
pub(super) fn list(root: &Path) -> Result<Vec<TreeFile>> {
    let mut files = Vec::new();
    if root.is_file() && root.extension().is_some_and(|found| found.eq_ignore_ascii_case("zip")) {
        list_archive(root, &[stem(root)], &mut files)?;
    } else {
        list_folder(root, &mut Vec::new(), &mut files)?;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn list_folder(folder: &Path, above: &mut Vec<String>, files: &mut Vec<TreeFile>) -> Result<()> {
    if above.len() >= MOST_LEVELS {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') || name == "__MACOSX" {
            continue;
        }
        above.push(name.to_owned());
        if path.is_dir() {
            list_folder(&path, above, files)?;
        } else if name.to_ascii_lowercase().ends_with(".zip") {
            above.pop();
            above.push(stem(&path));
            list_archive(&path, above, files)?;
        } else {
            files.push(TreeFile { path: above.clone(), file: ClipFile::Plain(path.clone()) });
        }
        above.pop();
    }
    Ok(())
}

/// Folders that should hold clips and do not: those without any file below them, and those called
/// train without sound; of nested ones the outermost. Archives are not looked into.
///
/// # Errors
///
/// [`Error::Read`] if a folder cannot be read.
pub fn empty_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let mut empty = Vec::new();
    if root.is_dir() && look_into(root, 0, &mut empty)?.is_empty() {
        empty = vec![root.to_owned()];
    }
    empty.sort();
    Ok(empty)
}

/// What lies below a folder.
#[derive(Debug, Clone, Copy, Default)]
struct Contents {
    has_sound: bool,
    has_other_files: bool,
    has_train_folder: bool,
}

impl Contents {
    fn is_empty(self) -> bool {
        !self.has_sound && (self.has_train_folder || !self.has_other_files)
    }
}

fn look_into(folder: &Path, level: usize, empty: &mut Vec<PathBuf>) -> Result<Contents> {
    let is_train = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("train"));
    let mut contents = Contents { has_train_folder: is_train, ..Contents::default() };
    if level >= MOST_LEVELS {
        return Ok(Contents { has_sound: true, ..contents });
    }
    for entry in fs::read_dir(folder).map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') || name == "__MACOSX" {
            continue;
        }
        if path.is_dir() {
            let mut below = Vec::new();
            let found = look_into(&path, level + 1, &mut below)?;
            empty.extend(if found.is_empty() { vec![path] } else { below });
            contents.has_sound |= found.has_sound;
            contents.has_other_files |= found.has_other_files;
            contents.has_train_folder |= found.has_train_folder;
        } else {
            let file =
                TreeFile { path: vec![name.to_owned()], file: ClipFile::Plain(path.clone()) };
            let holds_sound = file.is_sound() || file.has_extension(&["zip"]);
            contents.has_sound |= holds_sound;
            contents.has_other_files |= !holds_sound;
        }
    }
    Ok(contents)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn list_archive(path: &Path, above: &[String], files: &mut Vec<TreeFile>) -> Result<()> {
    let archive = open_archive(path)?;
    for name in archive.file_names() {
        let name = name.map_err(|error| damaged(path, &error))?;
        if name.ends_with('/') {
            continue;
        }
        let parts = name.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
        let path_in_tree: Vec<String> = above.iter().cloned().chain(parts).collect();
        if path_in_tree.iter().any(|part| part.starts_with('.') || part == "__MACOSX") {
            continue;
        }
        let file = ClipFile::Archived { archive: path.to_owned(), entry: name.into_owned() };
        files.push(TreeFile { path: path_in_tree, file });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_without_clips_are_found_and_those_with_something_else_are_not() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        for path in ["fan/train/1.wav", "notes/a.txt", "pump/train/table.csv", "valve/data.zip"] {
            file(path);
        }
        for path in ["slider/train", "slider/test", "fan/test/anomaly", ".hidden"] {
            fs::create_dir_all(root.path().join(path)).unwrap();
        }
        let found = empty_folders(root.path()).unwrap();
        let want = ["fan/test", "pump", "slider"].map(|path| root.path().join(path));
        assert_eq!(found, want);
        let nothing = tempfile::tempdir().unwrap();
        assert_eq!(empty_folders(nothing.path()).unwrap(), [nothing.path()]);
        assert!(empty_folders(&root.path().join("notes/a.txt")).unwrap().is_empty());
    }
}

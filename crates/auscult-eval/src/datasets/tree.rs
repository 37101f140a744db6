//! What lies in a folder, archives included, as one list of paths.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use auscult_audio::{Walked, has_sound_extension};
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

/// The largest file of a clip, in bytes: an hour of 16 channels at 16 kHz is larger.
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

    /// The first bytes of the file, `most` of them at most, and how many it has.
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
    let reason = format!("{error}; a download that stopped half way? fetch it again or remove it");
    Error::Read { path: path.to_owned(), source: std::io::Error::other(reason) }
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
        has_sound_extension(Path::new(self.name()))
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

/// Everything below `root`, archives opened; hidden files are left out.
pub(super) fn list(root: &Path, remarks: &mut Vec<String>) -> Result<Vec<TreeFile>> {
    let mut files = Vec::new();
    if root.is_file() && is_archive(root) {
        list_archive(root, &[stem(root)], &mut files)?;
    } else {
        let walked = walk_whole(root)?;
        remarks.extend(walked.repeated.iter().map(|folder| {
            format!(
                "{}: a link to a folder that is read already; it is read once",
                folder.display()
            )
        }));
        for path in walked.files {
            list_file(root, path, &mut files)?;
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// What lies below a folder, if all of it can be read.
fn walk_whole(root: &Path) -> Result<Walked> {
    let mut walked = auscult_audio::walk(root);
    if walked.problems.is_empty() {
        return Ok(walked);
    }
    Err(walked.problems.swap_remove(0).into())
}

/// Adds a file below `root`, or what an archive holds. Data sets have no names that are not UTF-8.
fn list_file(root: &Path, path: PathBuf, files: &mut Vec<TreeFile>) -> Result<()> {
    let below = path.strip_prefix(root).unwrap_or(&path).iter();
    let Some(mut parts) = below.map(part_name).collect::<Option<Vec<String>>>() else {
        return Ok(());
    };
    if is_archive(&path) {
        parts.pop();
        parts.push(stem(&path));
        return list_archive(&path, &parts, files);
    }
    files.push(TreeFile { path: parts, file: ClipFile::Plain(path) });
    Ok(())
}

/// The name of a file or folder that may be part of a data set.
fn part_name(name: &OsStr) -> Option<String> {
    name.to_str().filter(|name| *name != MAC_FOLDER).map(str::to_owned)
}

/// What a Mac puts beside the files of an archive.
const MAC_FOLDER: &str = "__MACOSX";

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case("zip"))
}

/// Folders that should hold clips and do not: those without any file below them, and those called
/// train without sound; of nested ones the outermost. Archives are not looked into.
///
/// # Errors
///
/// [`Error::Read`] if a folder cannot be read.
pub fn empty_folders(root: &Path) -> Result<Vec<PathBuf>> {
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    let walked = walk_whole(root)?;
    let is_part = |path: &Path| {
        path.strip_prefix(root)
            .is_ok_and(|below| below.iter().all(|name| part_name(name).is_some()))
    };
    let folders = walked.folders.iter().filter(|path| is_part(path));
    let mut contents: BTreeMap<&Path, Contents> =
        folders.map(|folder| (folder.as_path(), Contents::default())).collect();
    let mut look = |path: &Path, note: fn(&mut Contents)| {
        for folder in path.ancestors() {
            contents.get_mut(folder).map(note);
        }
    };
    for folder in &walked.folders {
        if folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case("train")) {
            look(folder, |contents| contents.has_train_folder = true);
        }
    }
    for file in walked.files.iter().filter(|path| is_part(path)) {
        if has_sound_extension(file) || is_archive(file) {
            look(file, |contents| contents.has_sound = true);
        } else {
            look(file, |contents| contents.has_other_files = true);
        }
    }
    let is_empty = |path: &Path| contents.get(path).is_some_and(|found| found.is_empty());
    let is_outermost = |path: &Path| !path.parent().is_some_and(is_empty);
    let empty = contents.keys().filter(|path| is_empty(path) && is_outermost(path));
    Ok(empty.map(|path| path.to_path_buf()).collect())
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
        if path_in_tree.iter().any(|part| part.starts_with('.') || part == MAC_FOLDER) {
            continue;
        }
        let file = ClipFile::Archived { archive: path.to_owned(), entry: name.into_owned() };
        files.push(TreeFile { path: path_in_tree, file });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    #[cfg(unix)]
    #[test]
    fn loops_of_symbolic_links_end() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("fan/train")).unwrap();
        fs::write(root.path().join("fan/train/1.wav"), "").unwrap();
        for link in 0..8 {
            std::os::unix::fs::symlink(".", root.path().join(format!("fan/link{link}"))).unwrap();
        }
        std::os::unix::fs::symlink("fan", root.path().join("pump")).unwrap();
        let mut remarks = Vec::new();
        let files = list(root.path(), &mut remarks).unwrap();
        let pump = root.path().join("pump").display().to_string();
        assert!(matches!(&remarks[..], [remark] if remark.starts_with(&pump)), "{remarks:?}");
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, ["fan", "train", "1.wav"]);
        assert!(empty_folders(root.path()).unwrap().is_empty());
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let root = tempfile::tempdir().unwrap();
        let error = list(&root.path().join("gone"), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.ends_with("gone: no such file or folder; check the path"), "{error}");
    }
}

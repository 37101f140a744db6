//! What lies below a folder.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What lies below a folder.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Walked {
    /// All files, sorted by the bytes of their paths.
    pub files: Vec<PathBuf>,
    /// The folder itself and all folders below it, sorted in the same way.
    pub folders: Vec<PathBuf>,
    /// Folders that are left out because they are one of `folders` by another path, through a
    /// symbolic link. Links to a folder they lie in, which make a loop, are not among them.
    pub repeated: Vec<PathBuf>,
    /// Folders that could not be read.
    pub problems: Vec<Error>,
}

/// Finds all files and folders below `folder`, by paths that start with it.
///
/// Hidden files and folders are left out, and so are pipes and devices, which could block for
/// ever. Symbolic links are followed, but every real folder is read once, under the first of its
/// paths, so a loop of links ends. A link that leads nowhere is a file: opening it says so.
pub fn walk(folder: &Path) -> Walked {
    let mut walked = Walked::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        match list(&folder, &mut seen) {
            Ok(Some(paths)) => {
                for path in paths {
                    match path.metadata() {
                        Ok(kind) if kind.is_dir() => waiting.push(path),
                        Ok(kind) if !kind.is_file() => {}
                        Ok(_) | Err(_) => walked.files.push(path),
                    }
                }
                walked.folders.push(folder);
            }
            Ok(None) if is_loop(&folder) => {}
            Ok(None) => walked.repeated.push(folder),
            Err(problem) => walked.problems.push(problem),
        }
    }
    for paths in [&mut walked.files, &mut walked.folders, &mut walked.repeated] {
        paths.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
    }
    walked
}

/// Whether a link leads to a folder that it lies in.
fn is_loop(link: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let (target, place) = (real(link), link.parent().and_then(real));
    target.zip(place).is_some_and(|(target, place)| place.starts_with(target))
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The visible entries of a folder, last first; `None` if it was `seen` before.
fn list(folder: &Path, seen: &mut HashSet<PathBuf>) -> Result<Option<Vec<PathBuf>>> {
    // A pattern without leading folders starts in the current one.
    let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let canonical = fs::canonicalize(real).map_err(|error| Error::from_io(folder, error))?;
    if !seen.insert(canonical) {
        return Ok(None);
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(real).map_err(|error| Error::from_io(folder, error))? {
        let name = entry.map_err(|error| Error::from_io(folder, error))?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            paths.push(folder.join(name));
        }
    }
    paths.sort_unstable_by(|a, b| bytes(b).cmp(bytes(a)));
    Ok(Some(paths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_come_sorted_without_hidden_ones() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["b/c", "a", ".git"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in ["b/c/x", "b/x", "z", ".hidden", ".git/x"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let walked = walk(root.path());
        let below = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths.iter().map(|path| path.strip_prefix(root.path()).unwrap().to_owned()).collect()
        };
        assert_eq!(below(&walked.files), ["b/c/x", "b/x", "z"].map(PathBuf::from));
        assert_eq!(below(&walked.folders), ["", "a", "b", "b/c"].map(PathBuf::from));
        assert!(walked.problems.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn loops_end_and_other_links_to_the_same_folder_are_named() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::write(path("a/b/x"), "").unwrap();
        for (target, link) in
            [(path("a"), "a/b/up"), (root.path().into(), "a/top"), (path("a"), "c")]
        {
            std::os::unix::fs::symlink(target, path(link)).unwrap();
        }
        let walked = walk(root.path());
        assert_eq!(walked.files, [path("a/b/x")]);
        assert_eq!(walked.folders, [path(""), path("a"), path("a/b")]);
        assert_eq!(walked.repeated, [path("c")]);
    }

    #[test]
    fn what_is_not_a_folder_is_a_problem() {
        let root = tempfile::tempdir().unwrap();
        let walked = walk(&root.path().join("gone"));
        assert!(matches!(walked.problems[..], [Error::NotFound { .. }]));
        assert!(walked.folders.is_empty());
    }
}

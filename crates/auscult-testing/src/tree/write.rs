//! Writes a tree to a folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::layout::TreeFile;
use super::recipe::TreeRecipe;
use super::tables::tables;
use crate::error::{Error, Result};
use crate::wav;

/// Writes all clips of the recipe and the tables that describe them.
///
/// The folder is made if it is not there. Clips are rendered in parallel on the
/// current rayon pool; their bytes do not depend on the number of threads.
/// `progress` hears how many clips are done, of how many. Each file is written
/// under a temporary name and renamed; the tables come last, so a tree without them
/// was interrupted.
///
/// Returns the clips with their paths inside `folder`.
///
/// # Errors
///
/// Returns the error of [`TreeRecipe::check`] if the recipe is not valid,
/// [`Error::FolderNotEmpty`] if the folder holds anything, and [`Error::Write`] if a
/// file or folder cannot be written.
pub fn write_tree(
    folder: &Path,
    recipe: &TreeRecipe,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<TreeFile>> {
    let files = recipe.files()?;
    prepare(folder, &files)?;
    let mut done = 0;
    progress(done, files.len());
    // Several clips a thread, so that a slow one does not hold up the others.
    for batch in files.chunks(4 * rayon::current_num_threads()) {
        batch.par_iter().try_for_each(|file| write_clip(folder, file))?;
        done += batch.len();
        progress(done, files.len());
    }
    for &machine in &recipe.machines {
        for (path, text) in tables(recipe.layout, machine, &files) {
            write_whole(&folder.join(path), text.as_bytes())?;
        }
    }
    let inside = |file: TreeFile| TreeFile { path: folder.join(&file.path), ..file };
    Ok(files.into_iter().map(inside).collect())
}

/// Makes the folders, once it is sure that nothing is in the way.
fn prepare(folder: &Path, files: &[TreeFile]) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
    let mut entries = fs::read_dir(folder).map_err(|source| failed(folder, source))?;
    if entries.next().is_some() {
        return Err(Error::FolderNotEmpty { folder: folder.to_path_buf() });
    }
    let parents: BTreeSet<PathBuf> = files
        .iter()
        .filter_map(|file| file.path.parent())
        .map(|parent| folder.join(parent))
        .collect();
    parents
        .iter()
        .try_for_each(|parent| fs::create_dir_all(parent).map_err(|source| failed(parent, source)))
}

fn write_clip(folder: &Path, file: &TreeFile) -> Result<()> {
    let path = folder.join(&file.path);
    let mut bytes = Vec::new();
    wav::write(&mut bytes, &file.recipe.render()?, file.recipe.sample_rate)
        .map_err(|source| failed(&path, source))?;
    write_whole(&path, &bytes)
}

/// Writes a file so that it is there as a whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_path_buf(), source }
}

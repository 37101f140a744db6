//! The CSV files that say what each clip of a tree is.
//!
//! No field needs quoting: all are our own names and numbers.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::layout::{Layout, Split, TreeFile};
use crate::machines::Machine;

/// The tables of one machine: where they go, and their text.
pub(super) fn tables(
    layout: Layout,
    machine: Machine,
    files: &[TreeFile],
) -> Vec<(PathBuf, String)> {
    let files: Vec<_> = files.iter().filter(|file| file.recipe.machine == machine).collect();
    let of = |split| files.iter().copied().filter(move |file| file.split == split);
    let folder = Path::new(machine.name());
    match layout {
        Layout::Dcase => vec![
            (folder.join("train.csv"), manifest(folder, of(Split::Train))),
            (folder.join("test.csv"), manifest(folder, of(Split::Test))),
            (folder.join("attributes_00.csv"), attributes(files.iter().copied())),
        ],
        Layout::Visits => vec![(folder.join("check.csv"), manifest(folder, of(Split::Test)))],
    }
}

/// One row a clip, with its path relative to `folder`.
fn manifest<'a>(folder: &Path, files: impl Iterator<Item = &'a TreeFile>) -> String {
    let mut text = String::from("path,visit,domain,label,fault,state\n");
    for file in files {
        let path = slashes(file.path.strip_prefix(folder).unwrap_or(&file.path));
        let recipe = &file.recipe;
        let fault = recipe.fault.map_or("", |(fault, _)| fault.name());
        let (visit, domain, label, state) =
            (recipe.visit, recipe.domain, file.label(), recipe.state);
        line(&mut text, format_args!("{path},{visit},{domain},{label},{fault},{state}"));
    }
    text
}

/// The attributes as DCASE gives them: names and values in turn, paths from the root.
fn attributes<'a>(files: impl Iterator<Item = &'a TreeFile>) -> String {
    let mut text = String::from("file_name,d1p,d1v,d2p,d2v\n");
    for file in files {
        let (path, recipe) = (slashes(&file.path), &file.recipe);
        line(&mut text, format_args!("{path},state,{},visit,{:02}", recipe.state, recipe.visit));
    }
    text
}

fn line(text: &mut String, fields: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{fields}");
}

/// The path with `/` on every platform, so that the tables have the same bytes everywhere.
fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

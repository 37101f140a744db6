//! The layout of the DCASE challenges since 2022.

use std::path::PathBuf;

use super::layout::{Split, TreeFile, label};
use crate::machines::ClipRecipe;

/// Names each clip; indices start at 0 for each split, domain and label.
pub(super) fn place(clips: impl Iterator<Item = (Split, ClipRecipe)>) -> Vec<TreeFile> {
    let mut files = Vec::new();
    let mut last = (String::new(), 0);
    for (split, recipe) in clips {
        let (machine, domain, label) = (recipe.machine, recipe.domain, label(&recipe));
        let split_name = name(split);
        let group = format!("{machine}/{split_name}/section_00_{domain}_{split_name}_{label}");
        // Clips of a group stand next to each other.
        let index = if last.0 == group { last.1 + 1 } else { 0 };
        let path = format!("{group}_{index:04}_{}.wav", attributes(&recipe));
        files.push(TreeFile { path: PathBuf::from(path), split, recipe });
        last = (group, index);
    }
    files
}

/// The folder and the word in file names.
pub(super) const fn name(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Test => "test",
    }
}

fn attributes(recipe: &ClipRecipe) -> String {
    format!("state_{}_visit_{:02}", recipe.state, recipe.visit)
}

//! The layout of a plant engineer: a folder for each visit, and clips to check.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::layout::{Split, TreeFile};
use crate::machines::ClipRecipe;

/// Names each clip; indices start at 0 in each visit, and for each fault.
pub(super) fn place(clips: impl Iterator<Item = (Split, ClipRecipe)>) -> Vec<TreeFile> {
    let mut counts = BTreeMap::new();
    let mut file = |(split, recipe): (Split, ClipRecipe)| {
        let group = group(split, &recipe);
        let index = counts.entry(group.clone()).or_insert(0);
        let path = PathBuf::from(format!("{group}{index:04}.wav"));
        *index += 1;
        TreeFile { path, split, recipe }
    };
    clips.map(&mut file).collect()
}

/// The path up to the index.
fn group(split: Split, recipe: &ClipRecipe) -> String {
    let machine = recipe.machine;
    match (split, recipe.fault) {
        (Split::Train, _) => format!("{machine}/normal/visit_{:02}/", recipe.visit),
        (Split::Test, None) => format!("{machine}/check/normal_"),
        (Split::Test, Some((fault, _))) => format!("{machine}/check/{fault}_"),
    }
}

//! How a tree is arranged, and what stands in it.

use std::path::PathBuf;

use crate::machines::ClipRecipe;
use crate::machines::kinds::named;

/// How the files of a tree are named and arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// As in the DCASE challenges since 2022: `fan/train/section_00_source_train_normal_0000_….wav`,
    /// with `attributes_00.csv`, and `train.csv` and `test.csv` beside it.
    Dcase,
    /// As a plant engineer would have it: `fan/normal/visit_01/0000.wav`,
    /// `fan/check/leak_0000.wav`, with `check.csv`.
    Visits,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Self; 2] = [Self::Dcase, Self::Visits];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dcase => "dcase",
            Self::Visits => "visits",
        }
    }
}

named!(Layout, "layout");

/// What a clip is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// To learn the normal sound from.
    Train,
    /// To test with.
    Test,
}

/// One clip of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeFile {
    /// Where the clip is.
    pub path: PathBuf,
    /// What the clip is for.
    pub split: Split,
    /// What the clip was made from.
    pub recipe: ClipRecipe,
}

impl TreeFile {
    /// `normal` or `anomaly`, as DCASE writes it.
    pub const fn label(&self) -> &'static str {
        label(&self.recipe)
    }
}

/// `normal` or `anomaly`, as DCASE writes it.
pub(super) const fn label(recipe: &ClipRecipe) -> &'static str {
    if recipe.fault.is_some() { "anomaly" } else { "normal" }
}

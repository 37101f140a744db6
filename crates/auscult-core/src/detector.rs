//! The two faces of every back end: one that learns, one that scores.

use crate::{ClipScore, ClipVectors, References, Result};

/// Something that learns what normal is. Settings only: it cannot score.
pub trait Detector {
    /// What fitting makes of it.
    type Fitted: Scorer;

    /// Remembers the references.
    ///
    /// # Errors
    ///
    /// If there are no references, or they do not suit the settings.
    fn fit(&self, references: References) -> Result<Self::Fitted>;
}

/// Something that knows what normal is and scores clips.
pub trait Scorer {
    /// Scores one clip.
    ///
    /// # Errors
    ///
    /// If the clip's vectors are not those of the references.
    fn score(&self, clip: &ClipVectors) -> Result<ClipScore>;
}

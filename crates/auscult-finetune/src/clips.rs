//! What is learnt from: clips with labels, and what chose them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Clips with their labels.
pub trait LabelledClips: Sync {
    /// What a clip is called, in messages.
    fn name(&self, clip: usize) -> String;

    /// The label of each clip: the classes to distinguish.
    fn labels(&self) -> &[String];

    /// The samples of a clip, mono at 16 kHz.
    ///
    /// # Errors
    ///
    /// In words, if it cannot be read.
    fn samples(&self, clip: usize) -> std::result::Result<Vec<f32>, String>;

    /// What chose the clips.
    fn origin(&self) -> ClipOrigin {
        ClipOrigin::default()
    }
}

/// What chose the clips of a run: stored with it, and named where a run would go on with others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClipOrigin {
    /// The channel that is taken; a run goes on with the same one only.
    pub channel: String,
    /// Options and their values, such as `labels` and `sections`. Other values are allowed where
    /// they choose the same clips.
    pub options: BTreeMap<String, String>,
}

/// Names and labels of clips, in their order.
pub(super) fn fingerprint(clips: &dyn LabelledClips) -> String {
    let mut hasher = blake3::Hasher::new();
    for (clip, label) in clips.labels().iter().enumerate() {
        hasher.update(format!("{}\n{label}\n", clips.name(clip)).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

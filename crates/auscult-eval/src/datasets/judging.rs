//! Which clips are judged, and by which others.

use super::{Dataset, DatasetClip, DatasetKind, Split};
use crate::{Error, Result, metrics::Label};

/// Which clips are judged, and by which others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Judging {
    /// Test clips by training clips.
    #[default]
    Split,
    /// Each normal clip of a section by the other normal clips, whatever their split; anomalous clips by
    /// all normal clips but the first by name, so that every memory has the same size.
    LeaveOneOut,
}

impl Dataset {
    /// Judges by leaving one out; what was said about splits no longer counts.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if the data set has an official score, which is that of its own split, or if
    /// a clip has no label.
    pub fn leave_one_out(&mut self) -> Result<()> {
        let wrong = |reason: String| Error::Dataset { kind: self.kind.to_string(), reason };
        if matches!(self.kind, DatasetKind::Dcase(_)) {
            let reason = "its scores are those of its own split, and leaving one out makes another; take \
                          the clips as a folder or a manifest";
            return Err(wrong(reason.to_owned()));
        }
        let unlabelled = self.clips.iter().filter(|clip| clip.label.is_none());
        let count = unlabelled.clone().count();
        if let Some(first) = unlabelled.map(|clip| clip.file.label()).next() {
            let advice = self.kind.advice_on_labels();
            return Err(wrong(format!(
                "leaving one out needs the label of every clip; without one: {count}, the first {first}; {advice}"
            )));
        }
        self.clips.sort_by_cached_key(|clip| {
            let DatasetClip { set, machine, section, name, file, .. } = clip;
            let section = (set.clone(), machine.clone(), section.clone());
            (section, clip.label != Some(Label::Normal), name.clone(), file.label())
        });
        self.split_remarks.clear();
        self.judging = Judging::LeaveOneOut;
        Ok(())
    }

    /// How its clips are judged.
    pub fn judging(&self) -> Judging {
        self.judging
    }
}

impl Judging {
    /// Whether a clip is learnt from, and whether it is judged.
    pub(super) fn parts_of(self, clip: &DatasetClip) -> (bool, bool) {
        match (self, clip.split) {
            (_, Split::Supplemental) => (false, false),
            (Self::Split, split) => (split == Split::Train, split == Split::Test),
            (Self::LeaveOneOut, _) => (clip.label == Some(Label::Normal), true),
        }
    }
}

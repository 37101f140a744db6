//! Which clips are used: the rules as data.

use auscult_audio::{ClipRange, Extent};
use auscult_core::ClipCondition;
use serde::Serialize;

/// What happens to clips before anything is learnt or scored.
///
/// The same recordings under other rules are another experiment, so results say which rules they were made with.
///
/// # Examples
///
/// ```
/// use auscult::{ClipCondition, ClipRules};
///
/// assert!(!ClipRules::field().takes(ClipCondition::Silent));
/// // A published data set is taken as it is, apart from what cannot be computed with.
/// assert!(ClipRules::protocol().takes(ClipCondition::Silent));
/// assert!(!ClipRules::protocol().takes(ClipCondition::NotFinite { sample: 0 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClipRules {
    /// What becomes of clips without the sound of a machine.
    pub unusable: Unusable,
    /// What becomes of a clip that came before.
    pub copies: CopyRule,
    /// Which clips of a recording are taken.
    #[serde(serialize_with = "range_name")]
    pub clips: ClipRange,
}

/// What becomes of silent, constant and short clips. Samples that are not finite are never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unusable {
    /// They are left out and named.
    Skip,
    /// They are used like any other.
    Keep,
}

/// What becomes of exact copies of a clip that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyRule {
    /// They are left out and named: a copy is its own nearest neighbour, and local density would be nothing.
    Skip,
    /// They are used like any other.
    Keep,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn range_name<S: serde::Serializer>(range: &ClipRange, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match range {
        ClipRange::First => "first",
        _ => "all",
    })
}

impl ClipRules {
    /// For recordings of one's own: what is not the sound of a machine is left out, and so are copies.
    pub fn field() -> Self {
        Self { unusable: Unusable::Skip, copies: CopyRule::Skip, clips: ClipRange::All }
    }

    /// For published data sets: the first clip of every file, as it is.
    pub fn protocol() -> Self {
        Self { unusable: Unusable::Keep, copies: CopyRule::Keep, clips: ClipRange::First }
    }

    /// Whether a clip in this condition is used.
    pub fn takes(self, condition: ClipCondition) -> bool {
        match self.unusable {
            Unusable::Skip => condition.is_usable(),
            Unusable::Keep => !matches!(condition, ClipCondition::NotFinite { .. }),
        }
    }

    /// Whether something is learnt from a clip in this condition; what damage cut off is not a clip.
    pub fn learns_from(self, condition: ClipCondition, extent: Extent) -> bool {
        self.takes(condition) && extent != Extent::CutByDamage
    }
}

impl Default for ClipRules {
    fn default() -> Self {
        Self::field()
    }
}

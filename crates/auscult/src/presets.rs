//! Presets: what to compare and how, measured on real machines, under one name.

use std::{fmt, str::FromStr, sync::Arc};

use auscult_core::{BeamSettings, ClipLength, FrontEnd, Model};
use serde::{Deserialize, Serialize};

use crate::{FrontEndSpec, FrontEnds, Result};

/// A whole way of detecting under one name; `docs/detection.md` says what each part adds.
///
/// # Examples
///
/// ```
/// use auscult::Preset;
///
/// assert_eq!("fast".parse(), Ok(Preset::Fast));
/// assert!(Preset::Fast.front_end().starts_with("log-mel(convention=dcase"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// Log-mel and the modulation spectrum: no network, a verdict in about a millisecond.
    Fast,
    /// The same and the encoder CED-tiny: what detected best on machines it was not chosen for.
    Best,
    /// AdaBEAM on log-mel with the paper's values.
    Paper,
}

/// Shorter clips have no modulation spectrum worth the name.
const FEWEST_MODULATION_SECONDS: f64 = 1.0;

/// The clips CED takes, in seconds.
const CED_SECONDS: std::ops::RangeInclusive<f64> = 1.0..=30.0;

/// What CED was trained on.
const CED_SAMPLE_RATE: u32 = 16_000;

const LOG_MEL: &str = "log-mel(convention=dcase,exponent=auto)";
const MODULATION: &str = "modulation(metric=scaled,neighbours=3)";
const CED: &str = "ced(metric=scaled,neighbours=3)";

impl Preset {
    /// Every preset, the default first.
    pub const ALL: &'static [Self] = &[Self::Best, Self::Fast, Self::Paper];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Best => "best",
            Self::Paper => "paper",
        }
    }

    /// The front end it stands for, as [`FrontEndSpec::name`] has it.
    pub fn front_end(self) -> String {
        self.members().join("+")
    }

    fn members(self) -> &'static [&'static str] {
        match self {
            Self::Fast => &[LOG_MEL, MODULATION],
            Self::Best => &[LOG_MEL, MODULATION, CED],
            Self::Paper => &["log-mel"],
        }
    }

    /// The front end for clips of one length, and why a member is missing, if one is: a preset does
    /// without a member that cannot take the clips.
    pub fn spec(self, length: ClipLength) -> (FrontEndSpec, Option<String>) {
        let rate = length.sample_rate();
        let seconds = length.samples() as f64 / f64::from(rate);
        let obstacle = |member: &str| match member {
            MODULATION if seconds < FEWEST_MODULATION_SECONDS => Some(format!(
                "modulation, which needs clips of at least {FEWEST_MODULATION_SECONDS} s (these have {seconds} s)"
            )),
            CED if rate != CED_SAMPLE_RATE => {
                Some(format!("ced, which needs {CED_SAMPLE_RATE} Hz (here it is {rate} Hz)"))
            }
            CED if !CED_SECONDS.contains(&seconds) => Some(format!(
                "ced, which takes clips of {} to {} s (these have {seconds} s)",
                CED_SECONDS.start(),
                CED_SECONDS.end()
            )),
            _ => None,
        };
        let members = self.members().iter().copied();
        let usable: Vec<&str> =
            members.clone().filter(|member| obstacle(member).is_none()).collect();
        let missing: Vec<String> = members.filter_map(obstacle).collect();
        let note = (!missing.is_empty())
            .then(|| format!("preset {self} goes without {}", missing.join(", and without ")));
        (FrontEndSpec::of(usable.join("+")), note)
    }

    /// The front end and the detector for clips of one length, and why a member is missing.
    ///
    /// # Errors
    ///
    /// If the clip is too short for any front end, or weights are missing.
    pub fn build(
        self,
        front_ends: &FrontEnds,
        length: ClipLength,
    ) -> Result<(Arc<dyn FrontEnd>, BeamSettings, Option<String>)> {
        let (spec, note) = self.spec(length);
        let front_end = front_ends.named(&spec, length)?;
        let detector = front_ends.usual_detector(&spec, &*front_end)?;
        Ok((front_end, detector, note))
    }

    /// The preset a model was made with, if it is one: the same front end, compared in the same way
    /// but for what `differs` names.
    pub fn of_model(front_ends: &FrontEnds, model: &Model) -> Option<PresetOfModel> {
        let settings = model.settings();
        let length = settings.clip.check().ok()?;
        let members = |preset: Self| preset.spec(length).0.members().map_or(0, |all| all.len());
        let own = settings.front_end.members().map_or(1, |members| members.len());
        // Where clips cannot have all members two presets may be the same: then it is the smaller one.
        let candidates = [Self::Fast, Self::Best, Self::Paper].into_iter();
        candidates.filter(|&preset| members(preset) == own).find_map(|preset| {
            let (front_end, detector, _) = preset.build(front_ends, length).ok()?;
            if front_end.identity() != settings.front_end {
                return None;
            }
            let differs = differences(&detector, &settings.detector);
            Some(PresetOfModel { preset, differs })
        })
    }
}

/// A model's preset, and which of its settings are others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetOfModel {
    /// The preset with the same front end.
    pub preset: Preset,
    /// Settings of the detector that are not the preset's.
    pub differs: Vec<String>,
}

/// The names of settings that differ.
fn differences(preset: &BeamSettings, own: &BeamSettings) -> Vec<String> {
    let text = |settings: &BeamSettings| serde_json::to_value(settings).unwrap_or_default();
    let (preset, own) = (text(preset), text(own));
    let empty = serde_json::Map::new();
    let (preset, own) = (preset.as_object().unwrap_or(&empty), own.as_object().unwrap_or(&empty));
    let keys: std::collections::BTreeSet<&String> = preset.keys().chain(own.keys()).collect();
    keys.into_iter().filter(|key| preset.get(*key) != own.get(*key)).cloned().collect()
}

impl Default for Preset {
    /// `best`; `fast` where CED-tiny is not built in.
    fn default() -> Self {
        if cfg!(feature = "ced-tiny") { Self::Best } else { Self::Fast }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|preset| preset.name() == text)
            .ok_or_else(|| format!("unknown preset {text:?}; known: fast, best, paper"))
    }
}

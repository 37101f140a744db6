//! Presets: what to compare and how, measured on real machines, under one name.

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use auscult_core::{BeamSettings, ClipLength, FrontEnd, Model};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, FrontEndSpec, FrontEnds, Result, members::MemberSpec};

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
        let members = self.members().iter().copied();
        let name = |text: &'static str| text.split('(').next().unwrap_or(text);
        self.usable(members.map(|text| (name(text), text.to_owned())), length)
    }

    /// The same with members changed: `changes` names members of the preset with options in parentheses, as in
    /// `modulation(neighbours=5)`, and these go before the preset's own.
    ///
    /// # Errors
    ///
    /// [`Error::Member`] if the preset has no such member, or nothing is said about one.
    ///
    /// # Examples
    ///
    /// ```
    /// use auscult::{ClipSettings, Preset};
    ///
    /// let length = ClipSettings::default().check()?;
    /// let (spec, _) = Preset::Fast.spec_with("modulation(neighbours=5)", length)?;
    /// assert!(spec.name.ends_with("+modulation(metric=scaled,neighbours=5)"));
    /// # Ok::<(), auscult::Error>(())
    /// ```
    pub fn spec_with(
        self,
        changes: &str,
        length: ClipLength,
    ) -> Result<(FrontEndSpec, Option<String>)> {
        let mut members = MemberSpec::parse_all(&self.front_end())?;
        let names: Vec<String> = members.iter().map(|member| member.front_end.clone()).collect();
        let mut changed: Vec<String> = Vec::new();
        for change in MemberSpec::parse_all(changes)? {
            let name = change.front_end.clone();
            let wrong = |reason: String| Error::Member { member: name.clone(), reason };
            if change.options.is_none() {
                let reason =
                    "nothing is said about it; write its options in parentheses, or leave it out";
                return Err(wrong(reason.to_owned()));
            }
            if changed.contains(&name) {
                return Err(wrong("named twice; leave one out".to_owned()));
            }
            let Some(member) = members.iter_mut().find(|member| member.front_end == name) else {
                let names = names.join(", ");
                return Err(wrong(format!("not a member of preset {self}, which has {names}")));
            };
            member.change(change);
            changed.push(name);
        }
        let members = members.iter().map(|member| (member.front_end.as_str(), member.to_string()));
        Ok(self.usable(members, length))
    }

    /// The members that can take the clips, from their names and texts, and why the others cannot.
    fn usable<'a>(
        self,
        members: impl Iterator<Item = (&'a str, String)>,
        length: ClipLength,
    ) -> (FrontEndSpec, Option<String>) {
        let (mut usable, mut missing) = (Vec::new(), Vec::new());
        for (name, text) in members {
            match obstacle(name, length) {
                None => usable.push(text),
                Some(why) => missing.push(why),
            }
        }
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
        build(self.spec(length), front_ends, length)
    }

    /// The same with members changed, as [`Preset::spec_with`] does.
    ///
    /// # Errors
    ///
    /// As [`Preset::spec_with`] and [`Preset::build`].
    pub fn build_with(
        self,
        changes: &str,
        front_ends: &FrontEnds,
        length: ClipLength,
    ) -> Result<(Arc<dyn FrontEnd>, BeamSettings, Option<String>)> {
        build(self.spec_with(changes, length)?, front_ends, length)
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

/// Why a front end cannot take clips of this length and rate; `None` if it can.
fn obstacle(front_end: &str, length: ClipLength) -> Option<String> {
    let rate = length.sample_rate();
    let seconds = length.samples() as f64 / f64::from(rate);
    match front_end {
        "modulation" if seconds < FEWEST_MODULATION_SECONDS => Some(format!(
            "modulation, which needs clips of at least {FEWEST_MODULATION_SECONDS} s (these have {seconds} s)"
        )),
        "ced" if rate != CED_SAMPLE_RATE => {
            Some(format!("ced, which needs {CED_SAMPLE_RATE} Hz (here it is {rate} Hz)"))
        }
        "ced" if !CED_SECONDS.contains(&seconds) => Some(format!(
            "ced, which takes clips of {} to {} s (these have {seconds} s)",
            CED_SECONDS.start(),
            CED_SECONDS.end()
        )),
        _ => None,
    }
}

fn build(
    (spec, note): (FrontEndSpec, Option<String>),
    front_ends: &FrontEnds,
    length: ClipLength,
) -> Result<(Arc<dyn FrontEnd>, BeamSettings, Option<String>)> {
    let front_end = front_ends.named(&spec, length)?;
    let detector = front_ends.usual_detector(&spec, &*front_end)?;
    Ok((front_end, detector, note))
}

/// A model's preset, and which of its settings are others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetOfModel {
    /// The preset with the same front end.
    pub preset: Preset,
    /// Settings of the detector that are not the preset's.
    pub differs: Vec<String>,
}

/// The names of settings that differ; those of a member after its name, as in `modulation neighbours`.
fn differences(preset: &BeamSettings, own: &BeamSettings) -> Vec<String> {
    let value = |settings: &BeamSettings| serde_json::to_value(settings).unwrap_or_default();
    let (preset, own) = (value(preset), value(own));
    let names = keys_that_differ(&preset, &own).into_iter().flat_map(|key| match key.as_str() {
        "ensemble" => ensemble_differences(&preset[&key], &own[&key]),
        _ => vec![key],
    });
    names.collect()
}

fn ensemble_differences(preset: &Value, own: &Value) -> Vec<String> {
    let members = |ensemble: &Value| ensemble["members"].as_array().cloned().unwrap_or_default();
    let names = keys_that_differ(preset, own).into_iter().flat_map(|key| match key.as_str() {
        "members" => {
            let pairs = members(preset).into_iter().zip(members(own));
            let of_pair = |(preset, own): (Value, Value)| {
                let name = preset["name"].as_str().unwrap_or_default().to_owned();
                let keys = keys_that_differ(&preset, &own).into_iter();
                keys.map(move |key| format!("{name} {key}"))
            };
            pairs.flat_map(of_pair).collect()
        }
        // As the option is called.
        "combine" => vec!["combine-members".to_owned()],
        _ => vec![key],
    });
    names.collect()
}

fn keys_that_differ(preset: &Value, own: &Value) -> Vec<String> {
    let keys = [preset, own].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys());
    let keys: BTreeSet<&String> = keys.collect();
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

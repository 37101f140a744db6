//! 6. Protocols: what to run on which data, as a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    str::FromStr,
};

use auscult_core::{ClipLength, ClipSettings, beam::BeamOverrides};
use auscult_encoders::Precision;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    datasets::{DatasetKind, Set},
    fine_tuning::{FINE_TUNED, FineTuning},
    paper::{CitedRow, PaperCounts, WindowsRequest},
    run::FrontEndName,
    systems::{BackEnd, Sweep, SystemSettings, Written, precision_text},
};

/// A protocol is a few pages of text.
const LARGEST_BYTES: u64 = 4 << 20;

/// A protocol as written in TOML: one table or figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// A short name, for files.
    pub name: String,
    /// The heading of the table.
    pub title: String,
    /// The table or figure of the paper it repeats.
    #[serde(default)]
    pub paper: String,
    /// What it is and how it differs from the paper, in sentences.
    #[serde(default)]
    pub about: String,
    /// The data sets it is for.
    pub datasets: Vec<DatasetKind>,
    /// The parts of them; all if none is named.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Length of a clip.
    #[serde(default = "ten_seconds")]
    pub clip_seconds: f64,
    /// Sample rate.
    #[serde(default = "sixteen_kilohertz")]
    pub sample_rate: u32,
    /// Which channel is taken: 0, 1, ... or mean.
    #[serde(default = "first_channel")]
    pub channel: String,
    /// The systems, in the order of the table.
    #[serde(default, rename = "system")]
    pub systems: Vec<SystemSettings>,
    /// A setting that takes several values.
    #[serde(default)]
    pub sweep: Option<Sweep>,
    /// Diagnostics of signal detection theory.
    #[serde(default)]
    pub diagnostics: Vec<DiagnosticsRequest>,
    /// How encoders are trained before systems score with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine_tuning: Option<FineTuning>,
    /// Rows that are cited and not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cited: Vec<CitedRow>,
    /// The clips the paper says there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<PaperCounts>,
    /// Systems whose windows are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowsRequest>,
}

/// Diagnostics of one front end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiagnosticsRequest {
    /// The front end's name.
    pub front_end: String,
    /// Its convention.
    #[serde(default)]
    pub convention: Option<String>,
    /// What an encoder computes in: `f32` or `int16`; f32 if not said.
    #[serde(default, with = "precision_text", skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Band sizes; the whole axis is the global baseline.
    pub band_widths: Vec<usize>,
    /// Neighbours of local density normalisation; 0 is without.
    #[serde(default = "without_and_with")]
    pub neighbours: Vec<usize>,
    /// The paper's rows.
    #[serde(default)]
    pub paper: Vec<PaperDiagnostics>,
}

/// A row of the paper's Table 7 (without local density normalisation).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the columns of the table")]
pub struct PaperDiagnostics {
    pub dataset: DatasetKind,
    pub band_width: usize,
    pub variance_ratio_sub_uniform: f64,
    pub variance_ratio_uniform_global: f64,
    pub variance_ratio_sub_global: f64,
    pub gap_global: f64,
    pub gap_sub_band: f64,
    pub d_prime_global: f64,
    pub d_prime_sub_band: f64,
}

fn ten_seconds() -> f64 {
    10.0
}

fn sixteen_kilohertz() -> u32 {
    16_000
}

fn first_channel() -> String {
    "0".to_owned()
}

fn without_and_with() -> Vec<usize> {
    vec![0, 1]
}

impl Protocol {
    /// Reads a protocol file, and makes one system of each value of a sweep.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the file cannot be read, [`Error::Protocol`] with what is wrong in it.
    pub fn open(path: &Path) -> Result<Self> {
        let text =
            auscult_files::read_text_at_most(path, LARGEST_BYTES).map_err(Error::read(path))?;
        Self::parse(&text).map_err(|reason| Error::Protocol { path: path.to_owned(), reason })
    }

    /// Reads the text of a protocol.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut protocol: Self = toml::from_str(text)
            .map_err(|error| wrong_option(text).unwrap_or_else(|| in_one_line(text, &error)))?;
        protocol.systems.iter_mut().for_each(SystemSettings::read_front_ends);
        protocol.refuse_without_effect(text)?;
        protocol.expand_trials()?;
        if let Some(sweep) = &protocol.sweep {
            sweep.check().map_err(|error| error.to_string())?;
            let (fusions, others): (Vec<_>, Vec<_>) =
                protocol.systems.drain(..).partition(|system| system.back_end == BackEnd::Fusion);
            protocol.systems = others
                .iter()
                .flat_map(|system| {
                    // A system that stands still is the line the others are compared with.
                    if system.is_baseline() { vec![system.clone()] } else { sweep.expand(system) }
                })
                .chain(fusions)
                .collect();
        }
        protocol.check()?;
        Ok(protocol)
    }

    /// Makes one system of each trial of a fine-tuned one.
    fn expand_trials(&mut self) -> std::result::Result<(), String> {
        let fine_tuned = self.systems.iter().find(|system| system.front_end == FINE_TUNED);
        match (&self.fine_tuning, fine_tuned) {
            (Some(fine_tuning), _) => {
                fine_tuning.check()?;
                let trials = self.systems.iter().flat_map(|system| fine_tuning.trials(system));
                self.systems = trials.collect();
                Ok(())
            }
            (None, Some(system)) => Err(format!(
                "{:?}: front_end = \"{FINE_TUNED}\" needs [fine_tuning], which says how it is trained",
                system.name
            )),
            (None, None) => Ok(()),
        }
    }

    /// Refuses settings of systems that nothing looks at; only the text says what was written.
    fn refuse_without_effect(&self, text: &str) -> std::result::Result<(), String> {
        let written: toml::Table =
            toml::from_str(text).map_err(|error| in_one_line(text, &error))?;
        let written = written.get("system").and_then(toml::Value::as_array);
        let written = written.into_iter().flatten().filter_map(toml::Value::as_table);
        for (system, settings) in self.systems.iter().zip(written) {
            let back_end = system.back_end;
            let stands_still = system.is_baseline() || back_end == BackEnd::Fusion;
            let sweep = self.sweep.as_ref().filter(|_| !stands_still);
            let wrong = |error: Error| format!("{:?}: {error}", system.name);
            let front_end_compares = system.front_end_compares().map_err(wrong)?;
            let written = Written { back_end, settings, front_end_compares, sweep };
            if let Some(what) = written.without_effect() {
                return Err(format!("{:?}: {what}", system.name));
            }
        }
        Ok(())
    }

    /// Takes the paper's numbers away: what is run is no longer the paper's protocol.
    pub fn forget_paper(&mut self) {
        self.systems.iter_mut().for_each(|system| system.paper.clear());
        self.diagnostics.iter_mut().for_each(|request| request.paper.clear());
        self.cited.clear();
    }

    /// How long its clips are, at which rate.
    pub fn clip(&self) -> ClipSettings {
        ClipSettings { sample_rate: self.sample_rate, seconds: self.clip_seconds }
    }

    /// The front ends that clips are heard with, by how they are called.
    pub fn heard_front_ends(&self) -> BTreeMap<String, FrontEndName> {
        FrontEndName::all(&self.systems, &self.diagnostics)
    }

    /// Those that must be here before it runs: the same, and the encoder that trials are trained from in their place.
    pub fn front_ends(&self) -> BTreeMap<String, FrontEndName> {
        let mut all = self.heard_front_ends();
        if let Some(fine_tuning) = &self.fine_tuning {
            // What is trained is trained from this one.
            all.retain(|_, name| FineTuning::seed_of(&name.name).is_none());
            let name = fine_tuning.encoder.clone();
            let first = FrontEndName { name, convention: None, precision: None };
            all.insert(first.to_string(), first);
        }
        all
    }

    /// Whether it looks at clips; windows alone need none.
    pub fn needs_data(&self) -> bool {
        !(self.systems.is_empty() && self.diagnostics.is_empty() && self.counts.is_empty())
    }

    /// Chooses the members of presets for clips of one length; says which are missing and why.
    pub fn choose_members(&mut self, length: ClipLength) -> Vec<String> {
        let mut notes = Vec::new();
        for system in &mut self.systems {
            let (chosen, note) = system.for_clips(length);
            notes.extend(note.map(|note| format!("{}: {note}", chosen.name)));
            *system = chosen;
        }
        notes
    }

    fn check(&self) -> std::result::Result<(), String> {
        let mut names = BTreeSet::new();
        if !self.needs_data() && self.windows.is_empty() {
            return Err("nothing to run: add a [[system]] or [[diagnostics]]".to_owned());
        }
        if self.datasets.is_empty() {
            return Err(
                "datasets is empty; name dcase2020 to dcase2026, mimii or folder".to_owned()
            );
        }
        if self.name.is_empty() || self.name.contains(['/', '\\']) {
            return Err(format!("name must be usable as a file name, got {:?}", self.name));
        }
        for system in &self.systems {
            if system.name.is_empty() || !names.insert(system.name.as_str()) {
                return Err(format!(
                    "each system needs a name of its own, got {:?} twice or empty",
                    system.name
                ));
            }
        }
        for system in &self.systems {
            system.check().map_err(|error| format!("{:?}: {error}", system.name))?;
            check_parts(&system.name, "paper", system.paper.keys())?;
            if let Some(missing) =
                system.members.iter().find(|member| !names.contains(member.as_str()))
            {
                return Err(format!(
                    "{:?} is made of {missing:?}, which is not a system of this protocol",
                    system.name
                ));
            }
            if system.back_end == BackEnd::Fusion && system.members.is_empty() {
                return Err(format!("{:?} is a fusion and needs members = [...]", system.name));
            }
        }
        for row in &self.cited {
            check_parts(&row.name, "scores", row.scores.keys())?;
            check_parts(&row.name, "deviations", row.deviations.keys())?;
        }
        for request in &self.diagnostics {
            if request.band_widths.is_empty() || request.band_widths.contains(&0) {
                return Err(format!(
                    "diagnostics of {}: band_widths must be one or more numbers from 1, got {:?}",
                    request.front_end, request.band_widths
                ));
            }
        }
        Ok(())
    }
}

/// A number under a key that is not a part of a data set would never be shown.
fn check_parts<'a>(
    name: &str,
    table: &str,
    mut keys: impl Iterator<Item = &'a String>,
) -> std::result::Result<(), String> {
    let is_part = |key: &str| {
        let (dataset, set) = key.split_once('/').unwrap_or((key, ""));
        match DatasetKind::from_str(dataset) {
            Ok(DatasetKind::Dcase(_)) => Set::ALL.iter().any(|part| part.name() == set),
            Ok(DatasetKind::Mimii) => true,
            Ok(DatasetKind::Folder) | Err(_) => false,
        }
    };
    match keys.find(|key| !is_part(key)) {
        None => Ok(()),
        Some(key) => Err(format!(
            "{name:?}: {table} has numbers of parts such as \"dcase2023/dev\", got {key:?}"
        )),
    }
}

/// The first option of a detector that has a value it cannot have. The parser knows no more than the system it is in.
fn wrong_option(text: &str) -> Option<String> {
    let written: toml::Table = toml::from_str(text).ok()?;
    let systems = written.get("system")?.as_array()?.iter().filter_map(toml::Value::as_table);
    let mut settings = systems.flat_map(|system| {
        BeamOverrides::OPTIONS.iter().filter_map(move |option| {
            let value = match system.get(option.name)? {
                toml::Value::String(value) => value.clone(),
                other => other.to_string(),
            };
            let error = (option.set)(&mut BeamOverrides::default(), &value).err()?;
            let name = system.get("name").and_then(toml::Value::as_str).unwrap_or_default();
            Some(format!("{name:?}: {error}"))
        })
    });
    settings.next()
}

/// What is wrong, and where, without the picture that a terminal would need.
fn in_one_line(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    // What is missing has no place.
    if before.is_empty() {
        return error.message().to_owned();
    }
    format!("line {}: {}", 1 + before.matches('\n').count(), error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_refused_with_the_reason() {
        let head = "name = 'a'\ntitle = 'b'\ndatasets = ['folder']\n";
        for (text, message) in [
            ("", "nothing to run"),
            ("[[system]]\nname = 'x'\n[[system]]\nname = 'x'", "a name of its own"),
            ("[[system]]\nname = 'x'\nneighbors = 1", "unknown field `neighbors`"),
            ("[[system]]\nname = 'x'\nback_end = 'fusion'", "needs members"),
            (
                "[[system]]\nname = 'x'\nback_end = 'fusion'\nmembers = ['y']",
                "is not a system of this protocol",
            ),
            (
                "[[system]]\nname = 'x'\nfront_end = 'ced'\nprecision = 'f64'",
                "precision must be f32 or int16, got f64",
            ),
            (
                "[[system]]\nname = 'x'\nneighbours = -1",
                "\"x\": neighbours must be a whole number from 0, got -1",
            ),
            (
                "[[system]]\nname = 'x'\nback_end = 'gmm'\ncomponents = 0",
                "\"x\": components must be at least 1, got 0",
            ),
            (
                "[[system]]\nname = 'x'\nback_end = 'mahalanobis'\nshrinkage = 1.5",
                "\"x\": shrinkage must be 0 to 1, got 1.5",
            ),
            (
                "[[system]]\nname = 'x'\nback_end = 'pca-residual'\nvariance_share = nan",
                "variance_share must be above 0",
            ),
            ("[[system]]\nname = 'x'\nband_percent = 0.5", "band share in % must be 1 to 100"),
            (
                "[[system]]\nname = 'x'\nneighbours = 0\ndensity_exponent = 'auto'",
                "\"x\": density_exponent has no effect where neighbours is 0",
            ),
            (
                "[[diagnostics]]\nfront_end = 'mfcc'\nband_widths = [0]",
                "diagnostics of mfcc: band_widths must be one or more numbers from 1, got [0]",
            ),
            (
                "[sweep]\nparameter = 'neighbours'\nvalues = [1.5]\naxis = 'K'\n[[system]]\nname = 'x'",
                "sweep of neighbours must be whole numbers from 0, got 1.5",
            ),
            (
                "[[system]]\nname = 'x'\n[system.paper]\n'dcase2023 eval' = 60.0",
                "\"x\": paper has numbers of parts such as \"dcase2023/dev\", got \"dcase2023 eval\"",
            ),
            ("[[system]]\nname = 'x'\nmethod = 'gamma'", "unknown method \"gamma\"; known: global"),
        ] {
            let error = Protocol::parse(&format!("{head}{text}")).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let error =
            Protocol::parse("name = 'a'\ntitle = 'b'\ndatasets = ['dcase2019']").unwrap_err();
        assert!(error.contains("one of dcase2020"), "{error}");
    }

    #[test]
    fn settings_without_effect_are_refused_by_name() {
        let head = "name = 'a'\ntitle = 'b'\ndatasets = ['folder']\n";
        let sweep = "[sweep]\nparameter = 'band-percent'\nvalues = [10]\naxis = 'w'\n";
        for (text, message) in [
            (
                "[[system]]\nname = 'x'\nback_end = 'gmm'\nneighbours = 4".to_owned(),
                "\"x\": neighbours has no effect on back_end = \"gmm\"; leave it out, it is for nearest, genrep",
            ),
            (
                "[[system]]\nname = 'x'\ncomponents = 4".to_owned(),
                "components has no effect on back_end = \"nearest\"; leave it out, it is for gmm, k-means",
            ),
            ("[[system]]\nname = 'x'\nmixup = 'all'".to_owned(), "it is for genrep"),
            (
                "[[system]]\nname = 'x'\nband_width = 9\nband_percent = 10".to_owned(),
                "band_percent has no effect beside band_width",
            ),
            (
                format!("{sweep}[[system]]\nname = 'x'\nband_width = 9"),
                "band_width cannot be given beside the sweep of band-percent",
            ),
            (
                format!("{sweep}[[system]]\nname = 'x'\nback_end = 'gmm'"),
                "the sweep of band-percent has no effect on back_end = \"gmm\"",
            ),
        ] {
            let error = Protocol::parse(&format!("{head}{text}")).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        let baseline = "[[system]]\nname = 'x'\nback_end = 'gmm'\nseries = 'baseline'";
        Protocol::parse(&format!("{head}{sweep}{baseline}")).unwrap();
    }

    #[test]
    fn a_preset_says_everything_about_front_end_and_comparing() {
        let head = "name = 'a'\ntitle = 'b'\ndatasets = ['folder']\n";
        let sweep = "[sweep]\nparameter = 'neighbours'\nvalues = [1]\naxis = 'K'\n";
        for (text, message) in [
            (
                "preset = 'fast'\nfront_end = 'ced'",
                "\"x\": front_end cannot be given beside preset = \"fast\", which chooses it; leave it out, or \
                 change it in front_end = \"log-mel(convention=dcase,exponent=auto)+modulation(",
            ),
            (
                "preset = 'best'\nneighbours = 3",
                "neighbours cannot be given beside preset = \"best\"",
            ),
            ("preset = 'best'\nprecision = 'int16'", "precision cannot be given beside preset"),
            ("preset = 'slow'", "unknown variant `slow`, expected one of `fast`, `best`, `paper`"),
            ("preset = 'fast'\nback_end = 'gmm'", "preset has no effect on back_end = \"gmm\""),
            (
                "front_end = 'mfcc(neighbours=3)'\nmetric = 'cosine'",
                "metric cannot be given beside a front end that says how it compares",
            ),
            (
                "front_end = 'mfcc(neighbours=3)'\nback_end = 'genrep'",
                "options in parentheses have no effect on back_end = \"genrep\"",
            ),
            ("front_end = 'mfcc(neighbours=3'", "\"x\": mfcc(neighbours=3: parentheses stand once"),
            (
                "front_ends = [{ front_end = 'mfcc' }]\nfront_end = 'ced'",
                "front_end cannot be given beside front_ends",
            ),
            ("front_ends = [{ front_end = 'mfcc', k = 3 }]", "unknown field `k`"),
        ] {
            let system = format!("{head}[[system]]\nname = 'x'\n{text}");
            let error = Protocol::parse(&system).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        for text in ["preset = 'fast'", "front_end = 'mfcc(neighbours=3)'"] {
            let system = format!("{head}{sweep}[[system]]\nname = 'x'\n{text}");
            let error = Protocol::parse(&system).unwrap_err();
            assert!(error.contains("a sweep cannot change"), "{error}");
            let baseline = Protocol::parse(&format!("{system}\nseries = 'baseline'")).unwrap();
            assert_eq!(baseline.systems.len(), 1);
        }
    }

    #[test]
    fn a_sweep_makes_a_system_of_each_value() {
        let protocol = Protocol::parse(
            "name = 'k'\ntitle = 't'\ndatasets = ['folder']\n[sweep]\nparameter = 'neighbours'\n\
             values = [1, 2]\naxis = 'K'\n[[system]]\nname = 'BEAM'\nmethod = 'beam'\n\
             density_exponent = 'auto'\n[[system]]\nname = 'global'\nseries = 'baseline'",
        )
        .unwrap();
        let names: Vec<&str> = protocol.systems.iter().map(|system| system.name.as_str()).collect();
        assert_eq!(names, ["BEAM, K = 1", "BEAM, K = 2", "global"]);
        assert_eq!(protocol.systems[1].neighbours(), 2);
        assert_eq!(protocol.systems[1].series, "BEAM");
    }
}

//! Settings that would have no effect are refused, not ignored.

use auscult::Preset;
use auscult_core::beam::BeamOverrides;

use super::{BackEnd, Sweep, SweepParameter};

/// What stands for a whole front end.
const WHOLE: &[&str] = &["preset", "front_ends"];
const VECTORS: &[&str] = &["front_end", "convention", "precision", "views"];

/// What says how references are compared.
fn comparing() -> impl Iterator<Item = &'static str> {
    let options = BeamOverrides::OPTIONS.iter().map(|option| option.name);
    options.chain(["band_width_for", "band_percent"])
}

/// The settings only this back end and a few others look at.
fn own(back_end: BackEnd) -> &'static [&'static [&'static str]] {
    match back_end {
        BackEnd::Nearest => &[WHOLE, VECTORS],
        BackEnd::GenRep => &[VECTORS, &["standardisation", "mixup"]],
        BackEnd::Mahalanobis => &[VECTORS, &["shrinkage"]],
        BackEnd::PcaResidual => &[VECTORS, &["variance_share"]],
        BackEnd::Mixture | BackEnd::KMeans => &[VECTORS, &["components"]],
        BackEnd::Autoencoder => &[&["front_end", "convention", "error_score", "epochs", "seed"]],
        BackEnd::Fusion => &[&["fuse", "members"]],
    }
}

/// The back ends that look at a setting; none if all do, as at the name.
fn users(name: &str) -> impl Iterator<Item = BackEnd> {
    let looks = move |back_end: &BackEnd| {
        let compares = matches!(back_end, BackEnd::Nearest | BackEnd::GenRep);
        own(*back_end).concat().contains(&name) || compares && comparing().any(|own| own == name)
    };
    BackEnd::ALL.into_iter().filter(looks)
}

/// A system as the protocol has it: only its text distinguishes a setting from its default.
pub(crate) struct Written<'a> {
    pub(crate) back_end: BackEnd,
    pub(crate) settings: &'a toml::Table,
    /// Whether its front end says how it compares.
    pub(crate) front_end_compares: bool,
    /// The sweep that makes several of it.
    pub(crate) sweep: Option<&'a Sweep>,
}

impl Written<'_> {
    /// The first setting without effect, in a sentence that begins with its name.
    pub(crate) fn without_effect(&self) -> Option<String> {
        let of_front_end =
            || self.beside_preset().or_else(|| self.beside_tables()).or_else(|| self.of_members());
        self.of_other_back_ends().or_else(of_front_end).or_else(|| match self.sweep {
            Some(sweep) => self.beside_sweep(sweep),
            None => self.beside_others(),
        })
    }

    /// The first of these settings that is written.
    fn first(&self, names: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
        names.into_iter().find(|name| self.settings.contains_key(*name))
    }

    fn beside_preset(&self) -> Option<String> {
        let preset: Preset = self.settings.get("preset")?.as_str()?.parse().ok()?;
        if self.sweep.is_some() {
            let advice = "say series = \"baseline\" to have it as a line to compare with";
            return Some(format!("a sweep cannot change a preset; {advice}"));
        }
        let name = self
            .first(["front_ends"].into_iter().chain(VECTORS.iter().copied()).chain(comparing()))?;
        Some(format!(
            "{name} cannot be given beside preset = \"{preset}\", which chooses it; leave it out, or change it in \
             front_end = \"{}\" without a preset",
            preset.front_end()
        ))
    }

    fn beside_tables(&self) -> Option<String> {
        let name = self
            .first(["front_end", "convention"])
            .filter(|_| self.settings.contains_key("front_ends"))?;
        Some(format!("{name} cannot be given beside front_ends; leave one of them out"))
    }

    fn of_members(&self) -> Option<String> {
        if !self.front_end_compares {
            return None;
        }
        if self.back_end != BackEnd::Nearest {
            return Some(format!(
                "options in parentheses have no effect on back_end = {:?}; leave them out, they are for nearest",
                self.back_end.name()
            ));
        }
        if self.sweep.is_some() {
            return Some(
                "a sweep cannot change a front end that says how it compares; say series = \"baseline\" to have it \
                 as a line to compare with"
                    .to_owned(),
            );
        }
        let name = self.first(["convention", "views"].into_iter().chain(comparing()))?;
        Some(format!(
            "{name} cannot be given beside a front end that says how it compares; write it there, such as \
             ced(neighbours=3)"
        ))
    }

    fn of_other_back_ends(&self) -> Option<String> {
        self.settings.keys().find_map(|name| {
            let users: Vec<BackEnd> = users(name).collect();
            (!users.is_empty() && !users.contains(&self.back_end)).then(|| {
                let names: Vec<&str> = users.iter().map(|back_end| back_end.name()).collect();
                format!(
                    "{name} has no effect on back_end = {:?}; leave it out, it is for {}",
                    self.back_end.name(),
                    names.join(", ")
                )
            })
        })
    }

    fn beside_others(&self) -> Option<String> {
        let has = |name: &&str| self.settings.contains_key(*name);
        let is_plain = self.settings.get("neighbours").and_then(toml::Value::as_integer) == Some(0);
        if let Some(name) = ["density_exponent", "density_rule"].iter().find(|name| has(name))
            && is_plain
        {
            return Some(format!(
                "{name} has no effect where neighbours is 0, there are no local scales; leave it out"
            ));
        }
        ["band_percent", "band_width"].iter().all(has).then(|| {
            "band_percent has no effect beside band_width; leave one of them out".to_owned()
        })
    }

    fn beside_sweep(&self, sweep: &Sweep) -> Option<String> {
        let (parameter, instead): (&str, &[&str]) = match sweep.parameter {
            SweepParameter::Neighbours => ("neighbours", &["neighbours"]),
            SweepParameter::BandPercent => {
                ("band-percent", &["band_percent", "band_width", "band_width_for"])
            }
        };
        if !users("neighbours").any(|back_end| back_end == self.back_end) {
            return Some(format!(
                "the sweep of {parameter} has no effect on back_end = {:?}; say series = \"baseline\" to have it as \
                 a line to compare with",
                self.back_end.name()
            ));
        }
        let name = instead.iter().find(|name| self.settings.contains_key(**name))?;
        Some(format!(
            "{name} cannot be given beside the sweep of {parameter}, which chooses it; leave it out"
        ))
    }
}

//! Settings that would have no effect are refused, not ignored.

use super::{BackEnd, Sweep, SweepParameter};

const COMPARE: &[BackEnd] = &[BackEnd::Nearest, BackEnd::GenRep];
const VECTORS: &[BackEnd] = &[
    BackEnd::Nearest,
    BackEnd::GenRep,
    BackEnd::Mahalanobis,
    BackEnd::PcaResidual,
    BackEnd::Mixture,
    BackEnd::KMeans,
];
const READ_SOUND: &[BackEnd] = &[
    BackEnd::Nearest,
    BackEnd::GenRep,
    BackEnd::Mahalanobis,
    BackEnd::PcaResidual,
    BackEnd::Mixture,
    BackEnd::KMeans,
    BackEnd::Autoencoder,
];

/// Which back ends look at a setting; those that are not here are looked at by all.
const LOOKED_AT_BY: [(&str, &[BackEnd]); 24] = [
    ("front_end", READ_SOUND),
    ("convention", READ_SOUND),
    ("precision", VECTORS),
    ("views", VECTORS),
    ("method", COMPARE),
    ("band_width", COMPARE),
    ("band_width_for", COMPARE),
    ("band_stride", COMPARE),
    ("band_percent", COMPARE),
    ("neighbours", COMPARE),
    ("density_exponent", COMPARE),
    ("density_rule", COMPARE),
    ("metric", COMPARE),
    ("aggregate", COMPARE),
    ("fuse", &[BackEnd::Nearest, BackEnd::GenRep, BackEnd::Fusion]),
    ("standardisation", &[BackEnd::GenRep]),
    ("mixup", &[BackEnd::GenRep]),
    ("components", &[BackEnd::Mixture, BackEnd::KMeans]),
    ("variance_share", &[BackEnd::PcaResidual]),
    ("shrinkage", &[BackEnd::Mahalanobis]),
    ("error_score", &[BackEnd::Autoencoder]),
    ("epochs", &[BackEnd::Autoencoder]),
    ("seed", &[BackEnd::Autoencoder]),
    ("members", &[BackEnd::Fusion]),
];

/// A system as it was written: only that tells a setting from its default.
pub(crate) struct Written<'a> {
    pub(crate) back_end: BackEnd,
    pub(crate) settings: &'a toml::Table,
    /// The sweep that makes several of it.
    pub(crate) sweep: Option<&'a Sweep>,
}

impl Written<'_> {
    /// What has no effect, in words that begin with its name.
    pub(crate) fn without_effect(&self) -> Option<String> {
        let has = |name: &str| self.settings.contains_key(name);
        let by = self.back_end.name();
        for (name, by_which) in LOOKED_AT_BY {
            if has(name) && !by_which.contains(&self.back_end) {
                let names: Vec<&str> = by_which.iter().map(|back_end| back_end.name()).collect();
                return Some(format!(
                    "{name} has no effect on back_end = {by:?}; leave it out, it is for {}",
                    names.join(", ")
                ));
            }
        }
        if let Some(sweep) = self.sweep {
            return self.beside_sweep(sweep);
        }
        let is_plain = self.settings.get("neighbours").and_then(toml::Value::as_integer) == Some(0);
        let of_density = ["density_exponent", "density_rule"].into_iter().find(|name| has(name));
        if let Some(name) = of_density.filter(|_| is_plain) {
            return Some(format!(
                "{name} has no effect where neighbours is 0, there are no local scales; leave it out"
            ));
        }
        let beside = has("band_percent") && has("band_width");
        beside.then(|| {
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
        if !COMPARE.contains(&self.back_end) {
            return Some(format!(
                "the sweep of {parameter} has no effect on back_end = {:?}; say series = \"baseline\" to have it as \
                 a line to compare with",
                self.back_end.name()
            ));
        }
        let name = instead.iter().find(|name| self.settings.contains_key(**name))?;
        Some(format!(
            "{name} cannot stand beside the sweep of {parameter}, which chooses it; leave it out"
        ))
    }
}

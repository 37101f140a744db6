//! A system as a protocol writes it.

use std::collections::BTreeMap;

use auscult::{Preset, members::MemberSpec};
use auscult_autoencoder::ErrorScore;
use auscult_core::{
    BandSettings, BeamSettings, Combine, DensityExponent, FrontEnd, Method, View,
    baselines::genrep::Standardisation, beam::BeamOverrides, features::AxisMeaning,
};
use auscult_encoders::Precision;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What learns and scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackEnd {
    /// Global matching, BEAM, AdaBEAM.
    #[default]
    Nearest,
    /// GenRep: a memory a domain, standardised, the smaller score counts.
    #[serde(rename = "genrep")]
    GenRep,
    /// Mahalanobis distance with a shrunk covariance.
    Mahalanobis,
    /// What the principal components leave over.
    PcaResidual,
    /// A mixture of diagonal Gaussians.
    #[serde(rename = "gmm")]
    Mixture,
    /// Cosine distance to the nearest of k centres.
    KMeans,
    /// The autoencoder of the DCASE or MIMII baseline, trained on the section.
    Autoencoder,
    /// Standardised scores of other systems combined.
    Fusion,
}

impl BackEnd {
    /// Every back end, in the order they are documented.
    pub const ALL: [Self; 8] = [
        Self::Nearest,
        Self::GenRep,
        Self::Mahalanobis,
        Self::PcaResidual,
        Self::Mixture,
        Self::KMeans,
        Self::Autoencoder,
        Self::Fusion,
    ];

    /// Its name in protocols.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::GenRep => "genrep",
            Self::Mahalanobis => "mahalanobis",
            Self::PcaResidual => "pca-residual",
            Self::Mixture => "gmm",
            Self::KMeans => "k-means",
            Self::Autoencoder => "autoencoder",
            Self::Fusion => "fusion",
        }
    }
}

/// Which source references GenRep mixes into the target memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Mixup {
    /// This many of the nearest; 0 mixes nothing.
    Nearest(usize),
    /// All of them.
    All(AllWord),
}

/// The word `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllWord {
    /// All.
    All,
}

/// A system of a protocol. Whatever is not said is the paper's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SystemSettings {
    /// The name in tables; unique in a protocol.
    pub name: String,
    /// The heading it stands under in tables.
    pub group: String,
    /// What learns and scores.
    pub back_end: BackEnd,
    /// Front end and comparing under one name, in place of everything else that is said about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The front end's name; several with `+` between them, how each compares in parentheses.
    pub front_end: String,
    /// The same as tables; parsing a protocol makes text of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front_ends: Vec<MemberSpec>,
    /// Its convention.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convention: Option<String>,
    /// What an encoder computes in: `f32` or `int16`; f32 if not said.
    #[serde(with = "precision_text", skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// The views compared, where they are not the method's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<Vec<View>>,
    /// Positions in a band for single data sets, such as `dcase2024 = 76`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub band_width_for: BTreeMap<String, usize>,
    /// The band as a share of the axis in %: touching bands up to 40 %, two bands from both ends
    /// beyond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band_percent: Option<f64>,
    /// How references are compared; the fusion is that of a fusion's members, too.
    #[serde(flatten)]
    pub compare: BeamOverrides,
    /// Where GenRep's means and deviations come from.
    pub standardisation: Standardisation,
    /// GenRep's mixtures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixup: Option<Mixup>,
    /// Gaussians of a mixture, or centres of k-means.
    pub components: usize,
    /// Share of the variance that principal components keep.
    pub variance_share: f64,
    /// How much of the covariance is replaced by a multiple of the identity.
    pub shrinkage: f64,
    /// How an autoencoder's errors become scores.
    #[serde(skip_serializing_if = "is_squared_error")]
    pub error_score: ErrorScore,
    /// Times an autoencoder sees each window, if not the baseline's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// The seed of an autoencoder, if not the baseline's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The systems a fusion is made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// The paper's score in % for parts of data sets, such as `"dcase2023/dev" = 56.9`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paper: BTreeMap<String, f64>,
    /// Every setting of the nearest-neighbour back end at once, in place of the ones above.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub detector: Option<BeamSettings>,
    /// The system it is a trial of; empty of any other.
    #[serde(skip_deserializing, skip_serializing_if = "String::is_empty")]
    pub trial_of: String,
    /// The curve of a figure it is a point of.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub series: String,
    /// Its place on the figure's axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
}

impl Default for SystemSettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            group: String::new(),
            back_end: BackEnd::default(),
            preset: None,
            front_end: "log-mel".to_owned(),
            front_ends: Vec::new(),
            convention: None,
            precision: None,
            views: None,
            band_width_for: BTreeMap::new(),
            band_percent: None,
            compare: BeamOverrides::default(),
            standardisation: Standardisation::default(),
            mixup: None,
            components: 16,
            variance_share: 0.95,
            shrinkage: 0.1,
            error_score: ErrorScore::default(),
            epochs: None,
            seed: None,
            members: Vec::new(),
            paper: BTreeMap::new(),
            detector: None,
            trial_of: String::new(),
            series: String::new(),
            x: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_squared_error(score: &ErrorScore) -> bool {
    *score == ErrorScore::Mse
}

/// The precision of an encoder as its name.
pub(crate) mod precision_text {
    use auscult_encoders::Precision;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(crate) fn serialize<S: Serializer>(
        precision: &Option<Precision>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match precision {
            Some(precision) => serializer.serialize_str(precision.name()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Precision>, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map(Some).map_err(D::Error::custom)
    }
}

impl SystemSettings {
    /// Refuses numbers that mean nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with what is allowed.
    pub fn check(&self) -> Result<()> {
        let ranges = [
            ("components", "at least 1", self.components as f64, self.components >= 1),
            ("shrinkage", "0 to 1", self.shrinkage, (0.0..=1.0).contains(&self.shrinkage)),
            (
                "variance_share",
                "above 0 and at most 1",
                self.variance_share,
                self.variance_share > 0.0 && self.variance_share <= 1.0,
            ),
        ];
        for (setting, allowed, got, is_allowed) in ranges {
            if !is_allowed {
                let (allowed, got) = (allowed.to_owned(), got.to_string());
                return Err(Error::Setting { setting, allowed, got });
            }
        }
        if let Some(percent) = self.band_percent {
            check_share(percent)?;
        }
        if self.neighbours() == 0 && self.compare.density_exponent == Some(DensityExponent::Auto) {
            let allowed = "a number where neighbours is 0: there are no local scales".to_owned();
            let (setting, got) = ("density_exponent", "auto".to_owned());
            return Err(Error::Setting { setting, allowed, got });
        }
        Ok(())
    }

    /// Neighbours in a local scale.
    pub fn neighbours(&self) -> usize {
        self.compare.neighbours.unwrap_or(1)
    }

    /// How the scores of views, or of a fusion's members, become one.
    pub fn fusion(&self) -> Combine {
        self.compare.fuse.unwrap_or(Combine::Mean)
    }

    /// What tables call it: trials stand in one row.
    pub fn table_name(&self) -> &str {
        if self.trial_of.is_empty() { &self.name } else { &self.trial_of }
    }

    /// Whether a sweep leaves it as it is: the line the others are compared with.
    pub(crate) fn is_baseline(&self) -> bool {
        self.series == "baseline"
    }

    /// What is special for a data set put in its place.
    #[must_use]
    pub fn for_dataset(&self, dataset: &str) -> Self {
        let mut system = self.clone();
        if let Some(&width) = self.band_width_for.get(dataset) {
            system.compare.band_width = Some(width);
        }
        system
    }

    /// The settings of the nearest-neighbour back end on a front end.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a band share is not in 1 to 100 %, [`Error::Library`] if the front end
    /// cannot be read.
    pub fn beam_settings(&self, front_end: &dyn FrontEnd) -> Result<BeamSettings> {
        if let Some(settings) = &self.detector {
            return Ok(settings.clone());
        }
        if let Some(settings) = self.own_detector(front_end)? {
            return Ok(settings);
        }
        let method = match self.compare.method {
            Some(method) => method,
            None if front_end.views().len() < 2 => Method::Beam,
            None => Method::AdaBeam,
        };
        let mut settings = BeamSettings::paper(method, front_end);
        if let Some(views) = &self.views {
            settings.views.clone_from(views);
        }
        let axis_len = front_end.axis().len();
        if let Some(percent) = self.band_percent {
            settings.bands = bands_of_share(axis_len, unit_of(front_end), percent)?;
        }
        let BeamOverrides { band_width, band_stride, .. } = self.compare;
        if let Some(width) = band_width {
            settings.bands = BandSettings::touching(width);
        }
        if let (Some(stride), BandSettings::Windows { width, .. }) = (band_stride, settings.bands) {
            settings.bands = BandSettings::Windows { width, stride };
        }
        settings.fusion = self.fusion();
        // What was applied above has rules of its own here: any system may have bands, and a fusion
        // does not choose views.
        let (method, band_width, band_stride, fuse) = (None, None, None, None);
        let rest = BeamOverrides { method, band_width, band_stride, fuse, ..self.compare };
        Ok(rest.apply(&settings, front_end)?)
    }
}

/// Positions that only make sense together: an encoder's row of tokens; otherwise one.
fn unit_of(front_end: &dyn FrontEnd) -> usize {
    let axis = front_end.axis();
    match front_end.default_bands() {
        BandSettings::Windows { width, .. }
            if axis.meaning() == AxisMeaning::Other && axis.len().is_multiple_of(width) =>
        {
            width
        }
        _ => 1,
    }
}

fn check_share(percent: f64) -> Result<()> {
    if (1.0..=100.0).contains(&percent) {
        return Ok(());
    }
    let (allowed, got) = ("1 to 100".to_owned(), percent.to_string());
    Err(Error::Setting { setting: "band share in %", allowed, got })
}

/// Bands as the paper's figure on window sizes has them; rows of an encoder are not cut: the
/// nearest number of whole rows, and never all of them below 100 %.
fn bands_of_share(axis_len: usize, unit: usize, percent: f64) -> Result<BandSettings> {
    check_share(percent)?;
    let units = axis_len / unit;
    let share = units as f64 * percent / 100.0;
    let most = if percent < 100.0 { units.saturating_sub(1) } else { units };
    let width = match unit {
        1 => (share as usize).max(1),
        _ => unit * (share.round() as usize).min(most).max(1),
    };
    Ok(match axis_len - width {
        0 => BandSettings::Whole,
        rest if percent >= 50.0 => BandSettings::Windows { width, stride: rest },
        _ => BandSettings::touching(width),
    })
}

/// One setting that takes several values: each system becomes one for each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// `neighbours` or `band-percent`.
    pub parameter: SweepParameter,
    /// Its values.
    pub values: Vec<f64>,
    /// What the axis of the figure says.
    pub axis: String,
    /// What the figures show; the score if not given.
    #[serde(default = "score_only")]
    pub measures: Vec<SweepMeasure>,
}

fn score_only() -> Vec<SweepMeasure> {
    vec![SweepMeasure::Score]
}

/// What a figure of a sweep shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepMeasure {
    /// The data set's headline score.
    Score,
    /// The mean AUC over sections.
    Auc,
}

/// What a sweep changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepParameter {
    /// Neighbours in a local scale.
    Neighbours,
    /// The band as a share of the axis.
    BandPercent,
}

impl Sweep {
    /// Refuses values the parameter cannot have; those of bands are checked in the systems.
    pub(crate) fn check(&self) -> Result<()> {
        let is_count = |value: &&f64| **value >= 0.0 && value.fract() == 0.0;
        let wrong = self.values.iter().find(|value| !is_count(value));
        match (self.parameter, wrong) {
            (SweepParameter::Neighbours, Some(value)) => Err(Error::Setting {
                setting: "sweep of neighbours",
                allowed: "whole numbers from 0".to_owned(),
                got: value.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// One system for each value.
    pub fn expand(&self, system: &SystemSettings) -> Vec<SystemSettings> {
        let at = |&value: &f64| {
            let mut point = system.clone();
            point.series =
                if system.series.is_empty() { system.name.clone() } else { system.series.clone() };
            point.x = Some(value);
            point.paper.clear();
            match self.parameter {
                SweepParameter::Neighbours => {
                    point.compare.neighbours = Some(value as usize);
                    point.name = format!("{}, K = {value}", system.name);
                }
                SweepParameter::BandPercent => {
                    point.band_percent = Some(value);
                    point.name = format!("{}, {value} %", system.name);
                }
            }
            point
        };
        self.values.iter().map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_axis_are_the_papers_band_sizes() {
        let width = |percent| match bands_of_share(128, 1, percent).unwrap() {
            BandSettings::Windows { width, stride } => (width, stride),
            BandSettings::Whole => panic!("{percent} %"),
        };
        assert_eq!([10.0, 20.0, 30.0, 40.0].map(|p| width(p).0), [12, 25, 38, 51]);
        assert_eq!(width(90.0), (115, 13), "two bands, from both ends");
        assert_eq!(bands_of_share(128, 1, 100.0).unwrap(), BandSettings::Whole);
        assert!(bands_of_share(128, 1, 0.0).is_err());
    }

    #[test]
    fn windows_of_encoders_are_whole_rows() {
        let rows = |percent| match bands_of_share(8 * 768, 768, percent).unwrap() {
            BandSettings::Windows { width, stride } => (width / 768, width % 768, stride / 768),
            BandSettings::Whole => panic!("{percent} %"),
        };
        let found = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0].map(rows);
        assert_eq!(found.map(|(width, ..)| width), [1, 2, 2, 3, 4, 5, 6, 6, 7]);
        assert!(found.iter().all(|(_, rest, _)| *rest == 0));
        assert_eq!(
            (rows(40.0).2, rows(60.0).2, rows(90.0).2),
            (3, 3, 1),
            "touching, then from both ends"
        );
        assert_eq!(bands_of_share(8 * 768, 768, 100.0).unwrap(), BandSettings::Whole);
    }
}

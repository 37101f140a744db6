//! Options of the detector that users give one by one, and what they may be given beside.

use serde::{Deserialize, Serialize};

use super::{BeamSettings, Method, Standardise};
use crate::{
    BandSettings, Combine, DensityExponent, DensityRule, Metric, Result, features::FrontEnd,
};

/// Settings of the detector that take the place of others; `None` leaves a setting unchanged.
///
/// A command line, a protocol and a settings file all hold these, under the same names.
///
/// # Examples
///
/// ```
/// use auscult_core::{BeamSettings, ClipSettings, FrontEndSettings, Method, beam::BeamOverrides};
///
/// let front_end = FrontEndSettings::default().build(ClipSettings::default().check()?)?;
/// let overrides = BeamOverrides { neighbours: Some(4), ..BeamOverrides::default() };
/// let base = BeamSettings::paper(Method::AdaBeam, &*front_end);
/// assert_eq!(overrides.apply(&base, &*front_end)?, BeamSettings { neighbours: 4, ..base });
/// # Ok::<(), auscult_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BeamOverrides {
    /// The method: its bands and views take the place of all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Positions in a band.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band_width: Option<usize>,
    /// Positions between band starts; the band width if only that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band_stride: Option<usize>,
    /// Neighbours in a local scale; 0 compares plain distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// How much of the local scale counts: a number or `auto`.
    #[serde(with = "exponent_text", skip_serializing_if = "Option::is_none")]
    pub density_exponent: Option<DensityExponent>,
    /// Which ratio local density normalisation takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density_rule: Option<DensityRule>,
    /// How far apart two bands are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// How band scores become one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Combine>,
    /// How the scores of two views become one; both views are then compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fuse: Option<Combine>,
    /// How the scores of an ensemble's members become one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combine_members: Option<Combine>,
}

impl BeamOverrides {
    /// Puts these options in the place of those of `base`, settings for `front_end`.
    ///
    /// What the result is worth on an axis, [`BeamSettings::check`] says.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Options`] if an option cannot be given beside the others.
    pub fn apply(&self, base: &BeamSettings, front_end: &dyn FrontEnd) -> Result<BeamSettings> {
        let name = || front_end.identity().name;
        if let Some(option) = self.of_members(base) {
            return Err(OptionConflict::OptionOfMembers { option, front_end: name() }.into());
        }
        let one_view = front_end.views().len() < 2;
        let mut settings = match self.method {
            Some(Method::AdaBeam) if one_view => {
                return Err(OptionConflict::MethodNeedsTwoViews { front_end: name() }.into());
            }
            Some(method) => base.clone().with_method(method, front_end),
            None => base.clone(),
        };
        if self.fuse.is_some() {
            if one_view {
                return Err(OptionConflict::FusionNeedsTwoViews { front_end: name() }.into());
            }
            if self.method == Some(Method::Beam) {
                return Err(OptionConflict::FusionWithBeam.into());
            }
            settings.views = front_end.views().to_vec();
        }
        match (&mut settings.ensemble, self.combine_members) {
            (Some(_), _) if self.band_width.is_some() || self.band_stride.is_some() => {
                return Err(OptionConflict::BandsOfMembers { front_end: name() }.into());
            }
            (Some(ensemble), combine) => ensemble.combine = combine.unwrap_or(ensemble.combine),
            (None, Some(_)) => {
                return Err(OptionConflict::NoMembers { front_end: name() }.into());
            }
            (None, None) => settings.bands = self.bands(settings.bands)?,
        }
        let neighbours = self.neighbours.unwrap_or(settings.neighbours);
        let exponent = self.density_exponent.unwrap_or(settings.exponent);
        let is_given = self.neighbours.is_some() || self.density_exponent.is_some();
        if is_given && neighbours == 0 && exponent == DensityExponent::Auto {
            return Err(OptionConflict::AutoWithoutNeighbours.into());
        }
        Ok(BeamSettings {
            neighbours,
            exponent,
            rule: self.density_rule.unwrap_or(settings.rule),
            metric: self.metric.unwrap_or(settings.metric),
            aggregation: self.aggregate.unwrap_or(settings.aggregation),
            fusion: self.fuse.unwrap_or(settings.fusion),
            ..settings
        })
    }

    /// The first option that members say themselves, if those of `base` do.
    fn of_members(&self, base: &BeamSettings) -> Option<&'static str> {
        let ensemble = base.ensemble.as_ref()?;
        if ensemble.standardise != Standardise::OtherVisits {
            return None;
        }
        let given = [
            ("method", self.method.is_some()),
            ("band_width", self.band_width.is_some()),
            ("band_stride", self.band_stride.is_some()),
            ("neighbours", self.neighbours.is_some()),
            ("density_exponent", self.density_exponent.is_some()),
            ("density_rule", self.density_rule.is_some()),
            ("metric", self.metric.is_some()),
            ("aggregate", self.aggregate.is_some()),
            ("fuse", self.fuse.is_some()),
        ];
        given.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
    }

    fn bands(&self, base: BandSettings) -> Result<BandSettings> {
        Ok(match (self.band_width, self.band_stride, base) {
            (None, None, base) => base,
            (_, _, BandSettings::Whole) => return Err(OptionConflict::NoBands.into()),
            (width, stride, BandSettings::Windows { width: base, .. }) => {
                let width = width.unwrap_or(base);
                BandSettings::Windows { width, stride: stride.unwrap_or(width) }
            }
        })
    }
}

/// Options of the detector that cannot be given together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionConflict {
    /// AdaBEAM on a front end with one view.
    #[error("adabeam compares two views and {front_end} has one; use beam or global")]
    MethodNeedsTwoViews {
        /// The front end.
        front_end: String,
    },
    /// A fusion of views on a front end with one view.
    #[error("a fusion needs two views and {front_end} has one; leave it out")]
    FusionNeedsTwoViews {
        /// The front end.
        front_end: String,
    },
    /// A fusion of views with a method that compares one.
    #[error("a fusion needs two views and beam compares one; use adabeam or global")]
    FusionWithBeam,
    /// A band width or stride for an ensemble.
    #[error(
        "the members of {front_end} have bands of their own; leave out the band width and stride"
    )]
    BandsOfMembers {
        /// The ensemble.
        front_end: String,
    },
    /// An option for all members where each says how it compares.
    #[error(
        "{} cannot be set for all members of {front_end}: each says how it compares; options of members stand in \
         their parentheses, such as ced(neighbours=3)",
        option.replace('_', " ")
    )]
    OptionOfMembers {
        /// The option, as the field of [`BeamOverrides`] is called.
        option: &'static str,
        /// The ensemble.
        front_end: String,
    },
    /// A band width or stride where the whole axis is compared.
    #[error("global matching has no bands; leave out the band width and stride")]
    NoBands,
    /// A way to combine members where there are none.
    #[error("{front_end} has no members to combine; use several front ends, such as ced+mfcc")]
    NoMembers {
        /// The front end.
        front_end: String,
    },
    /// An exponent to be learnt from local scales where there are none.
    #[error(
        "the density exponent auto needs local scales, and 0 neighbours give none; use a number"
    )]
    AutoWithoutNeighbours,
}

/// An exponent as users write it: a number or `auto`.
mod exponent_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::DensityExponent;

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(
        exponent: &Option<DensityExponent>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match exponent {
            Some(DensityExponent::Fixed(exponent)) => serializer.serialize_f64(*exponent),
            Some(DensityExponent::Auto) => serializer.serialize_str("auto"),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<DensityExponent>, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map(Some).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        ClipSettings, Error, FrontEndSettings, View,
        features::{Ensemble, MemberForms, MemberOptions},
    };

    fn none() -> BeamOverrides {
        BeamOverrides::default()
    }

    fn named(name: &str) -> Arc<dyn FrontEnd> {
        let length = ClipSettings::default().check().unwrap();
        FrontEndSettings::named(name, None).unwrap().build(length).unwrap()
    }

    fn ensemble() -> Arc<dyn FrontEnd> {
        Arc::new(Ensemble::new(vec![named("log-mel"), named("mfcc")]).unwrap())
    }

    /// Over the paper's settings.
    fn applied(overrides: BeamOverrides, front_end: &dyn FrontEnd) -> Result<BeamSettings> {
        overrides.apply(&BeamSettings::paper(Method::default(), front_end), front_end)
    }

    #[test]
    fn nothing_given_changes_nothing() {
        for front_end in [named("log-mel"), named("lpc"), ensemble()] {
            let base = BeamSettings::paper(Method::default(), &*front_end);
            assert_eq!(none().apply(&base, &*front_end), Ok(base));
        }
    }

    #[test]
    fn every_option_takes_its_place() {
        let front_end = named("log-mel");
        let overrides = BeamOverrides {
            band_width: Some(20),
            neighbours: Some(3),
            density_exponent: Some(DensityExponent::Auto),
            density_rule: Some(DensityRule::AtNearest),
            metric: Some(Metric::Euclidean),
            aggregate: Some(Combine::Max),
            fuse: Some(Combine::Min),
            ..none()
        };
        let expected = BeamSettings {
            neighbours: 3,
            exponent: DensityExponent::Auto,
            rule: DensityRule::AtNearest,
            metric: Metric::Euclidean,
            aggregation: Combine::Max,
            fusion: Combine::Min,
            ..BeamSettings::new(BandSettings::touching(20), vec![View::Mean, View::Max])
        };
        assert_eq!(applied(overrides, &*front_end), Ok(expected));
    }

    #[test]
    fn a_stride_alone_keeps_the_width() {
        let stride = BeamOverrides { band_stride: Some(7), ..none() };
        let bands = applied(stride, &*named("log-mel")).unwrap().bands;
        assert_eq!(bands, BandSettings::Windows { width: 38, stride: 7 });
    }

    #[test]
    fn a_method_brings_its_bands_and_views_and_leaves_the_rest() {
        let front_end = named("log-mel");
        let paper = BeamSettings::paper(Method::AdaBeam, &*front_end);
        let base = BeamSettings { bands: BandSettings::touching(9), neighbours: 5, ..paper };
        let global = BeamOverrides { method: Some(Method::Global), ..none() };
        let settings = global.apply(&base, &*front_end).unwrap();
        let expected =
            BeamSettings { neighbours: 5, ..BeamSettings::paper(Method::Global, &*front_end) };
        assert_eq!(settings, expected);
        // The paper's "+ DMM".
        let fused = BeamOverrides { fuse: Some(Combine::Mean), ..global };
        assert_eq!(fused.apply(&base, &*front_end).unwrap().views, [View::Mean, View::Max]);
    }

    #[test]
    fn members_are_combined_as_given_or_as_before() {
        let front_end = ensemble();
        let maximum = BeamOverrides { combine_members: Some(Combine::Max), ..none() };
        let settings = applied(maximum, &*front_end).unwrap();
        let again = none().apply(&settings, &*front_end).unwrap();
        assert_eq!(again.ensemble.unwrap().combine, Combine::Max);
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let (log_mel, lpc, both) = (named("log-mel"), named("lpc"), ensemble());
        let method = |method| BeamOverrides { method: Some(method), ..none() };
        let fuse = BeamOverrides { fuse: Some(Combine::Max), ..none() };
        let width = BeamOverrides { band_width: Some(8), ..none() };
        let stride = BeamOverrides { band_stride: Some(8), ..none() };
        let members = BeamOverrides { combine_members: Some(Combine::Max), ..none() };
        let auto = BeamOverrides { density_exponent: Some(DensityExponent::Auto), ..none() };
        let global = Some(Method::Global);
        let cases = [
            (method(Method::AdaBeam), &lpc, "adabeam compares two views and lpc has one"),
            (fuse, &lpc, "a fusion needs two views and lpc has one"),
            (
                BeamOverrides { fuse: fuse.fuse, ..method(Method::Beam) },
                &log_mel,
                "beam compares one",
            ),
            (width, &both, "members of log-mel+mfcc have bands of their own"),
            (stride, &both, "members of log-mel+mfcc have bands of their own"),
            (BeamOverrides { method: global, ..width }, &log_mel, "no bands"),
            (BeamOverrides { method: global, ..stride }, &log_mel, "no bands"),
            (members, &log_mel, "log-mel has no members"),
            (BeamOverrides { neighbours: Some(0), ..auto }, &log_mel, "0 neighbours"),
        ];
        for (overrides, front_end, expected) in cases {
            let error = applied(overrides, &**front_end).unwrap_err();
            assert!(matches!(error, Error::Options(_)), "{error:?}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let base = applied(auto, &*log_mel).unwrap();
        let plain = BeamOverrides { neighbours: Some(0), ..none() };
        assert!(plain.apply(&base, &*log_mel).is_err(), "of the base as well");
    }

    /// Log-mel and MFCC, each with a way of comparing of its own.
    fn stacked() -> Arc<dyn FrontEnd> {
        let options = |front_end: &dyn FrontEnd| MemberOptions {
            views: front_end.views().to_vec(),
            bands: None,
            metric: Metric::Scaled,
            neighbours: 3,
            exponent: DensityExponent::default(),
        };
        let member = |name| {
            let front_end = named(name);
            let options = options(&*front_end);
            (front_end, options)
        };
        MemberForms::stack(vec![member("log-mel"), member("mfcc")]).unwrap()
    }

    #[test]
    fn members_that_say_how_they_compare_take_no_options_but_how_they_are_combined() {
        let front_end = stacked();
        let every = BeamOverrides {
            method: Some(Method::Beam),
            band_width: Some(8),
            band_stride: Some(8),
            neighbours: Some(2),
            density_exponent: Some(DensityExponent::Auto),
            density_rule: Some(DensityRule::AtNearest),
            metric: Some(Metric::Cosine),
            aggregate: Some(Combine::Max),
            fuse: Some(Combine::Max),
            combine_members: Some(Combine::Max),
        };
        let cases = [
            ("method", BeamOverrides { method: every.method, ..none() }),
            ("band width", BeamOverrides { band_width: every.band_width, ..none() }),
            ("band stride", BeamOverrides { band_stride: every.band_stride, ..none() }),
            ("neighbours", BeamOverrides { neighbours: every.neighbours, ..none() }),
            (
                "density exponent",
                BeamOverrides { density_exponent: every.density_exponent, ..none() },
            ),
            ("density rule", BeamOverrides { density_rule: every.density_rule, ..none() }),
            ("metric", BeamOverrides { metric: every.metric, ..none() }),
            ("aggregate", BeamOverrides { aggregate: every.aggregate, ..none() }),
            ("fuse", BeamOverrides { fuse: every.fuse, ..none() }),
        ];
        for (option, overrides) in cases {
            let error = applied(overrides, &*front_end).unwrap_err().to_string();
            let expected = format!("{option} cannot be set for all members of log-mel+mfcc");
            assert!(error.starts_with(&expected), "{error}");
            assert!(error.ends_with("such as ced(neighbours=3)"), "{error}");
        }
        let combine = BeamOverrides { combine_members: every.combine_members, ..none() };
        let settings = applied(combine, &*front_end).unwrap();
        assert_eq!(settings.ensemble.unwrap().combine, Combine::Max);
    }

    #[test]
    fn options_are_written_under_the_names_users_know() {
        let text = r#"{"method":"beam","band_width":20,"band_stride":10,"neighbours":2,"#
            .to_owned()
            + r#""density_exponent":0.5,"density_rule":"at-nearest","metric":"euclidean","#
            + r#""aggregate":"max","fuse":"min","combine_members":"mean"}"#;
        let overrides: BeamOverrides = serde_json::from_str(&text).unwrap();
        assert_eq!(overrides.density_exponent, Some(DensityExponent::Fixed(0.5)));
        assert_eq!(serde_json::to_string(&overrides).unwrap(), text);
        let auto: BeamOverrides = serde_json::from_str(r#"{"density_exponent":"auto"}"#).unwrap();
        assert_eq!(auto, BeamOverrides { density_exponent: Some(DensityExponent::Auto), ..none() });
        assert_eq!(serde_json::from_str::<BeamOverrides>("{}").unwrap(), none());
        assert_eq!(serde_json::to_string(&none()).unwrap(), "{}");
        assert!(serde_json::from_str::<BeamOverrides>(r#"{"width":20}"#).is_err());
        assert!(serde_json::from_str::<BeamOverrides>(r#"{"density_exponent":"most"}"#).is_err());
    }
}

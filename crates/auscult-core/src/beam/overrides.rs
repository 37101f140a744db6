//! Options of the detector that users give one by one, and what they may be given beside.

use std::{num::ParseIntError, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{BeamSettings, Method, Standardise};
use crate::{
    BandSettings, Combine, DensityExponent, DensityRule, Error, Metric, Result, features::FrontEnd,
};

/// One option of [`BeamOverrides`]: what a command line needs to offer it.
#[derive(Debug, Clone, Copy)]
pub struct BeamOption {
    /// The name, as the field is called: `band_width`.
    pub name: &'static str,
    /// What stands for its value in help texts.
    pub value: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Whether it is given.
    pub is_given: fn(&BeamOverrides) -> bool,
    /// Sets it from what a user typed.
    pub set: fn(&mut BeamOverrides, &str) -> Result<()>,
}

/// The options as a struct, and as a table for those who read them one by one: what an option does, its
/// name and type, what stands for its value, and the module that writes it, where serde does not.
macro_rules! beam_options {
    ($($(#[doc = $about:literal])+ $field:ident: $type:ty, $value:literal $(, $module:literal)?;)+) => {
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
            $(
                $(#[doc = $about])+
                #[serde($(with = $module,)? skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+
        }

        impl BeamOverrides {
            /// Every option, in the order of the fields.
            pub const OPTIONS: &'static [BeamOption] = &[$(BeamOption {
                name: stringify!($field),
                value: $value,
                about: concat!($($about),+),
                is_given: |overrides| overrides.$field.is_some(),
                set: |overrides, text| {
                    overrides.$field = Some(parse::<$type>(stringify!($field), text)?);
                    Ok(())
                },
            }),+];
        }
    };
}

beam_options! {
    /// global: nearest reference, whole vector. beam: nearest references per band. adabeam: beam
    /// on the average and the loudest moments, fused; the default where the front end has both.
    method: Method, "NAME";
    /// Positions in a band (paper: 38 for log-mel, 20 for mfcc, 3200 for lpc).
    band_width: usize, "C";
    /// Positions between band starts; the band width if not given.
    band_stride: usize, "S";
    /// Neighbours in local density normalisation; 1 if not given, 0 compares plain distances.
    neighbours: usize, "K";
    /// How much of the local density counts: 1 is the paper and the default, 0 none, auto learns it
    /// per band from the references.
    density_exponent: DensityExponent, "T|auto", "exponent_text";
    /// minimum-ratio (the paper's equation 7, the default) or at-nearest (its appendix).
    density_rule: DensityRule, "NAME";
    /// cosine (the default), scaled (each position by the spread of the references), unit-euclidean,
    /// euclidean or squared-euclidean.
    metric: Metric, "NAME";
    /// How band scores become one: mean (the default), max or min.
    aggregate: Combine, "NAME";
    /// How the two views become one: mean, max or min; both views are then compared. With the method
    /// global this is the paper's "+ DMM".
    fuse: Combine, "NAME";
    /// How the scores of several front ends (ced+mfcc) become one: mean, max or min of their
    /// standardised logarithms; mean if not given.
    combine_members: Combine, "NAME";
}

/// What a user typed for an option; errors say what is allowed.
fn parse<T: FromStr<Err: Typed>>(option: &'static str, text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| error.of_option(option, text))
}

/// Errors of parsing, as ours.
trait Typed {
    fn of_option(self, option: &'static str, text: &str) -> Error;
}

impl Typed for Error {
    fn of_option(self, _: &'static str, _: &str) -> Error {
        self
    }
}

impl Typed for ParseIntError {
    fn of_option(self, option: &'static str, text: &str) -> Error {
        Error::setting(option, "a whole number from 0", text)
    }
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
        let of_each = Self::OPTIONS.iter().filter(|option| option.name != "combine_members");
        of_each.into_iter().find(|option| (option.is_given)(self)).map(|option| option.name)
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
        features::{Ensemble, MemberFrontEnd, MemberOptions},
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
        MemberFrontEnd::stack(vec![member("log-mel"), member("mfcc")]).unwrap()
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

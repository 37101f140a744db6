//! Members of an ensemble as people write them: `log-mel(convention=dcase,exponent=auto)+ced`.

use std::{fmt, str::FromStr};

use auscult_core::{
    BandSettings, BeamSettings, DensityExponent, FrontEnd, Method, Metric, View,
    features::{FORM_SEPARATOR, MemberOptions, Normalisation, SEPARATOR},
};
use auscult_encoders::EncoderLibrary;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// One front end as people write it: `mfcc`, `ced:layer-6@raw`, or with how it compares in
/// parentheses, `modulation(metric=scaled,neighbours=3)`.
///
/// # Examples
///
/// ```
/// use auscult::members::MemberSpec;
///
/// let members = MemberSpec::parse_all("log-mel(convention=dcase,exponent=auto)+ced")?;
/// assert_eq!(members[0].convention.as_deref(), Some("dcase"));
/// assert_eq!(members[1].to_string(), "ced");
/// # Ok::<(), auscult::Error>(())
/// ```
///
/// In TOML and JSON it is a table with the same names, and `front_end` for the name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "MemberTable", into = "MemberTable")]
pub struct MemberSpec {
    /// The name of the front end.
    pub front_end: String,
    /// Which form of it; `None` for the usual one.
    pub convention: Option<String>,
    /// How its distances are normalised, where the detector's options hold for all members.
    pub normalisation: Option<Normalisation>,
    /// How it compares; `None` if nothing was said about that.
    pub options: Option<OwnOptions>,
}

/// How one member compares; what is not given is usual for its front end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnOptions {
    /// The views, mean before max.
    pub views: Option<Vec<View>>,
    /// How the axis is cut: `whole`, a width, or width/stride.
    pub bands: Option<BandsText>,
    /// How far apart two bands are.
    pub metric: Option<Metric>,
    /// Neighbours in a local scale.
    pub neighbours: Option<usize>,
    /// How much of the local scale counts.
    pub exponent: Option<ExponentText>,
}

/// A member as a table has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberTable {
    front_end: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    convention: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalisation: Option<Normalisation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    views: Option<Vec<View>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bands: Option<BandsText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbours: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exponent: Option<ExponentText>,
}

impl From<MemberTable> for MemberSpec {
    fn from(table: MemberTable) -> Self {
        let MemberTable { front_end, convention, normalisation, .. } = table;
        let MemberTable { views, bands, metric, neighbours, exponent, .. } = table;
        let own = OwnOptions { views, bands, metric, neighbours, exponent };
        let options = (own != OwnOptions::default()).then_some(own);
        Self { front_end, convention, normalisation, options }
    }
}

impl From<MemberSpec> for MemberTable {
    fn from(member: MemberSpec) -> Self {
        let MemberSpec { front_end, convention, normalisation, options } = member;
        let OwnOptions { views, bands, metric, neighbours, exponent } = options.unwrap_or_default();
        Self { front_end, convention, normalisation, views, bands, metric, neighbours, exponent }
    }
}

/// Bands as people write them: `whole`, `38`, or `38/19`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BandsText(pub BandSettings);

/// An exponent as people write it: a number, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExponentText(pub DensityExponent);

/// The options of a member.
const OPTIONS: &str = "convention, views, bands, metric, neighbours, exponent";

impl MemberSpec {
    /// Reads members with `+` between them.
    ///
    /// # Errors
    ///
    /// [`Error::Member`] with what is wrong.
    pub fn parse_all(text: &str) -> Result<Vec<Self>> {
        let mut members = Vec::new();
        let (mut depth, mut start) = (0_usize, 0);
        for (at, character) in text.char_indices() {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                SEPARATOR if depth == 0 => {
                    members.push(text[start..at].parse()?);
                    start = at + SEPARATOR.len_utf8();
                }
                _ => {}
            }
        }
        members.push(text[start..].parse()?);
        Ok(members)
    }

    /// The options of the member on its front end, what was not given filled in: both views where
    /// there are two, but of encoders the mean view, cosine distance, one neighbour, exponent 1.
    pub(crate) fn member_options(&self, front_end: &dyn FrontEnd) -> MemberOptions {
        let own = self.options.clone().unwrap_or_default();
        let usual = || {
            if EncoderLibrary::knows(&self.front_end) {
                vec![View::Mean]
            } else {
                front_end.views().to_vec()
            }
        };
        let neighbours = usize::from(self.normalisation != Some(Normalisation::Raw));
        MemberOptions {
            views: own.views.unwrap_or_else(usual),
            bands: own.bands.map(|BandsText(bands)| bands),
            metric: own.metric.unwrap_or_default(),
            neighbours: own.neighbours.unwrap_or(neighbours),
            exponent: own.exponent.map_or_else(Default::default, |ExponentText(own)| own),
        }
    }

    /// The settings of a detector with this front end alone.
    pub(crate) fn detector(&self, front_end: &dyn FrontEnd) -> BeamSettings {
        let usual = BeamSettings::paper(Method::AdaBeam, front_end);
        if self.options.is_none() {
            return usual;
        }
        let options = self.member_options(front_end);
        BeamSettings {
            bands: options.bands.unwrap_or(usual.bands),
            views: options.views,
            metric: options.metric,
            neighbours: options.neighbours,
            exponent: options.exponent,
            ..usual
        }
    }

    /// Takes over what another says, and keeps the rest.
    pub(crate) fn change(&mut self, other: Self) {
        let said = other.options.unwrap_or_default();
        let own = self.options.get_or_insert_default();
        own.views = said.views.or(own.views.take());
        own.bands = said.bands.or(own.bands);
        own.metric = said.metric.or(own.metric);
        own.neighbours = said.neighbours.or(own.neighbours);
        own.exponent = said.exponent.or(own.exponent);
        self.convention = other.convention.or(self.convention.take());
        self.normalisation = other.normalisation.or(self.normalisation);
    }

    fn set(&mut self, option: &str) -> Result<()> {
        let wrong = |reason: String| Error::Member { member: self.front_end.clone(), reason };
        let Some((key, value)) = option.split_once('=') else {
            let reason = format!("{option:?} has no value; write key=value");
            return Err(wrong(reason));
        };
        let (key, value) = (key.trim(), value.trim());
        let own = self.options.get_or_insert_default();
        let is_known = match key {
            "convention" => self.convention.is_some(),
            "views" => own.views.is_some(),
            "bands" => own.bands.is_some(),
            "metric" => own.metric.is_some(),
            "neighbours" => own.neighbours.is_some() || self.normalisation.is_some(),
            "exponent" => own.exponent.is_some(),
            _ => false,
        };
        if is_known {
            return Err(wrong(format!("{key} is said twice; leave one out")));
        }
        let of_core = |error: auscult_core::Error| wrong(error.to_string());
        match key {
            "convention" => self.convention = Some(value.to_owned()),
            "views" => {
                let views = value.split('/').map(str::parse).collect::<std::result::Result<_, _>>();
                own.views = Some(views.map_err(of_core)?);
            }
            "bands" => own.bands = Some(value.parse().map_err(wrong)?),
            "metric" => own.metric = Some(value.parse().map_err(of_core)?),
            "neighbours" => {
                let number = value.parse();
                let reason = || format!("neighbours must be a whole number, got {value:?}");
                own.neighbours = Some(number.map_err(|_| wrong(reason()))?);
            }
            "exponent" => own.exponent = Some(ExponentText(value.parse().map_err(of_core)?)),
            _ => return Err(wrong(format!("unknown option {key:?}; known: {OPTIONS}"))),
        }
        Ok(())
    }
}

impl FromStr for MemberSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let (head, options) = match text.split_once('(') {
            None => (text, None),
            Some((head, rest)) => match rest.strip_suffix(')') {
                Some(options) if !options.contains(['(', ')']) => (head, Some(options)),
                _ => {
                    let reason = "parentheses stand once, at the end, with options between commas";
                    return Err(Error::Member {
                        member: text.to_owned(),
                        reason: reason.to_owned(),
                    });
                }
            },
        };
        let head = head.trim();
        let (head, normalisation) = match head.split_once(FORM_SEPARATOR) {
            Some((rest, form)) => (rest, Some(form.parse()?)),
            None => (head, None),
        };
        let (name, convention) = match head.split_once(':') {
            Some((name, convention)) => (name, Some(convention.to_owned())),
            None => (head, None),
        };
        let front_end = name.to_owned();
        let mut member = Self { front_end, convention, normalisation, options: None };
        if let Some(options) = options {
            member.options = Some(OwnOptions::default());
            for option in options.split(',').filter(|option| !option.trim().is_empty()) {
                member.set(option)?;
            }
        }
        Ok(member)
    }
}

impl fmt::Display for MemberSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { front_end, convention, normalisation, options } = self;
        formatter.write_str(front_end)?;
        let Some(own) = options else {
            convention.as_ref().map_or(Ok(()), |convention| write!(formatter, ":{convention}"))?;
            let form = normalisation.as_ref();
            return form.map_or(Ok(()), |form| write!(formatter, "{FORM_SEPARATOR}{form}"));
        };
        if let Some(form) = normalisation {
            write!(formatter, "{FORM_SEPARATOR}{form}")?;
        }
        let views = own.views.as_ref().map(|views| {
            let names: Vec<&str> = views.iter().map(|view| view.name()).collect();
            format!("views={}", names.join("/"))
        });
        let options = [
            convention.as_ref().map(|convention| format!("convention={convention}")),
            views,
            own.bands.map(|bands| format!("bands={bands}")),
            own.metric.map(|metric| format!("metric={metric}")),
            own.neighbours.map(|neighbours| format!("neighbours={neighbours}")),
            own.exponent.map(|ExponentText(exponent)| format!("exponent={exponent}")),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        write!(formatter, "({})", options.join(","))
    }
}

impl FromStr for BandsText {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "whole" {
            return Ok(Self(BandSettings::Whole));
        }
        let (width, stride) = text.split_once('/').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse().ok().filter(|&number: &usize| number > 0);
        match (number(width), number(stride)) {
            (Some(width), Some(stride)) => Ok(Self(BandSettings::Windows { width, stride })),
            _ => Err(format!("bands must be whole, a width or width/stride, got {text:?}")),
        }
    }
}

impl fmt::Display for BandsText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            BandSettings::Whole => formatter.write_str("whole"),
            BandSettings::Windows { width, stride } if width == stride => {
                write!(formatter, "{width}")
            }
            BandSettings::Windows { width, stride } => write!(formatter, "{width}/{stride}"),
        }
    }
}

impl TryFrom<String> for BandsText {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<BandsText> for String {
    fn from(bands: BandsText) -> Self {
        bands.to_string()
    }
}

impl TryFrom<String> for ExponentText {
    type Error = auscult_core::Error;

    fn try_from(text: String) -> auscult_core::Result<Self> {
        text.parse().map(Self)
    }
}

impl From<ExponentText> for String {
    fn from(ExponentText(exponent): ExponentText) -> Self {
        exponent.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in [
            "log-mel",
            "ced:layer-6@raw",
            "log-mel(convention=dcase,exponent=auto)",
            "modulation(metric=scaled,neighbours=3)",
            "ced(views=mean/max,bands=256/128,exponent=0.5)",
            "lpc(bands=whole)",
            "ced()",
        ] {
            let member: MemberSpec = text.parse().unwrap();
            assert_eq!(member.to_string(), text);
        }
        let preset =
            "log-mel(convention=dcase,exponent=auto)+modulation(metric=scaled,neighbours=3)";
        let members = MemberSpec::parse_all(preset).unwrap();
        let texts: Vec<String> = members.iter().map(ToString::to_string).collect();
        assert_eq!(texts.join("+"), preset);
    }

    #[test]
    fn members_are_tables_as_well() {
        let table =
            "front_end = 'log-mel'\nconvention = 'dcase'\nexponent = 'auto'\nviews = ['mean']";
        let member: MemberSpec = toml::from_str(table).unwrap();
        assert_eq!(member.to_string(), "log-mel(convention=dcase,views=mean,exponent=auto)");
        assert_eq!(
            toml::from_str::<MemberSpec>(&toml::to_string(&member).unwrap()).unwrap(),
            member
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("ced(metric=scaled", "ced(metric=scaled: parentheses stand once, at the end"),
            ("ced(exponent=auto,exponent=1)", "ced: exponent is said twice"),
            ("log-mel:dcase(convention=s15)", "log-mel: convention is said twice"),
            ("ced@raw(neighbours=3)", "ced: neighbours is said twice"),
            ("ced(metric)", "ced: \"metric\" has no value; write key=value"),
            ("ced(metric=red)", "ced: unknown metric \"red\""),
            ("ced(colour=red)", "ced: unknown option \"colour\"; known: convention, views"),
            ("ced(neighbours=-1)", "ced: neighbours must be a whole number, got \"-1\""),
            ("ced(bands=0)", "ced: bands must be whole, a width or width/stride, got \"0\""),
            ("ced(exponent=2)", "ced: density exponent must be 0 to 1, or auto"),
            ("ced(views=loud)", "ced: unknown view \"loud\""),
        ] {
            let error = text.parse::<MemberSpec>().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}

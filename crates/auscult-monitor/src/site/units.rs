//! Numbers with units, as people write them.

use serde::Deserialize;

/// A length of time: `90s`, `15m`, `4h`, `7d`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "TextOrNumber")]
pub struct Seconds(pub f64);

/// A number of bytes: `500MB`, `2GB`, `1TB`, or a plain number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "TextOrNumber")]
pub struct Bytes(pub u64);

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrNumber {
    Text(String),
    Number(f64),
}

const TIMES: &[(&str, f64)] = &[
    ("ms", 0.001),
    ("s", 1.0),
    ("min", 60.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
];

const SIZES: &[(&str, f64)] = &[("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1.0)];

/// The number before a unit, times the unit.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_alphabetic());
    let (number, unit) = (digits.trim(), &text[digits.len()..]);
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    Some(number.parse::<f64>().ok()? * factor)
}

impl TryFrom<TextOrNumber> for Seconds {
    type Error = String;

    fn try_from(value: TextOrNumber) -> Result<Self, String> {
        let (seconds, text) = match value {
            TextOrNumber::Number(seconds) => (Some(seconds), seconds.to_string()),
            TextOrNumber::Text(text) => (with_unit(&text, TIMES), text),
        };
        let is_fine = |seconds: &f64| seconds.is_finite() && (0.0..=3e9).contains(seconds);
        seconds.filter(is_fine).map(Self).ok_or_else(|| {
            format!(
                "{text:?} is not a length of time; write it as \"90s\", \"15m\", \"4h\" or \"7d\""
            )
        })
    }
}

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().parse().ok().map(TextOrNumber::Number);
        Self::try_from(number.unwrap_or_else(|| TextOrNumber::Text(text.to_owned())))
    }
}

impl TryFrom<TextOrNumber> for Bytes {
    type Error = String;

    fn try_from(value: TextOrNumber) -> Result<Self, String> {
        let (bytes, text) = match value {
            TextOrNumber::Number(bytes) => (Some(bytes), bytes.to_string()),
            TextOrNumber::Text(text) => (with_unit(&text, SIZES), text),
        };
        let is_fine = |bytes: &f64| bytes.is_finite() && (0.0..=1e18).contains(bytes);
        bytes.filter(is_fine).map(|bytes| Self(bytes as u64)).ok_or_else(|| {
            format!("{text:?} is not a size; write it as \"500MB\", \"2GB\" or \"1TB\"")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_read_as_people_write_them() {
        for (text, seconds) in
            [("90s", 90.0), ("1.5 h", 5_400.0), ("7d", 604_800.0), ("250ms", 0.25), ("10", 10.0)]
        {
            assert_eq!(text.parse::<Seconds>(), Ok(Seconds(seconds)), "{text}");
        }
        for text in ["", "soon", "-1s", "1 fortnight", "NaNs", "inf"] {
            let error = text.parse::<Seconds>().unwrap_err();
            assert!(error.contains("\"90s\""), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_read_as_people_write_them() {
        let size = |text: &str| Bytes::try_from(TextOrNumber::Text(text.to_owned()));
        assert_eq!(size("2GB"), Ok(Bytes(2_000_000_000)));
        assert_eq!(size("1.5 MB"), Ok(Bytes(1_500_000)));
        assert!(size("2 gigs").unwrap_err().contains("\"2GB\""));
    }
}

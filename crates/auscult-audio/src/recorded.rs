//! When a recording was made.

use std::fmt;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use auscult_core::record::TimeOrigin;

use crate::{Location, Source};

/// When a recording was made, and how that is known. Shown as RFC 3339 in UTC, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RecordedAt {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: f64,
    /// How that is known.
    pub origin: TimeOrigin,
}

impl RecordedAt {
    /// The time this many seconds later.
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        Self { unix_seconds: self.unix_seconds + seconds, ..self }
    }
}

impl fmt::Display for RecordedAt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_second(self.unix_seconds.floor() as i64) {
            Ok(time) => time.fmt(formatter),
            Err(_) => write!(formatter, "{} s after 1970-01-01T00:00:00Z", self.unix_seconds),
        }
    }
}

impl Source {
    /// When the recording was made; of a part, when all of the recording began. The time in the manifest, else
    /// a date and time in the file's name, else the time the file was changed. `None` for live sound, and if
    /// there is no file.
    ///
    /// Times without an offset are taken as UTC. In names, dates look like `2024-05-03` or
    /// `20240503` and times like `14-22-10`, `14.22.10` or `142210`, one after the other with `T`,
    /// `_`, `-` or a space between; a date alone does not count, and neither does one before 1990
    /// or after 2100, which is rather a serial number.
    pub fn recorded_at(&self) -> Option<RecordedAt> {
        let path = self.location.path()?;
        // A manifest speaks of the part, a file of itself.
        let in_manifest = || {
            let time = self.time.as_deref().and_then(parse_time)?;
            match &self.location {
                Location::Part(_, part) => time.checked_sub(part.start).ok(),
                _ => Some(time),
            }
        };
        let changed = || Timestamp::try_from(fs::metadata(path).ok()?.modified().ok()?).ok();
        let (time, origin) = None
            .or_else(|| Some((in_manifest()?, TimeOrigin::Manifest)))
            .or_else(|| Some((time_in_name(path)?, TimeOrigin::FileName)))
            .or_else(|| Some((changed()?, TimeOrigin::FileTime)))?;
        Some(RecordedAt { unix_seconds: time.as_duration().as_secs_f64(), origin })
    }
}

/// Reads RFC 3339; without an offset it is UTC.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    // A date alone would be read as midnight, and the name of a time zone be ignored.
    let has_time = text.parse::<Time>().is_ok() && !text.contains('[');
    has_time.then(|| text.parse().ok().and_then(as_utc))?
}

fn as_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

/// How names write a time: 0 is a digit, T stands between date and time, - between their parts.
const FORMS: [&str; 3] = ["0000-00-00T00-00-00", "00000000T000000", "0000-00-00T000000"];

/// The first date and time in the name of a file.
fn time_in_name(path: &Path) -> Option<Timestamp> {
    let name = path.file_stem()?.to_str()?.as_bytes();
    let starts = (0..name.len()).filter(|&at| at == 0 || !name[at - 1].is_ascii_digit());
    starts.flat_map(|at| FORMS.map(|form| time_at(&name[at..], form))).flatten().next()
}

fn time_at(name: &[u8], form: &str) -> Option<Timestamp> {
    let (found, rest) = name.split_at_checked(form.len())?;
    let fits = |(&byte, part): (&u8, u8)| match part {
        b'0' => byte.is_ascii_digit(),
        b'T' => b"Tt_- ".contains(&byte),
        _ => b"-._:".contains(&byte),
    };
    if !found.iter().zip(form.bytes()).all(fits) || rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let digits: Vec<u8> = found.iter().copied().filter(u8::is_ascii_digit).collect();
    let time = strtime::parse("%Y%m%d%H%M%S", digits).ok()?.to_datetime().ok()?;
    if !(1990..=2100).contains(&time.year()) {
        return None;
    }
    match rest {
        [b'+', offset @ ..] => {
            let offset = std::str::from_utf8(offset.get(..4)?).ok()?;
            format!("{time}+{offset}").parse().ok()
        }
        _ => as_utc(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;

    fn in_name(name: &str) -> Option<String> {
        time_in_name(Path::new(name)).map(|time| time.to_string())
    }

    #[test]
    fn names_say_when_a_recording_was_made() {
        for name in [
            "2024-05-03_14-22-10.wav",
            "20240503T142210Z.wav",
            "20240503_142210.wav",
            "2024-05-03T14.22.10.wav",
            "2024-05-03 14-22-10 pump.wav",
            "pump_20240503-142210_1.flac",
            "day/2024-05-03T142210.wav",
            "20240503T162210+0200.wav",
            "5_2024-05-03_14-22-10.wav",
        ] {
            assert_eq!(in_name(name).as_deref(), Some("2024-05-03T14:22:10Z"), "{name}");
        }
    }

    #[test]
    fn names_without_a_time_and_calendar_nonsense_say_nothing() {
        for name in [
            "2024-05-03.wav",
            "20240503.wav",
            "2024-13-03_14-22-10.wav",
            "2024-02-30_14-22-10.wav",
            "20240503_252210.wav",
            "20240503_1422101.wav",
            "120240503_142210.wav",
            "10010203_112233.wav",
            "2024-05-03_14-22-10/0001.wav",
            "20240503T142210+99.wav",
            "",
        ] {
            assert_eq!(in_name(name), None, "{name}");
        }
    }

    #[test]
    fn times_of_manifests_are_rfc_3339_and_utc_unless_said() {
        let read = |text: &str| parse_time(text).map(|time| time.to_string());
        for text in ["2024-05-03T14:22:10Z", "2024-05-03T16:22:10+02:00", "2024-05-03 14:22:10"] {
            assert_eq!(read(text).as_deref(), Some("2024-05-03T14:22:10Z"), "{text}");
        }
        for text in [
            "2024-05-03",
            "2024-13-03T14:22:10Z",
            "noon",
            "14:22",
            "2024-05-03T14:22:10[Asia/Tokyo]",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_surest_origin_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("20240503_142210.wav");
        fs::write(&path, "").unwrap();
        let mut source = Source::new(Location::File(path));
        source.time = Some("1970-01-01T00:01:00.5Z".to_owned());
        let found = source.recorded_at().unwrap();
        assert_eq!((found.unix_seconds, found.origin), (60.5, TimeOrigin::Manifest));
        assert_eq!(found.to_string(), "1970-01-01T00:01:00Z");
        source.time = None;
        let found = source.recorded_at().unwrap();
        assert_eq!((found.unix_seconds, found.origin), (1_714_746_130.0, TimeOrigin::FileName));

        let plain = folder.path().join("a.wav");
        fs::write(&plain, "").unwrap();
        let changed = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_500);
        fs::File::options().write(true).open(&plain).unwrap().set_modified(changed).unwrap();
        let found = Source::new(Location::File(plain)).recorded_at().unwrap();
        assert_eq!((found.unix_seconds, found.origin), (1.5, TimeOrigin::FileTime));

        assert_eq!(Source::new(Location::StandardInput).recorded_at(), None);
        assert_eq!(Source::new(Location::File(folder.path().join("gone"))).recorded_at(), None);
    }

    #[test]
    fn times_beyond_the_calendar_are_shown_as_seconds() {
        let far = RecordedAt { unix_seconds: 1e30, origin: TimeOrigin::FileTime };
        assert!(far.to_string().ends_with(" s after 1970-01-01T00:00:00Z"));
        let before = RecordedAt { unix_seconds: -0.5, ..far };
        assert_eq!(before.to_string(), "1969-12-31T23:59:59Z");
    }
}

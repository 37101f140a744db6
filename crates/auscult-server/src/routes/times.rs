//! Times in queries.

use auscult_monitor::clock::parse_utc;

use crate::error::{Problem, Result};

/// The last second of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// A time of a query, in seconds since 1970.
pub(super) fn time(field: &'static str, text: Option<&str>) -> Result<Option<f64>> {
    let Some(text) = text else { return Ok(None) };
    let time = parse_utc(text).filter(|time| (0.0..=LATEST).contains(time));
    time.map(Some).ok_or_else(|| {
        let text: String = text.chars().take(80).collect();
        let detail = format!("{field} = {text:?} is not a time; write it as 2026-06-01T09:00:00Z");
        Problem::invalid(field, detail)
    })
}

/// Two times of a query, the first one before the second.
pub(super) fn span(from: Option<&str>, to: Option<&str>) -> Result<(Option<f64>, Option<f64>)> {
    let (from, to) = (time("from", from)?, time("to", to)?);
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        return Err(Problem::invalid("to", "to is not after from"));
    }
    Ok((from, to))
}

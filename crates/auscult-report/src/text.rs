//! Numbers, ranges and verdicts as the page shows them.

use std::ops::Range;

use auscult::{Verdict, View};
use auscult_page::{number, significant};

/// Shown where there is nothing to show.
pub(crate) const NOTHING: &str = "\u{2013}";

/// A number with four significant digits, or a dash.
pub(crate) fn optional_number(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), number)
}

/// How many times its normal distance a band is.
pub(crate) fn times(value: f64) -> String {
    if value.is_finite() && value >= 100.0 {
        format!("{}\u{d7}", significant(value, 3))
    } else if value.is_finite() {
        format!("{value:.1}\u{d7}")
    } else {
        significant(value, 3)
    }
}

/// A range of frequencies: `0.89-2.3 kHz`.
pub(crate) fn hertz(range: &Range<f64>) -> String {
    if range.end < 1000.0 {
        format!("{:.0}\u{2013}{:.0} Hz", range.start, range.end)
    } else {
        format!("{:.2}\u{2013}{:.2} kHz", range.start / 1000.0, range.end / 1000.0)
    }
}

/// The sign that stands for a verdict beside its word; none is shown by colour alone.
pub(crate) fn verdict_sign(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Normal) => "\u{25cf}",
        Some(Verdict::Anomalous) => "\u{25b2}",
        Some(_) => "\u{25c6}",
        None => "\u{2715}",
    }
}

/// The word for a verdict.
pub(crate) fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("not scored", Verdict::name)
}

/// The class for a verdict, in the style sheet.
pub(crate) fn verdict_class(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("unscored", Verdict::name)
}

/// What a view sees of a clip.
pub(crate) fn view_phrase(view: View) -> &'static str {
    match view {
        View::Mean => "on average over the clip",
        View::Max => "at its loudest",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_in_the_unit_of_their_end() {
        assert_eq!(hertz(&(0.0..893.4)), "0\u{2013}893 Hz");
        assert_eq!(hertz(&(893.4..8000.0)), "0.89\u{2013}8.00 kHz");
    }
}

//! Strings as a page shows them: escaped, and numbers with as many digits as matter.

use std::{
    fmt::{self, Write},
    ops::Range,
};

use auscult_core::{Verdict, View};

/// Text that is safe between tags and inside quoted attributes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => formatter.write_str("&amp;")?,
                '<' => formatter.write_str("&lt;")?,
                '>' => formatter.write_str("&gt;")?,
                '"' => formatter.write_str("&quot;")?,
                '\'' => formatter.write_str("&#39;")?,
                // File names may hold anything; control characters are not allowed in HTML.
                control if control.is_control() => formatter.write_char('\u{fffd}')?,
                other => formatter.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// Shown where there is nothing to show.
pub(crate) const NOTHING: &str = "\u{2013}";

/// A number with four significant digits.
pub(crate) fn number(value: f64) -> String {
    significant(value, 4)
}

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

/// A number with so many significant digits: `0.001234`, `12.34`, `1.234e-5`.
pub(crate) fn significant(value: f64, digits: u8) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "infinite" } else { "minus infinite" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // The exponent after rounding: 9.9996 has four digits as 10.00.
    let scientific = format!("{value:.*e}", usize::from(digits) - 1);
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = usize::try_from(i32::from(digits) - 1 - exponent).unwrap_or(0);
        format!("{value:.decimals$}")
    } else {
        scientific
    }
}

/// A number on an axis: no zeros at the end.
pub(crate) fn tick(value: f64) -> String {
    let text = significant(value, 4);
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trim_zeros(digits)),
        None => trim_zeros(&text).to_owned(),
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A range of frequencies: `0.89-2.3 kHz`.
pub(crate) fn hertz(range: &Range<f64>) -> String {
    if range.end < 1000.0 {
        format!("{:.0}\u{2013}{:.0} Hz", range.start, range.end)
    } else {
        format!("{:.2}\u{2013}{:.2} kHz", range.start / 1000.0, range.end / 1000.0)
    }
}

/// A count with its noun: `1 clip`, `3 clips`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The sign that stands for a verdict beside its word; none is told by colour alone.
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

/// A view in words.
pub(crate) fn view_words(view: View) -> &'static str {
    match view {
        View::Mean => "on average over the clip",
        View::Max => "at its loudest",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_label_is_text() {
        let escaped = Escaped("<script>alert('a&b')</script>\"\n").to_string();
        assert_eq!(escaped, "&lt;script&gt;alert(&#39;a&amp;b&#39;)&lt;/script&gt;&quot;\u{fffd}");
    }

    #[test]
    fn numbers_have_four_significant_digits() {
        let shown =
            [0.0, 1.0, 9.9996, 12.3456, 123_456.0, 0.001_234_56, 1.2345e-5, -2.0].map(number);
        assert_eq!(
            shown,
            ["0", "1.000", "10.00", "12.35", "123456", "0.001235", "1.234e-5", "-2.000"]
        );
        assert_eq!(number(f64::NAN), "not a number");
        assert_eq!(number(f64::INFINITY), "infinite");
    }

    #[test]
    fn ticks_are_short() {
        let shown = [0.0, 0.5, 2.0, 10.0, 1e-5, 2.5e-6].map(tick);
        assert_eq!(shown, ["0", "0.5", "2", "10", "1e-5", "2.5e-6"]);
    }

    #[test]
    fn ranges_and_counts_read_as_words() {
        assert_eq!(hertz(&(0.0..893.4)), "0\u{2013}893 Hz");
        assert_eq!(hertz(&(893.4..8000.0)), "0.89\u{2013}8.00 kHz");
        assert_eq!([counted(1, "clip"), counted(2, "clip")], ["1 clip", "2 clips"]);
    }
}

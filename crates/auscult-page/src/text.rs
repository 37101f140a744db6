//! Strings as a page shows them: escaped, and numbers with as many digits as matter.

use std::fmt::{self, Write};

/// Text that is safe between tags and inside quoted attributes.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

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

/// A number with four significant digits.
pub fn number(value: f64) -> String {
    significant(value, 4)
}

/// A number with this many significant digits, at least one: `0.001234`, `12.34`, `1.234e-5`.
pub fn significant(value: f64, digits: u8) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "infinite" } else { "minus infinite" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let after_first = digits.saturating_sub(1);
    // The exponent after rounding: 9.9996 has four digits as 10.00.
    let scientific = format!("{value:.*e}", usize::from(after_first));
    let exponent: i32 =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if (-3..6).contains(&exponent) {
        let decimals = usize::try_from(i32::from(after_first) - exponent).unwrap_or(0);
        format!("{value:.decimals$}")
    } else {
        scientific
    }
}

/// A number on an axis: four significant digits, no zeros at the end.
pub fn tick(value: f64) -> String {
    let text = number(value);
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trim_zeros(digits)),
        None => trim_zeros(&text).to_owned(),
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
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
        assert_eq!(significant(12.3, 0), "12");
    }

    #[test]
    fn ticks_are_short() {
        let shown = [0.0, 0.5, 2.0, 10.0, 1e-5, 2.5e-6].map(tick);
        assert_eq!(shown, ["0", "0.5", "2", "10", "1e-5", "2.5e-6"]);
    }
}

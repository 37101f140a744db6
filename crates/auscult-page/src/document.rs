//! The document around a page.

use std::fmt::{self, Write};

use crate::Escaped;

/// The style of every page: light, dark and on paper. Charts use its first part.
pub const STYLE: &str = concat!(include_str!("chart.css"), include_str!("document.css"));

/// A page cannot load anything, and no script runs in it but its own, whatever a file is called.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:";

/// One HTML document that needs nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The title of the window.
    pub title: &'a str,
    /// Style of this page alone, after [`STYLE`]. It is not escaped.
    pub style: &'a str,
    /// The one script that may run in it.
    pub script: Option<Script<'a>>,
}

/// A script inside a page, at its end.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Its text. It is not escaped.
    pub source: &'a str,
    /// The SHA-256 of the text in Base64: a browser runs this script and no other.
    pub sha256: &'a str,
}

impl Document<'_> {
    /// Writes everything up to the start of the body.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn open(&self, out: &mut impl Write) -> fmt::Result {
        let script = self.script.map(|script| format!("; script-src 'sha256-{}'", script.sha256));
        let script = script.unwrap_or_default();
        writeln!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}{script}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>",
            Escaped(self.title),
            self.style
        )
    }

    /// Writes the end.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn close(&self, out: &mut impl Write) -> fmt::Result {
        if let Some(script) = self.script {
            writeln!(out, "<script>{}</script>", script.source)?;
        }
        out.write_str("</body>\n</html>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ink and paper that must be distinguishable: at 4.5 for text and 3 for shapes (WCAG 2.2,
    /// success criteria 1.4.3 and 1.4.11).
    #[test]
    fn colours_have_enough_contrast_in_light_and_dark() {
        let (light, dark) = STYLE.split_once("prefers-color-scheme: dark").unwrap();
        for sheet in [light, dark] {
            for ink in ["ink", "quiet", "link"] {
                assert!(contrast(sheet, ink, "paper") >= 4.5, "{ink}");
                assert!(contrast(sheet, ink, "raised") >= 4.5, "{ink}");
            }
            for series in 0..8 {
                assert!(contrast(sheet, &format!("series-{series}"), "paper") >= 3.0, "{series}");
            }
        }
    }

    fn contrast(sheet: &str, ink: &str, paper: &str) -> f64 {
        let [a, b] = [luminance(sheet, ink), luminance(sheet, paper)];
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Relative luminance of a colour of the style sheet, as WCAG defines it.
    fn luminance(sheet: &str, name: &str) -> f64 {
        let (_, after) = sheet.split_once(&format!("--{name}: #")).unwrap();
        let channel = |at: usize| {
            let share = f64::from(u8::from_str_radix(&after[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
    }
}

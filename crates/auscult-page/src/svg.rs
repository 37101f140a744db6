//! SVG, drawn by hand: shapes that take their colours from the style sheet, and the pictures
//! around them, each with a title for those who cannot see it.
//!
//! Places are (x, y) in pixels from the left upper corner. Everything writes to a
//! [`std::fmt::Formatter`] or a [`String`] and fails only where that does.

use std::fmt::{self, Arguments, Write};

use crate::Escaped;

/// A picture inside a page: the start of its `svg` element.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Unique on the page.
    pub id: &'a str,
    /// `img`, or `group` when there are links inside.
    pub role: &'a str,
    /// Width and height.
    pub size: (f64, f64),
    /// What it shows.
    pub title: &'a str,
    /// The text alternative.
    pub details: &'a str,
}

impl Picture<'_> {
    /// Writes the start tag and the text alternative; [`close`] ends it.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn open(&self, out: &mut impl Write) -> fmt::Result {
        let Self { id, role, size: (width, height), title, details } = self;
        writeln!(
            out,
            "<svg viewBox=\"0 0 {width} {height}\" role=\"{role}\" \
             aria-labelledby=\"{id}-title {id}-details\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-details\">{}</desc>",
            Escaped(title),
            Escaped(details),
        )
    }
}

/// Writes the start of a picture that is a file of its own and brings its style along.
///
/// # Errors
///
/// Where `out` fails.
pub fn open_file(out: &mut impl Write, title: &str, (width, height): (f64, f64)) -> fmt::Result {
    let style = include_str!("chart.css");
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"system-ui, sans-serif\">\n\
         <style>\n{style}</style>\n<title>{}</title>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>",
        Escaped(title)
    )
}

/// Writes the end of a picture.
///
/// # Errors
///
/// Where `out` fails.
pub fn close(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "</svg>")
}

/// Writes a line.
///
/// # Errors
///
/// Where `out` fails.
pub fn line(out: &mut impl Write, class: &str, from: (f64, f64), to: (f64, f64)) -> fmt::Result {
    let places = format_args!(
        "x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"",
        from.0, from.1, to.0, to.1
    );
    shape(out, "line", class, places, "")
}

/// Writes text whose baseline starts, is centred or ends at a point, by the classes `start`,
/// `middle` and `end`.
///
/// # Errors
///
/// Where `out` fails.
pub fn text(out: &mut impl Write, class: &str, (x, y): (f64, f64), text: &str) -> fmt::Result {
    writeln!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", Escaped(text))
}

/// Writes the name of an upright axis, from bottom to top around a point.
///
/// # Errors
///
/// Where `out` fails.
pub fn upright_name(out: &mut impl Write, (x, y): (f64, f64), name: &str) -> fmt::Result {
    writeln!(
        out,
        "<text class=\"name middle\" transform=\"translate({x} {y:.1}) rotate(-90)\">{}</text>",
        Escaped(name)
    )
}

/// Writes a curve through points.
///
/// # Errors
///
/// Where `out` fails.
pub fn polyline(
    out: &mut impl Write,
    class: &str,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> fmt::Result {
    let points: Vec<String> = points.into_iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    shape(out, "polyline", class, format_args!("points=\"{}\"", points.join(" ")), "")
}

/// Writes any other shape by its element and attributes; the title, unless it is empty, is shown
/// to who points at it.
///
/// # Errors
///
/// Where `out` fails.
pub fn shape(
    out: &mut impl Write,
    element: &str,
    class: &str,
    attributes: Arguments<'_>,
    title: &str,
) -> fmt::Result {
    write!(out, "<{element} class=\"{class}\" {attributes}")?;
    if title.is_empty() {
        writeln!(out, "/>")
    } else {
        writeln!(out, "><title>{}</title></{element}>", Escaped(title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_closed_and_their_titles_escaped() {
        let mut svg = String::new();
        polyline(&mut svg, "s0", [(0.0, 1.0), (2.25, 3.0)]).unwrap();
        shape(&mut svg, "circle", "mark", format_args!("r=\"4\""), "a < b").unwrap();
        assert_eq!(
            svg,
            "<polyline class=\"s0\" points=\"0.0,1.0 2.2,3.0\"/>\n\
             <circle class=\"mark\" r=\"4\"><title>a &lt; b</title></circle>\n"
        );
    }

    #[test]
    fn a_file_has_its_own_style_and_paper() {
        let mut svg = String::new();
        open_file(&mut svg, "a & b", (10.0, 20.0)).unwrap();
        close(&mut svg).unwrap();
        assert!(svg.contains("--paper: ") && svg.contains("<title>a &amp; b</title>"), "{svg}");
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    }
}

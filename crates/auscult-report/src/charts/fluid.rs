//! Pictures as wide as their page, on a phone and on a desk: places across are shares of the width, places down and letters
//! are pixels. So nothing is scaled, and no text grows too small to read.

use std::fmt::{self, Arguments, Display, Formatter, Write};

use auscult_page::{
    Escaped,
    svg::{self, shape},
};

/// A picture with a scale at its left side, of a fixed width, and a plot beside it.
pub(super) struct Fluid<'a> {
    /// Unique on the page.
    pub(super) id: &'a str,
    /// What it shows.
    pub(super) title: &'a str,
    /// The text alternative.
    pub(super) details: &'a str,
    pub(super) height: f64,
    /// The class that says how wide the scale is.
    pub(super) class: &'a str,
}

impl Fluid<'_> {
    /// Writes the scale, which is told apart for nobody's ears, and opens the plot; [`close`] ends it.
    pub(super) fn open(&self, out: &mut Formatter<'_>, scale: &dyn Display) -> fmt::Result {
        let Self { id, title, details, height, class } = self;
        write!(
            out,
            "<div class=\"plot {class}\">\n<svg class=\"scale\" style=\"height:{height}px\" aria-hidden=\"true\">\n{scale}</svg>\n\
             <svg class=\"area\" style=\"height:{height}px\" role=\"group\" aria-labelledby=\"{id}-title {id}-details\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-details\">{}</desc>\n",
            Escaped(title),
            Escaped(details)
        )
    }
}

pub(super) fn close(out: &mut Formatter<'_>) -> fmt::Result {
    svg::close(out)?;
    writeln!(out, "</div>")
}

/// A share of the width as the picture has it.
pub(super) fn across(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// Writes a line; x is a share of the width.
pub(super) fn line(
    out: &mut impl Write,
    class: &str,
    from: (f64, f64),
    to: (f64, f64),
) -> fmt::Result {
    let places = format_args!(
        "x1=\"{}\" y1=\"{:.1}\" x2=\"{}\" y2=\"{:.1}\"",
        across(from.0),
        from.1,
        across(to.0),
        to.1
    );
    shape(out, "line", class, places, "")
}

/// Writes text; x is a share of the width, and it is moved by pixels.
pub(super) fn text(
    out: &mut impl Write,
    class: &str,
    (x, y): (f64, f64),
    moved: f64,
    text: &str,
) -> fmt::Result {
    let x = across(x);
    let moved = if moved == 0.0 { String::new() } else { format!(" dx=\"{moved}\"") };
    writeln!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y:.1}\"{moved}>{}</text>", Escaped(text))
}

/// Writes a rectangle; x and width are shares of the width.
pub(super) fn rect(
    out: &mut impl Write,
    class: &str,
    (x, width): (f64, f64),
    (y, height): (f64, f64),
    title: &str,
) -> fmt::Result {
    let place: Arguments<'_> = format_args!(
        "x=\"{}\" y=\"{y:.1}\" width=\"{}\" height=\"{:.1}\"",
        across(x),
        across(width.max(0.0)),
        height.max(0.0)
    );
    shape(out, "rect", class, place, title)
}

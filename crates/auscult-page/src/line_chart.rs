//! Curves over one axis.

use std::fmt::{self, Write};

use crate::{
    Scale, Spacing,
    svg::{self, Picture, polyline, shape, text},
    tick,
};

/// Curves over one axis, with their names below.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// What it shows.
    pub title: String,
    /// What lies along the axis.
    pub x_name: String,
    /// What the curves are.
    pub y_name: String,
    /// How values lie along the axis.
    pub x_spacing: Spacing,
    /// Names and points, ascending in x.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
    /// Horizontal lines to compare with; one beside each curve has that curve's colour.
    pub levels: Vec<(String, f64)>,
}

const WIDTH: f64 = 400.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 392.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 240.0;
/// The names of curves are below the plot, one a line.
const LEGEND: f64 = BOTTOM + 58.0;
const LEGEND_STEP: f64 = 18.0;
/// The smallest distance between two labels of the axis.
const LABEL_SPACE: f64 = 30.0;

/// How many colours the style sheet has.
const COLOURS: usize = 8;
/// How many dash patterns it has; with each the colours begin again.
const DASHES: usize = 3;

/// The colour and dashes of a curve: no two of the first 24 look alike.
fn look(index: usize) -> (usize, usize) {
    (index % COLOURS, index / COLOURS % DASHES)
}

impl LineChart {
    /// The chart as a `figure`; empty without finite points. The identifier is unique on the page.
    pub fn render(&self, id: &str) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut out, id);
        out
    }

    fn write(&self, out: &mut String, id: &str) -> fmt::Result {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let levels = self.levels.iter().map(|(_, level)| *level);
        let x_range = range(points().map(|point| point.0));
        let y_range = range(points().map(|point| point.1).chain(levels));
        let (Some(x_range), Some(y_range)) = (x_range, y_range) else { return Ok(()) };
        let y_range = with_margin(y_range);
        let x = self.x_scale(x_range);
        let y = Scale::linear(y_range, (BOTTOM, TOP));
        self.open(out, id, y_range)?;
        for value in y.ticks(5) {
            let at = y.place(value);
            svg::line(out, "grid", (LEFT, at), (RIGHT, at))?;
            text(out, "tick end", (LEFT - 6.0, at + 4.0), &tick(value))?;
        }
        self.write_axis(out, &x)?;
        self.write_levels(out, &y)?;
        self.write_curves(out, &x, &y)?;
        svg::close(out)?;
        writeln!(out, "</figure>")
    }

    /// The axis; a single value is in its middle.
    fn x_scale(&self, (low, high): (f64, f64)) -> Scale {
        let values = match self.x_spacing {
            _ if high > low => (low, high),
            Spacing::Linear => (low - 1.0, high + 1.0),
            Spacing::Logarithmic => (low / 2.0, high * 2.0),
        };
        Scale::new(self.x_spacing, values, (LEFT + 10.0, RIGHT - 10.0))
    }

    fn open(&self, out: &mut String, id: &str, (low, high): (f64, f64)) -> fmt::Result {
        let names: Vec<&str> = self.series.iter().map(|(name, _)| name.as_str()).collect();
        let details = format!(
            "{} against {}, from {} to {}, for {}",
            self.y_name,
            self.x_name,
            tick(low),
            tick(high),
            names.join(", ")
        );
        let height = LEGEND + LEGEND_STEP * (self.series.len() + self.levels.len()) as f64;
        out.push_str("<figure>\n");
        Picture { id, role: "img", size: (WIDTH, height), title: &self.title, details: &details }
            .open(out)?;
        text(out, "panel-name", (4.0, 14.0), &self.title)?;
        text(out, "name", (4.0, 34.0), &self.y_name)
    }

    /// The axis, its name, and as many of the values as there is room for.
    fn write_axis(&self, out: &mut String, x: &Scale) -> fmt::Result {
        let points = self.series.iter().flat_map(|(_, points)| points.iter());
        let mut values: Vec<f64> = points.map(|point| point.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut last = f64::NEG_INFINITY;
        for value in values {
            let at = x.place(value);
            if at - last >= LABEL_SPACE {
                last = at;
                text(out, "tick middle", (at, BOTTOM + 18.0), &tick(value))?;
            }
        }
        svg::line(out, "axis", (LEFT, BOTTOM), (RIGHT, BOTTOM))?;
        text(out, "name middle", (f64::midpoint(LEFT, RIGHT), BOTTOM + 36.0), &self.x_name)
    }

    fn write_levels(&self, out: &mut String, y: &Scale) -> fmt::Result {
        for (index, (name, level)) in self.levels.iter().enumerate() {
            let (at, legend) = (y.place(*level), legend_at(self.series.len() + index));
            let class = format!("level s{}", index % COLOURS);
            let places = format_args!("x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"");
            shape(out, "line", &class, places, &format!("{name}: {}", tick(*level)))?;
            svg::line(out, &class, (LEFT, legend), (LEFT + 20.0, legend))?;
            write_name(out, legend, name)?;
        }
        Ok(())
    }

    fn write_curves(&self, out: &mut String, x: &Scale, y: &Scale) -> fmt::Result {
        for (index, (name, points)) in self.series.iter().enumerate() {
            let (colour, dash) = look(index);
            let class = format!("s{colour} d{dash}");
            let at = |point: &(f64, f64)| (x.place(point.0), y.place(point.1));
            polyline(out, &class, points.iter().map(at))?;
            for point in points {
                let title = format!("{name}: {} at {}", tick(point.1), tick(point.0));
                write_mark(out, look(index), at(point), &title)?;
            }
            let legend = legend_at(index);
            polyline(out, &class, [(LEFT - 6.0, legend), (LEFT + 21.0, legend)])?;
            write_mark(out, look(index), (LEFT + 7.5, legend), name)?;
            write_name(out, legend, name)?;
        }
        Ok(())
    }
}

fn legend_at(index: usize) -> f64 {
    LEGEND + LEGEND_STEP * index as f64
}

fn write_name(out: &mut String, at: f64, name: &str) -> fmt::Result {
    text(out, "name", (LEFT + 26.0, at + 4.0), name)
}

/// Shapes change with the colours, and marks of dashed curves are hollow, so that nobody has to
/// tell curves apart by colour alone.
fn write_mark(
    out: &mut String,
    (colour, dash): (usize, usize),
    (x, y): (f64, f64),
    title: &str,
) -> fmt::Result {
    let hollow = if dash == 0 { "" } else { " hollow" };
    let class = format!("mark s{colour}{hollow}");
    let mut write = |element, attributes| shape(out, element, &class, attributes, title);
    match colour % 4 {
        0 => write("circle", format_args!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"")),
        1 => write(
            "rect",
            format_args!("x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"", x - 4.0, y - 4.0),
        ),
        2 => write("path", format_args!("d=\"M{x:.1} {:.1}l5 9h-10z\"", y - 5.0)),
        _ => write("path", format_args!("d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"", y - 5.0)),
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| {
        let (low, high): (f64, f64) = range.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// A little room above and below; equal values are in the middle.
fn with_margin((low, high): (f64, f64)) -> (f64, f64) {
    let margin = if high > low { 0.05 * (high - low) } else { 0.5 };
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(x_spacing: Spacing, series: Vec<(String, Vec<(f64, f64)>)>) -> LineChart {
        LineChart {
            title: "<t>".to_owned(),
            x_name: "x".to_owned(),
            y_name: "y".to_owned(),
            x_spacing,
            series,
            levels: vec![("level".to_owned(), 1.0)],
        }
    }

    #[test]
    fn odd_values_are_drawn_all_the_same() {
        let render = |spacing, points: Vec<(f64, f64)>| {
            chart(spacing, vec![("a & b".to_owned(), points)]).render("a")
        };
        for spacing in [Spacing::Linear, Spacing::Logarithmic] {
            assert_eq!(render(spacing, Vec::new()), "");
            assert_eq!(render(spacing, vec![(f64::NAN, 1.0)]), "");
            let odd = vec![(-1.0, 2.0), (0.0, 2.0), (f64::INFINITY, f64::NAN), (1e300, -1e300)];
            for points in [vec![(1.0, 2.0)], vec![(1.0, 0.0), (2.0, 1e-9)], odd] {
                let svg = render(spacing, points);
                assert!(svg.contains("&lt;t&gt;") && svg.contains("polyline"), "{svg}");
                assert!(
                    !svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("inf,"),
                    "{svg}"
                );
            }
        }
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let render = |spacing| {
            let points = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|k| (k, k)).to_vec();
            chart(spacing, vec![("a".to_owned(), points)]).render("a")
        };
        let has = |svg: &str, label: &str| {
            svg.contains(&format!("y=\"{:.1}\">{label}</text>", BOTTOM + 18.0))
        };
        let svg = render(Spacing::Logarithmic);
        assert!(["1", "2", "4", "8", "16", "32"].iter().all(|label| has(&svg, label)), "{svg}");
        let svg = render(Spacing::Linear);
        assert!(has(&svg, "1") && !has(&svg, "2") && has(&svg, "32"), "{svg}");
    }

    #[test]
    fn no_two_of_twelve_curves_look_alike() {
        let series = |at: usize| (format!("curve {at}"), vec![(1.0, at as f64), (2.0, 0.0)]);
        let svg = chart(Spacing::Linear, (0..12).map(series).collect()).render("a");
        let looks: std::collections::BTreeSet<&str> = svg
            .split("<polyline class=\"")
            .skip(1)
            .filter_map(|part| part.split('"').next())
            .collect();
        assert_eq!(looks.len(), 12, "{looks:?}");
    }
}

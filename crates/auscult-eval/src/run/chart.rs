//! Line charts as SVG, drawn by hand.

use std::fmt::Write;

/// Curves over one axis.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x_name: String,
    pub(super) y_name: String,
    pub(super) x_scale: Scale,
    /// Names and points, ascending in x.
    pub(super) series: Vec<(String, Vec<(f64, f64)>)>,
    /// Horizontal lines to compare with; one beside each curve has that curve's colour.
    pub(super) levels: Vec<(String, f64)>,
}

/// How values lie along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// Equal steps are equal ratios; for values above 0.
    Logarithmic,
}

impl Scale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        }
    }
}

const WIDTH: f64 = 400.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 392.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 240.0;
/// The names of curves stand below the plot, one a line.
const LEGEND: f64 = BOTTOM + 58.0;
const LEGEND_STEP: f64 = 18.0;
/// Labels of the axis are at least so far apart.
const LABEL_SPACE: f64 = 30.0;

/// So many colours the style sheet has.
const COLOURS: usize = 8;
/// So many dash patterns it has; with each the colours begin again.
const DASHES: usize = 3;

/// The classes of a curve: no two of the first 24 look alike.
fn style(index: usize) -> (usize, usize) {
    (index % COLOURS, index / COLOURS % DASHES)
}

impl Chart {
    /// The chart as an `svg` element; empty without points.
    pub(super) fn render(&self, id: &str) -> String {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let levels = self.levels.iter().map(|(_, level)| *level);
        let scale = self.x_scale;
        let Some((x_low, x_high)) = range(points().map(|point| scale.place(point.0))) else {
            return String::new();
        };
        let Some((y_low, y_high)) = range(points().map(|point| point.1).chain(levels)) else {
            return String::new();
        };
        let margin = ((y_high - y_low) * 0.05).max(1e-9 * y_high.abs()).max(f64::MIN_POSITIVE);
        let (y_low, y_high) = (y_low - margin, y_high + margin);
        let x = |value: f64| {
            let value = scale.place(value);
            let share = if x_high > x_low { (value - x_low) / (x_high - x_low) } else { 0.5 };
            LEFT + 10.0 + share * (RIGHT - LEFT - 20.0)
        };
        let y = |value: f64| BOTTOM - (value - y_low) / (y_high - y_low) * (BOTTOM - TOP);
        let mut out = String::new();
        self.head(&mut out, id, (y_low, y_high));
        grid(&mut out, (y_low, y_high), y);
        self.x_labels(&mut out, x);
        self.curves(&mut out, x, y);
        out.push_str("</svg></figure>\n");
        out
    }

    fn head(&self, out: &mut String, id: &str, (y_low, y_high): (f64, f64)) {
        let title = escape(&self.title);
        let names: Vec<&str> = self.series.iter().map(|(name, _)| name.as_str()).collect();
        let details = format!(
            "{} against {}, from {} to {}, for {}",
            self.y_name,
            self.x_name,
            number(y_low),
            number(y_high),
            names.join(", ")
        );
        let height = LEGEND + LEGEND_STEP * (self.series.len() + self.levels.len()) as f64;
        let _ = writeln!(
            out,
            "<figure><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{}</desc>\
             <text class=\"head\" x=\"4\" y=\"14\">{title}</text>\
             <text class=\"tick\" x=\"4\" y=\"34\">{}</text>",
            escape(&details),
            escape(&self.y_name)
        );
    }

    /// The axis, its name, and as many of the values as there is room for.
    fn x_labels(&self, out: &mut String, x: impl Fn(f64) -> f64) {
        let points = self.series.iter().flat_map(|(_, points)| points.iter());
        let mut values: Vec<f64> = points.map(|point| point.0).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut last = f64::NEG_INFINITY;
        for (value, at) in values.into_iter().map(|value| (value, x(value))) {
            if at - last < LABEL_SPACE {
                continue;
            }
            last = at;
            let _ = writeln!(
                out,
                "<text class=\"tick middle\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
                BOTTOM + 18.0,
                number(value)
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>\
             <text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 36.0,
            escape(&self.x_name)
        );
    }

    /// Curves and lines, each with its name below.
    fn curves(&self, out: &mut String, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
        let line = |at: usize| LEGEND + LEGEND_STEP * at as f64;
        let name_at = |out: &mut String, at: f64, name: &str| {
            let _ = writeln!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                LEFT + 26.0,
                at + 4.0
            );
        };
        for (index, (name, level)) in self.levels.iter().enumerate() {
            let (at, style, legend) = (y(*level), index % COLOURS, line(self.series.len() + index));
            let name = escape(name);
            let _ = writeln!(
                out,
                "<line class=\"level s{style}\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" \
                 y2=\"{at:.1}\"><title>{name}: {}</title></line>\
                 <line class=\"level s{style}\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{legend:.1}\" \
                 y2=\"{legend:.1}\"/>",
                number(*level),
                LEFT + 20.0,
            );
            name_at(out, legend, &name);
        }
        for (index, (name, points)) in self.series.iter().enumerate() {
            let (colour, dash) = style(index);
            let path: Vec<String> =
                points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
            let _ = writeln!(
                out,
                "<polyline class=\"s{colour} d{dash}\" points=\"{}\"/>",
                path.join(" ")
            );
            for point in points {
                let at = (x(point.0), y(point.1));
                let words = format!("{name}: {} at {}", number(point.1), number(point.0));
                let _ = writeln!(out, "{}", mark((colour, dash), at, &escape(&words)));
            }
            let (at, name) = (line(index), escape(name));
            let _ = writeln!(
                out,
                "<polyline class=\"s{colour} d{dash}\" points=\"{:.1},{at:.1} {:.1},{at:.1}\"/>{}",
                LEFT - 6.0,
                LEFT + 21.0,
                mark((colour, dash), (LEFT + 7.5, at), &name)
            );
            name_at(out, at, &name);
        }
    }
}

fn grid(out: &mut String, (y_low, y_high): (f64, f64), y: impl Fn(f64) -> f64) {
    for tick in ticks(y_low, y_high) {
        let at = y(tick);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            at + 4.0,
            number(tick)
        );
    }
}

/// Shapes change with the colours, and marks of dashed curves are hollow, so that curves are not told
/// by colour alone.
fn mark((colour, dash): (usize, usize), (x, y): (f64, f64), title: &str) -> String {
    let shape = match colour % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"", x - 4.0, y - 4.0),
        2 => format!("<path d=\"M{x:.1} {:.1}l5 9h-10z\"", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"", y - 5.0),
    };
    let name = shape[1..].split(' ').next().unwrap_or("path").to_owned();
    let hollow = if dash == 0 { "" } else { " hollow" };
    format!("{shape} class=\"mark s{colour}{hollow}\"><title>{title}</title></{name}>")
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).fold(None, |range, value| {
        let (low, high): (f64, f64) = range.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// Round numbers between two values, five or so.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return Vec::new() };
    let first = (low / step).ceil() as i64;
    (0..20).map(|index| (first + index) as f64 * step).take_while(|tick| *tick <= high).collect()
}

fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.abs() < 1e-3 {
        format!("{value:.1e}")
    } else {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Text that cannot be markup.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_values_are_drawn_all_the_same() {
        let chart = |points: Vec<(f64, f64)>| Chart {
            title: "<t>".to_owned(),
            x_name: "x".to_owned(),
            y_name: "y".to_owned(),
            x_scale: Scale::Linear,
            series: vec![("a & b".to_owned(), points)],
            levels: Vec::new(),
        };
        assert_eq!(chart(Vec::new()).render("a"), "");
        let one = chart(vec![(1.0, 2.0)]).render("a");
        assert!(one.contains("&lt;t&gt;") && !one.contains("NaN") && !one.contains("inf"), "{one}");
        assert!(chart(vec![(1.0, 0.0), (2.0, 1e-9)]).render("a").contains("polyline"));
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let chart = |x_scale| Chart {
            title: "t".to_owned(),
            x_name: "K".to_owned(),
            y_name: "y".to_owned(),
            x_scale,
            series: vec![(
                "a".to_owned(),
                [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|k| (k, k)).to_vec(),
            )],
            levels: Vec::new(),
        };
        let has = |svg: &str, label: &str| svg.contains(&format!(">{label}</text>"));
        let svg = chart(Scale::Logarithmic).render("a");
        assert!(["1", "2", "4", "8", "16", "32"].iter().all(|label| has(&svg, label)), "{svg}");
        let svg = chart(Scale::Linear).render("a");
        assert!(has(&svg, "1") && !has(&svg, "2") && has(&svg, "32"), "{svg}");
    }

    #[test]
    fn no_two_of_twelve_curves_look_alike() {
        let series = |at: usize| (format!("curve {at}"), vec![(1.0, at as f64), (2.0, 0.0)]);
        let chart = Chart {
            title: "t".to_owned(),
            x_name: "x".to_owned(),
            y_name: "y".to_owned(),
            x_scale: Scale::Linear,
            series: (0..12).map(series).collect(),
            levels: Vec::new(),
        };
        let svg = chart.render("a");
        let styles: std::collections::BTreeSet<&str> = svg
            .split("<polyline class=\"")
            .skip(1)
            .filter_map(|part| part.split('"').next())
            .collect();
        assert_eq!(styles.len(), 12, "{styles:?}");
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.2, 0.4, 3.0 * 0.2, 0.8, 1.0]);
        assert_eq!(ticks(1.0, 1.0), Vec::<f64>::new());
    }
}

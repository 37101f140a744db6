//! Line charts as SVG, drawn by hand.

use std::fmt::Write;

/// Curves over one axis.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x_name: String,
    pub(super) y_name: String,
    /// Names and points, ascending in x.
    pub(super) series: Vec<(String, Vec<(f64, f64)>)>,
    /// Horizontal lines to compare with.
    pub(super) levels: Vec<(String, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 440.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 290.0;

/// So many colours and marks the style sheet has.
const STYLES: usize = 8;

impl Chart {
    /// The chart as an `svg` element; empty without points.
    pub(super) fn render(&self, id: &str) -> String {
        let points = || self.series.iter().flat_map(|(_, points)| points.iter().copied());
        let levels = self.levels.iter().map(|(_, level)| *level);
        let Some((x_low, x_high)) = range(points().map(|point| point.0)) else {
            return String::new();
        };
        let Some((y_low, y_high)) = range(points().map(|point| point.1).chain(levels)) else {
            return String::new();
        };
        let margin = ((y_high - y_low) * 0.05).max(1e-9 * y_high.abs()).max(f64::MIN_POSITIVE);
        let (y_low, y_high) = (y_low - margin, y_high + margin);
        let x = |value: f64| {
            let share = if x_high > x_low { (value - x_low) / (x_high - x_low) } else { 0.5 };
            LEFT + 10.0 + share * (RIGHT - LEFT - 20.0)
        };
        let y = |value: f64| BOTTOM - (value - y_low) / (y_high - y_low) * (BOTTOM - TOP);
        let mut out = String::new();
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
        let _ = writeln!(
            out,
            "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{}</desc>\
             <text class=\"head\" x=\"{LEFT}\" y=\"18\">{title}</text>",
            escape(&details)
        );
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
        let mut xs: Vec<f64> = points().map(|point| point.0).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let every = xs.len().div_ceil(10);
        for value in xs.iter().step_by(every.max(1)) {
            let _ = writeln!(
                out,
                "<text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x(*value),
                BOTTOM + 18.0,
                number(*value)
            );
        }
        let _ = writeln!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>\
             <text class=\"tick middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"tick\" x=\"4\" y=\"{:.1}\">{}</text>",
            f64::midpoint(LEFT, RIGHT),
            BOTTOM + 38.0,
            escape(&self.x_name),
            TOP - 10.0,
            escape(&self.y_name)
        );
        for (index, (name, level)) in self.levels.iter().enumerate() {
            let (at, style) = (y(*level), index % STYLES);
            let legend = TOP + 18.0 * (self.series.len() + index) as f64;
            let _ = writeln!(
                out,
                "<line class=\"level s{style}\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" \
                 y2=\"{at:.1}\"><title>{name}: {}</title></line>\
                 <line class=\"level s{style}\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{legend:.1}\" \
                 y2=\"{legend:.1}\"/><text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>",
                number(*level),
                RIGHT + 8.0,
                RIGHT + 24.0,
                RIGHT + 28.0,
                legend + 4.0,
                name = escape(name),
            );
        }
        for (index, (name, points)) in self.series.iter().enumerate() {
            let style = index % STYLES;
            let path: Vec<String> =
                points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
            let _ = writeln!(out, "<polyline class=\"s{style}\" points=\"{}\"/>", path.join(" "));
            for point in points {
                let at = (x(point.0), y(point.1));
                let words = format!("{name}: {} at {}", number(point.1), number(point.0));
                let _ = writeln!(out, "{}", mark(style, at, &escape(&words)));
            }
            let at = TOP + 18.0 * index as f64;
            let _ = writeln!(
                out,
                "{}<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                mark(style, (RIGHT + 16.0, at), &escape(name)),
                RIGHT + 28.0,
                at + 4.0,
                escape(name)
            );
        }
        out.push_str("</svg></figure>\n");
        out
    }
}

/// Every style has a shape of its own, so that no curve is told by colour alone.
fn mark(style: usize, (x, y): (f64, f64), title: &str) -> String {
    let shape = match style % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"", x - 4.0, y - 4.0),
        2 => format!("<path d=\"M{x:.1} {:.1}l5 9h-10z\"", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"", y - 5.0),
    };
    let name = shape[1..].split(' ').next().unwrap_or("path").to_owned();
    format!("{shape} class=\"mark s{style}\"><title>{title}</title></{name}>")
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
            series: vec![("a & b".to_owned(), points)],
            levels: Vec::new(),
        };
        assert_eq!(chart(Vec::new()).render("a"), "");
        let one = chart(vec![(1.0, 2.0)]).render("a");
        assert!(one.contains("&lt;t&gt;") && !one.contains("NaN") && !one.contains("inf"), "{one}");
        assert!(chart(vec![(1.0, 0.0), (2.0, 1e-9)]).render("a").contains("polyline"));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.2, 0.4, 3.0 * 0.2, 0.8, 1.0]);
        assert_eq!(ticks(1.0, 1.0), Vec::<f64>::new());
    }
}

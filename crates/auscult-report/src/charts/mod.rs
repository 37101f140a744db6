//! Pictures, drawn by hand as SVG. Every one has a title and a description for those who cannot
//! see it, takes its colours from the style sheet, and fits on a page of [`WIDTH`] pixels.

mod comparison;
mod heat_map;
mod histogram;
mod level_bars;
mod modulation;
mod score_range;
mod spectrogram;
mod timeline;

use std::fmt::{self, Formatter};

use auscult::Verdict;
use auscult_page::{
    Escaped, number,
    svg::{self, Picture, line, shape, text},
};

pub(crate) use self::{
    comparison::Comparison,
    heat_map::{HeatMap, STEPS},
    histogram::Histogram,
    modulation::ModulationMap,
    score_range::ScoreRange,
    timeline::Timeline,
};
use crate::page::Threshold;

/// Width of every chart.
pub(crate) const WIDTH: f64 = 960.0;

/// Where the plots start and end that have one column a clip, so that columns stand below each
/// other.
const CLIPS_FROM: f64 = 120.0;
const CLIPS_TO: f64 = 850.0;

/// Writes a picture as wide as the page that scrolls on a narrow one.
fn open(out: &mut Formatter<'_>, picture: Picture<'_>) -> fmt::Result {
    let label = Escaped(picture.title);
    writeln!(out, "<div class=\"chart\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">")?;
    picture.open(out)
}

fn close(out: &mut Formatter<'_>) -> fmt::Result {
    svg::close(out)?;
    writeln!(out, "</div>")
}

/// The thresholds of a chart as the end of a sentence.
fn describe_thresholds(thresholds: &[Threshold]) -> String {
    let described: Vec<String> = thresholds
        .iter()
        .filter_map(|threshold| {
            let value = number(threshold.value?);
            Some(match &threshold.domain {
                None => format!("the threshold is {value}"),
                Some(domain) => format!("the threshold of {domain} is {value}"),
            })
        })
        .collect();
    if described.is_empty() { "there is no threshold yet".to_owned() } else { described.join(", ") }
}

/// The mark of a clip: every verdict has its own shape.
fn mark(
    out: &mut Formatter<'_>,
    verdict: Option<Verdict>,
    (x, y): (f64, f64),
    radius: f64,
    title: &str,
) -> fmt::Result {
    let class = crate::text::verdict_class(verdict);
    let class = format!("mark {class}");
    let path = match verdict {
        Some(Verdict::Normal) => {
            let circle = format_args!("cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"");
            return shape(out, "circle", &class, circle, title);
        }
        Some(Verdict::Anomalous) => {
            let (half, low) = (radius * 1.2, radius * 0.9);
            format!(
                "M{x:.1} {:.1}L{:.1} {:.1}H{:.1}Z",
                y - radius * 1.3,
                x + half,
                y + low,
                x - half
            )
        }
        Some(_) => {
            let half = radius * 1.3;
            format!(
                "M{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}Z",
                y - half,
                x + half,
                y + half,
                x - half
            )
        }
        None => {
            let (left, right, top, bottom) = (x - radius, x + radius, y - radius, y + radius);
            format!(
                "M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}"
            )
        }
    };
    shape(out, "path", &class, format_args!("d=\"{path}\""), title)
}

/// The centre of a clip's column.
fn column_centre(index: usize, count: usize) -> f64 {
    CLIPS_FROM + column_width(count) * (index as f64 + 0.5)
}

fn column_width(count: usize) -> f64 {
    (CLIPS_TO - CLIPS_FROM) / count.max(1) as f64
}

/// The axis of clip numbers below a plot with one column a clip.
fn clip_axis(out: &mut Formatter<'_>, y: f64, count: usize) -> fmt::Result {
    line(out, "axis", (CLIPS_FROM, y), (CLIPS_TO, y))?;
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
        .into_iter()
        .find(|&step| count <= 25 * step)
        .unwrap_or(count.div_ceil(25));
    for index in 0..count {
        let number = index + 1;
        if number.is_multiple_of(step) || (step > 1 && number == 1) {
            text(out, "tick middle", (column_centre(index, count), y + 16.0), &number.to_string())?;
        }
    }
    text(
        out,
        "name middle",
        (f64::midpoint(CLIPS_FROM, CLIPS_TO), y + 34.0),
        "Clip number, in order",
    )
}

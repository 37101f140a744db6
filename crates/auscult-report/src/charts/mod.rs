//! Pictures, drawn by hand as SVG. Every one has a title and a description for those who cannot
//! see it, takes its colours from the style sheet, and fits a page of any width.

mod comparison;
mod fluid;
mod heat_map;
mod histogram;
mod modulation;
mod score_range;
mod spark;
mod spectrogram;
mod timeline;

use std::fmt::{self, Formatter, Write};

use auscult::Verdict;
use auscult_page::{Escaped, number, svg};

pub(crate) use self::{
    comparison::Comparison,
    heat_map::{HeatMap, STEPS},
    histogram::Histogram,
    modulation::ModulationMap,
    score_range::ScoreRange,
    spark::Spark,
    timeline::Timeline,
};
use crate::page::Threshold;

/// Width of a panel: about that of a phone, and a third of a desk's page.
const PANEL_WIDTH: f64 = 340.0;

/// The shapes of verdicts, once a page; marks use them.
pub(crate) fn write_marks(out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str(
        "<svg class=\"shapes\" aria-hidden=\"true\"><defs>\
         <circle id=\"mark-normal\" r=\"4\"/><path id=\"mark-anomalous\" d=\"M0 -6L5.5 4.5H-5.5Z\"/>\
         <path id=\"mark-undecided\" d=\"M0 -6L6 0L0 6L-6 0Z\"/>\
         <path id=\"mark-unscored\" d=\"M-4 -4L4 4M-4 4L4 -4\"/></defs></svg>\n",
    )
}

/// The mark of a clip: every verdict has its own shape. `x` is a share of the width.
fn mark(
    out: &mut impl Write,
    verdict: Option<Verdict>,
    (x, y): (f64, f64),
    title: &str,
) -> fmt::Result {
    let class = crate::text::verdict_class(verdict);
    write!(
        out,
        "<use class=\"mark {class}\" href=\"#mark-{class}\" x=\"{}\" y=\"{y:.1}\"><title>{}</title></use>",
        fluid::across(x),
        Escaped(title)
    )
}

fn close(out: &mut Formatter<'_>) -> fmt::Result {
    svg::close(out)
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

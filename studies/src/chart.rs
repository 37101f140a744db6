//! A dot chart of promised against realised rates, as SVG.

use std::fmt::Write;

use crate::Estimate;

/// One method's realised rates at one promised rate, over calibration sizes.
#[derive(Debug)]
pub struct Series {
    /// The method.
    pub name: &'static str,
    /// (calibration clips, realised rate), `None` where nothing is promised.
    pub points: Vec<(usize, Option<Estimate>)>,
}

const PANEL_WIDTH: f64 = 300.0;
const ROW: f64 = 26.0;
const LEFT: f64 = 230.0;
const TOP: f64 = 48.0;

/// Panels side by side, one a promised rate; each method a row, each calibration size a mark.
pub fn render(panels: &[(f64, Vec<Series>)]) -> String {
    let rows = panels.first().map_or(0, |(_, series)| series.len());
    let width = LEFT + panels.len() as f64 * PANEL_WIDTH;
    let height = TOP + rows as f64 * ROW + 60.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>Promised and realised \
         false-alarm rates</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    if let Some((_, series)) = panels.first() {
        for (row, series) in series.iter().enumerate() {
            let y = TOP + (row as f64 + 0.5) * ROW + 4.0;
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
                LEFT - 12.0,
                series.name
            );
        }
    }
    for (index, (promised, series)) in panels.iter().enumerate() {
        panel(&mut svg, LEFT + index as f64 * PANEL_WIDTH, *promised, series, height);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, left: f64, promised: f64, series: &[Series], height: f64) {
    let largest = 5.0 * promised;
    let x = |rate: f64| left + (rate / largest).min(1.0) * (PANEL_WIDTH - 40.0);
    let bottom = TOP + series.len() as f64 * ROW;
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"24\" font-weight=\"bold\">promised {} %</text>\n<line x1=\"{0}\" x2=\"{0}\" \
         y1=\"{TOP}\" y2=\"{bottom}\" stroke=\"#555\" stroke-dasharray=\"4 3\"/>",
        x(promised),
        promised * 100.0
    );
    for tick in 0..=5 {
        let rate = promised * f64::from(tick);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444\">{:.0}</text>",
            x(rate),
            bottom + 16.0,
            rate * 100.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" fill=\"#444\">realised %, 20 (light) to 200 clips (dark)</text>",
        left,
        height - 18.0
    );
    for (row, series) in series.iter().enumerate() {
        for (size, (_, estimate)) in series.points.iter().enumerate() {
            let Some(estimate) = estimate else { continue };
            let y = TOP + (row as f64 + 0.2 + 0.2 * size as f64) * ROW;
            let shade = ["#9ecae1", "#6baed6", "#3182bd", "#08519c"][size.min(3)];
            let (low, high) =
                (estimate.mean - 1.96 * estimate.error, estimate.mean + 1.96 * estimate.error);
            let _ = writeln!(
                svg,
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{shade}\"/>\n\
                 <circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{shade}\"/>",
                x(low.max(0.0)),
                x(high),
                x(estimate.mean)
            );
        }
    }
}

//! A dot chart of promised against realised rates, as SVG.

use std::fmt::{self, Write};

use auscult_page::{
    Scale,
    svg::{self, line, shape, text},
};

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
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, panels);
    out
}

fn write(out: &mut String, panels: &[(f64, Vec<Series>)]) -> fmt::Result {
    let rows = panels.first().map_or(0, |(_, series)| series.len());
    let size = (LEFT + panels.len() as f64 * PANEL_WIDTH, TOP + rows as f64 * ROW + 60.0);
    svg::open_file(out, "Promised and realised false-alarm rates", size)?;
    for (row, series) in panels.iter().take(1).flat_map(|(_, series)| series).enumerate() {
        let y = TOP + (row as f64 + 0.5) * ROW + 4.0;
        text(out, "end", (LEFT - 12.0, y), series.name)?;
    }
    for (index, (promised, series)) in panels.iter().enumerate() {
        panel(out, LEFT + index as f64 * PANEL_WIDTH, *promised, series)?;
    }
    svg::close(out)
}

fn panel(out: &mut String, left: f64, promised: f64, series: &[Series]) -> fmt::Result {
    let x = Scale::linear((0.0, 5.0 * promised), (left, left + PANEL_WIDTH - 40.0));
    let bottom = TOP + series.len() as f64 * ROW;
    let at = x.place(promised);
    text(out, "panel-name", (at, 24.0), &format!("promised {} %", promised * 100.0))?;
    line(out, "axis level", (at, TOP), (at, bottom))?;
    for multiple in 0..=5 {
        let rate = promised * f64::from(multiple);
        let percent = format!("{:.0}", rate * 100.0);
        text(out, "tick middle", (x.place(rate), bottom + 16.0), &percent)?;
    }
    text(out, "tick", (left, bottom + 42.0), "realised %, 20 (light) to 200 clips (dark)")?;
    for (row, series) in series.iter().enumerate() {
        for (size, (_, estimate)) in series.points.iter().enumerate() {
            let Some(estimate) = estimate else { continue };
            let y = TOP + (row as f64 + 0.2 + 0.2 * size as f64) * ROW;
            let opacity = [0.4, 0.6, 0.8, 1.0][size.min(3)];
            let half = 1.96 * estimate.error;
            let [low, mean, high] = [-half, 0.0, half].map(|by| x.place(estimate.mean + by));
            writeln!(out, "<g opacity=\"{opacity}\">")?;
            line(out, "s0", (low, y), (high, y))?;
            let circle = format_args!("cx=\"{mean:.1}\" cy=\"{y:.1}\" r=\"3\"");
            shape(out, "circle", "mark s0", circle, "")?;
            writeln!(out, "</g>")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_estimate_is_a_mark_inside_its_panel() {
        let estimate = |mean| Some(Estimate { mean, error: 0.01, count: 9 });
        let points = vec![(20, None), (50, estimate(0.04)), (200, estimate(9.0))];
        let panel = |promised| (promised, vec![Series { name: "a < b", points: points.clone() }]);
        let svg = render(&[panel(0.05), panel(0.01)]);
        assert_eq!(svg.matches("<circle ").count(), 4);
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"), "{svg}");
        // A rate beyond the scale is at the end of its panel.
        assert!(svg.contains(&format!("cx=\"{:.1}\"", LEFT + PANEL_WIDTH - 40.0)), "{svg}");
    }
}

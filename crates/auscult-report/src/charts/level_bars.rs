//! Level against the closest reference, as bars along the frequency axis of a comparison.

use std::{
    fmt::{self, Formatter},
    ops::Range,
};

use auscult::{Explanation, View};
use auscult_page::{
    Scale,
    svg::{line, shape, text},
};

use super::{
    comparison::{BOTTOM, TOP},
    score_range::signed,
};
use crate::text::hertz;

/// One bar: a part of the spectrum and how much louder it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelBar {
    pub(super) hertz: Range<f64>,
    pub(super) decibels: f64,
}

/// The level differences of a clip along the spectrum, ascending and without overlap.
///
/// They are those of the mean view, or of the only one. Where the last band overlaps its
/// neighbour, the neighbour's part is shown. Empty if the features have no level or no hertz.
pub(super) fn level_bars(explanation: &Explanation) -> Vec<LevelBar> {
    let has_mean = explanation.bands.iter().any(|band| band.view == View::Mean);
    let wanted = if has_mean { View::Mean } else { View::Max };
    let mut bands: Vec<_> = explanation.bands.iter().filter(|band| band.view == wanted).collect();
    bands.sort_by_key(|band| band.band);
    let mut bars: Vec<LevelBar> = Vec::new();
    for level in bands.iter().flat_map(|band| &band.levels) {
        let Some(hertz) = level.hertz.clone().filter(|_| level.decibels.is_finite()) else {
            continue;
        };
        let start = bars.last().map_or(hertz.start, |bar| bar.hertz.end.max(hertz.start));
        if start < hertz.end {
            bars.push(LevelBar { hertz: start..hertz.end, decibels: level.decibels });
        }
    }
    bars
}

/// The loudest and quietest part of a clip against its references, in words.
pub(super) fn describe(bars: &[LevelBar]) -> Option<String> {
    let furthest = bars.iter().max_by(|a, b| a.decibels.abs().total_cmp(&b.decibels.abs()))?;
    let side = if furthest.decibels >= 0.0 { "louder" } else { "quieter" };
    Some(format!(
        "The level differs most at {}: {:.1} dB {side} than the closest reference.",
        hertz(&furthest.hertz),
        furthest.decibels.abs()
    ))
}

/// Small differences do not fill the panel.
const SMALLEST_RANGE: f64 = 3.0;

/// Writes the panel from `from` to `to` across the page; `frequency` is the comparison's axis.
pub(super) fn write_panel(
    out: &mut Formatter<'_>,
    (from, to): (f64, f64),
    bars: &[LevelBar],
    frequency: &Scale,
) -> fmt::Result {
    let largest = bars.iter().map(|bar| bar.decibels.abs()).fold(SMALLEST_RANGE, f64::max) * 1.08;
    let scale = Scale::linear((-largest, largest), (from, to));
    text(out, "panel-name start", (from, TOP - 10.0), "Level against the reference")?;
    for value in scale.ticks(5) {
        let x = scale.place(value);
        line(out, "grid", (x, TOP), (x, BOTTOM))?;
        text(out, "tick middle", (x, BOTTOM + 17.0), &signed(value))?;
    }
    for bar in bars {
        let (low, high) = (frequency.place(bar.hertz.start), frequency.place(bar.hertz.end));
        let (zero, end) = (scale.place(0.0), scale.place(bar.decibels));
        let class = if bar.decibels >= 0.0 { "louder" } else { "quieter" };
        let place = format_args!(
            "x=\"{:.1}\" y=\"{high:.1}\" width=\"{:.1}\" height=\"{:.1}\"",
            zero.min(end),
            (end - zero).abs(),
            (low - high - 0.6).max(0.6)
        );
        let level = signed((bar.decibels * 10.0).round() / 10.0);
        shape(out, "rect", class, place, &format!("{}: {level} dB", hertz(&bar.hertz)))?;
    }
    line(out, "axis", (scale.place(0.0), TOP), (scale.place(0.0), BOTTOM))?;
    let name = "quieter \u{2190} dB \u{2192} louder";
    text(out, "name middle", (f64::midpoint(from, to), BOTTOM + 34.0), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn bars_cover_the_spectrum_without_overlap() {
        let sample = sample();
        let bars = level_bars(sample.clips[0].explanation.as_ref().unwrap());
        assert!(bars.len() > 12, "{}", bars.len());
        assert!(bars[0].hertz.start < 50.0);
        assert!(bars.windows(2).all(|pair| pair[0].hertz.end <= pair[1].hertz.start));
        assert!(bars.last().unwrap().hertz.end > 7_900.0);
    }

    #[test]
    fn features_without_level_have_no_bars() {
        let nothing = Explanation { summary: String::new(), bands: Vec::new() };
        assert_eq!(level_bars(&nothing), []);
        assert_eq!(describe(&[]), None);
    }
}

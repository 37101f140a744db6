//! How unseen normal clips score, and where the clips of the report stand among them.

use std::fmt::{self, Display, Formatter};

use auscult::plural;
use auscult_page::{
    Scale, number,
    svg::{text, upright_name},
    tick,
};

use super::{
    ScoreRange, describe_thresholds,
    fluid::{self, Fluid},
    mark,
};
use crate::{ReportClip, page::Threshold, text::verdict_word};

/// The chart.
pub(crate) struct Histogram<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// Scores of left-out normal clips, ascending.
    pub(crate) calibration: &'a [f64],
    pub(crate) clips: &'a [ReportClip<'a>],
    pub(crate) thresholds: &'a [Threshold],
    pub(crate) range: ScoreRange,
}

const TOP: f64 = 26.0;
const BOTTOM: f64 = 176.0;
/// The clips of the report stand in a strip between the bars and the numbers.
const CLIPS_AT: f64 = 192.0;
const AXIS_AT: f64 = 206.0;
const HEIGHT: f64 = 244.0;

const MOST_BARS: usize = 40;

/// A bar, even of equal scores, is at least this share of the width.
const NARROWEST_BAR: f64 = 0.008;

impl Display for Histogram<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let scale = self.range.scale((0.0, 1.0));
        let bars = bars(self.calibration, &scale);
        let highest = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        let heights = Scale::linear((0.0, highest.max(1) as f64), (BOTTOM, TOP + 10.0));
        let picture = Fluid {
            id: self.id,
            title: "Scores of normal clips the model had not seen",
            details: &self.details(),
            height: HEIGHT,
            class: "histogram",
        };
        picture.open(out, &LeftScale(&heights))?;
        for count in whole_ticks(&heights) {
            fluid::line(out, "grid", (0.0, heights.place(count)), (1.0, heights.place(count)))?;
        }
        for bar in &bars {
            let y = heights.place(bar.count as f64);
            let across = (bar.from, (bar.to - bar.from) * 0.94);
            fluid::rect(out, "bar", across, (y, BOTTOM - y), &plural(bar.count, "normal clip"))?;
        }
        fluid::line(out, "axis", (0.0, BOTTOM), (1.0, BOTTOM))?;
        fluid::line(out, "axis", (0.0, AXIS_AT), (1.0, AXIS_AT))?;
        self.write_ticks(out, &scale)?;
        for (index, clip) in self.clips.iter().enumerate() {
            if let Some(score) = clip.score() {
                let word = verdict_word(clip.verdict());
                let title =
                    format!("Clip {}: {}: {word}, score {}", index + 1, clip.path, number(score));
                mark(out, clip.verdict(), (scale.place(score), CLIPS_AT), &title)?;
            }
        }
        self.write_thresholds(out, &scale)?;
        fluid::close(out)
    }
}

/// Whole numbers at the side.
fn whole_ticks(heights: &Scale) -> impl Iterator<Item = f64> {
    heights.ticks(4).into_iter().filter(|count| count.fract() == 0.0)
}

/// The numbers left of the plot.
struct LeftScale<'a>(&'a Scale);

impl Display for LeftScale<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for count in whole_ticks(self.0) {
            text(out, "tick end", (58.0, self.0.place(count) + 4.0), &tick(count))?;
        }
        upright_name(out, (12.0, f64::midpoint(TOP, BOTTOM)), "Normal clips")
    }
}

impl Histogram<'_> {
    fn write_ticks(&self, out: &mut Formatter<'_>, scale: &Scale) -> fmt::Result {
        for (index, value) in scale.ticks(8).into_iter().enumerate() {
            // On a phone there is room for every second one.
            let x = scale.place(value);
            let side = match x {
                x if x < 0.03 => "start",
                x if x > 0.97 => "end",
                _ => "middle",
            };
            let class =
                if index % 2 == 1 { format!("tick {side} wide") } else { format!("tick {side}") };
            fluid::text(out, &class, (x, AXIS_AT + 16.0), 0.0, &tick(value))?;
        }
        fluid::text(out, "name middle", (0.5, AXIS_AT + 34.0), 0.0, self.range.axis_name())
    }

    fn write_thresholds(&self, out: &mut Formatter<'_>, scale: &Scale) -> fmt::Result {
        for (index, threshold) in self.thresholds.iter().enumerate() {
            let Some(value) = threshold.value else { continue };
            let x = scale.place(value);
            fluid::line(out, "threshold", (x, TOP - 6.0), (x, AXIS_AT))?;
            // Beside the line, on the side where there is room; each name in a row of its own.
            let (side, moved) = if x > 0.45 { ("end", -6.0) } else { ("start", 6.0) };
            let name = format!("{} {}", threshold.name(), number(value));
            let y = TOP - 8.0 + 14.0 * index as f64;
            fluid::text(out, &format!("threshold-name {side}"), (x, y), moved, &name)?;
        }
        Ok(())
    }

    fn details(&self) -> String {
        let normal = match (self.calibration.first(), self.calibration.last()) {
            (Some(&low), Some(&high)) => format!(
                "{} score from {} to {}",
                plural(self.calibration.len(), "normal clip"),
                number(low),
                number(high)
            ),
            _ => "There are no scores of left-out normal clips".to_owned(),
        };
        let threshold = describe_thresholds(self.thresholds);
        format!("{normal}; {threshold}. Marks below the bars are the clips of this report.")
    }
}

struct Bar {
    from: f64,
    to: f64,
    count: usize,
}

/// Counts scores in bars of equal width on the page.
fn bars(scores: &[f64], scale: &Scale) -> Vec<Bar> {
    let places: Vec<f64> = scores.iter().map(|&score| scale.place(score)).collect();
    let (Some(&from), Some(&to)) = (places.first(), places.last()) else {
        return Vec::new();
    };
    let room = ((to - from) / NARROWEST_BAR).floor() as usize;
    // Twice the square root: enough bars to see a tail.
    let wanted = (2.0 * (scores.len() as f64).sqrt()).ceil() as usize;
    let count = wanted.min(MOST_BARS).min(room).max(1);
    let width = ((to - from) / count as f64).max(NARROWEST_BAR);
    let mut bars: Vec<Bar> = (0..count)
        .map(|index| {
            let start = from + index as f64 * width;
            Bar { from: start, to: start + width, count: 0 }
        })
        .collect();
    for place in places {
        bars[(((place - from) / width) as usize).min(count - 1)].count += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use auscult::Verdict;

    use super::*;
    use crate::testing::{assert_well_formed, clip_with};

    fn histogram(calibration: &[f64], clips: &[ReportClip<'_>], threshold: Option<f64>) -> String {
        let clip_scores = clips.iter().filter_map(ReportClip::score);
        let range = ScoreRange::of(
            calibration.iter().copied().chain(clip_scores).chain(threshold),
            [].into_iter(),
        );
        let thresholds = [Threshold {
            domain: None,
            value: threshold,
            standing: auscult::Standing::Promised,
            scores: Vec::new(),
        }];
        Histogram { id: "histogram", calibration, clips, thresholds: &thresholds, range }
            .to_string()
    }

    #[test]
    fn bars_hold_every_score_once() {
        let scores: Vec<f64> = (0..57).map(f64::from).collect();
        let scale = ScoreRange::of(scores.iter().copied(), [].into_iter()).scale((0.0, 1.0));
        let bars = bars(&scores, &scale);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), 57);
        assert_eq!(bars.len(), 16);
    }

    #[test]
    fn threshold_and_clips_are_drawn_at_their_scores() {
        let clips = [clip_with(4.0, Verdict::Anomalous), clip_with(3.0, Verdict::Normal)];
        let svg = histogram(&[1.0, 2.0, 3.0], &clips, Some(3.0));
        let x = fluid::across(3.0 / 4.24);
        assert!(svg.contains(&format!("<line class=\"threshold\" x1=\"{x}\"")), "{svg}");
        assert!(svg.contains(&format!("href=\"#mark-normal\" x=\"{x}\"")));
        assert_eq!(svg.matches("class=\"mark ").count(), 2);
        assert_well_formed(&svg);
    }

    #[test]
    fn nothing_equal_scores_and_nonsense_can_be_drawn() {
        let clips = [clip_with(f64::INFINITY, Verdict::Anomalous)];
        let cases: [&[f64]; 5] = [&[], &[1.0], &[2.0; 30], &[0.0; 3], &[1.0, f64::INFINITY]];
        for scores in cases {
            for threshold in [None, scores.last().copied()] {
                assert_well_formed(&histogram(scores, &clips, threshold));
                assert_well_formed(&histogram(scores, &[], threshold));
            }
        }
    }
}

//! The score of every clip in order, against the threshold.

use std::fmt::{self, Display, Formatter};

use auscult_page::{
    Escaped, number,
    svg::{Picture, line, text, upright_name},
    tick,
};

use super::{
    CLIPS_FROM, CLIPS_TO, ScoreRange, WIDTH, clip_axis, close, column_centre, describe_thresholds,
    mark, open,
};
use crate::{ReportClip, page::Threshold, text::verdict_word};

/// The chart.
pub(crate) struct Timeline<'a> {
    pub(crate) clips: &'a [ReportClip<'a>],
    pub(crate) thresholds: &'a [Threshold],
    pub(crate) range: ScoreRange,
    /// Whether the clip at an index has a section of its own to link to.
    pub(crate) has_details: &'a dyn Fn(usize) -> bool,
}

const TOP: f64 = 14.0;
const BOTTOM: f64 = 250.0;
/// Clips without a score stand in a row of their own below the plot.
const UNSCORED_AT: f64 = 266.0;
const AXIS_AT: f64 = 280.0;
const HEIGHT: f64 = 324.0;

impl Display for Timeline<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let scale = self.range.scale((BOTTOM, TOP));
        open(
            out,
            Picture {
                id: "timeline",
                role: "group",
                size: (WIDTH, HEIGHT),
                title: "Score of every clip, in order",
                details: &self.details(),
            },
        )?;
        for value in scale.ticks(6) {
            let y = scale.place(value);
            line(out, "grid", (CLIPS_FROM, y), (CLIPS_TO, y))?;
            text(out, "tick end", (CLIPS_FROM - 8.0, y + 4.0), &tick(value))?;
        }
        upright_name(out, (58.0, f64::midpoint(TOP, BOTTOM)), self.range.axis_name())?;
        clip_axis(out, AXIS_AT, self.clips.len())?;
        for threshold in self.thresholds {
            let Some(value) = threshold.value else { continue };
            let y = scale.place(value);
            line(out, "threshold", (CLIPS_FROM, y), (CLIPS_TO, y))?;
            text(out, "threshold-name start", (CLIPS_TO + 8.0, y - 2.0), &threshold.name())?;
            text(out, "threshold-name start", (CLIPS_TO + 8.0, y + 13.0), &number(value))?;
        }
        if self.clips.iter().any(|clip| clip.scored.is_none()) {
            text(out, "tick end", (CLIPS_FROM - 8.0, UNSCORED_AT + 4.0), "not scored")?;
        }
        let radius = if self.clips.len() > 90 { 3.0 } else { 5.0 };
        for (index, clip) in self.clips.iter().enumerate() {
            let x = column_centre(index, self.clips.len());
            let y = clip.score().map_or(UNSCORED_AT, |score| scale.place(score));
            let title = mark_title(index, clip);
            if (self.has_details)(index) {
                let number = index + 1;
                write!(out, "<a href=\"#clip-{number}\" aria-label=\"{}\">", Escaped(&title))?;
                mark(out, clip.verdict(), (x, y), radius, &title)?;
                writeln!(out, "</a>")?;
            } else {
                mark(out, clip.verdict(), (x, y), radius, &title)?;
            }
        }
        close(out)
    }
}

impl Timeline<'_> {
    fn details(&self) -> String {
        let scores = || self.clips.iter().filter_map(ReportClip::score);
        let count = scores().count();
        let range = (count > 0).then(|| {
            let low = scores().fold(f64::INFINITY, f64::min);
            let high = scores().fold(f64::NEG_INFINITY, f64::max);
            format!(" from {} to {}", number(low), number(high))
        });
        let threshold = match self.thresholds {
            [Threshold { value: Some(threshold), .. }] => {
                let above = scores().filter(|&score| score > *threshold).count();
                format!(", {above} of them above the threshold of {}", number(*threshold))
            }
            [Threshold { value: None, .. }] | [] => "; there is no threshold yet".to_owned(),
            several => format!("; {}", describe_thresholds(several)),
        };
        format!(
            "{count} scores{}{threshold}. The table of all clips has every number.",
            range.unwrap_or_default()
        )
    }
}

fn mark_title(index: usize, clip: &ReportClip<'_>) -> String {
    let score = clip.score().map_or_else(String::new, |score| format!(", score {}", number(score)));
    format!("Clip {}: {}: {}{score}", index + 1, clip.path, verdict_word(clip.verdict()))
}

#[cfg(test)]
mod tests {
    use auscult::{ClipCondition, Verdict};

    use super::*;
    use crate::testing::{assert_well_formed, clip_with};

    fn timeline(clips: &[ReportClip<'_>], threshold: Option<f64>) -> String {
        let range = ScoreRange::of(clips.iter().filter_map(ReportClip::score).chain(threshold));
        let thresholds = [Threshold {
            domain: None,
            value: threshold,
            standing: auscult::Standing::Promised,
            scores: Vec::new(),
        }];
        Timeline { clips, thresholds: &thresholds, range, has_details: &|index| index == 0 }
            .to_string()
    }

    #[test]
    fn every_clip_has_a_mark_with_the_shape_of_its_verdict() {
        let mut silent = clip_with(0.0, Verdict::Normal);
        (silent.scored, silent.condition) = (None, ClipCondition::Silent);
        let clips = [
            clip_with(1.0, Verdict::Normal),
            clip_with(3.0, Verdict::Anomalous),
            silent,
            clip_with(1.5, Verdict::Undecided),
        ];
        let svg = timeline(&clips, Some(2.0));
        assert_eq!(svg.matches("class=\"mark ").count(), 4);
        assert_eq!(svg.matches("<circle class=\"mark normal\"").count(), 1);
        for class in ["anomalous", "unscored", "undecided"] {
            assert_eq!(svg.matches(&format!("<path class=\"mark {class}\"")).count(), 1, "{class}");
        }
        assert!(svg.contains("<a href=\"#clip-1\""));
        assert!(!svg.contains("<a href=\"#clip-2\""));
        assert_well_formed(&svg);
    }

    #[test]
    fn the_threshold_is_where_a_score_of_its_size_is() {
        let clips = [clip_with(2.0, Verdict::Normal), clip_with(4.0, Verdict::Anomalous)];
        let svg = timeline(&clips, Some(2.0));
        // 0 is at 250, 4.24 (the highest and 6 %) at 14.
        let y = 250.0 - 236.0 * 2.0 / 4.24;
        assert!(svg.contains(&format!("<line class=\"threshold\" x1=\"120.0\" y1=\"{y:.1}\"")));
        assert!(svg.contains(&format!("cy=\"{y:.1}\"")));
    }

    #[test]
    fn nothing_and_nonsense_can_be_drawn() {
        let cases: [&[f64]; 5] =
            [&[], &[1.0], &[2.0; 9], &[f64::NAN, 1.0, f64::INFINITY], &[0.0, 0.0]];
        for scores in cases {
            let clips: Vec<ReportClip<'_>> =
                scores.iter().map(|&score| clip_with(score, Verdict::Normal)).collect();
            for threshold in [None, Some(1.0), Some(f64::INFINITY)] {
                let svg = timeline(&clips, threshold);
                assert_eq!(svg.matches("class=\"mark ").count(), scores.len());
                assert_well_formed(&svg);
            }
        }
    }
}

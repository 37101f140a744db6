//! The score of every clip over time, against the threshold: visits are groups, alarms are marked.

use std::fmt::{self, Display, Formatter};

use auscult_page::{
    Escaped, Scale, number,
    svg::{text, upright_name},
    tick,
};

use super::{
    ScoreRange, describe_thresholds,
    fluid::{self, Fluid},
    mark,
};
use crate::{
    ReportClip,
    health::Health,
    page::{Page, Threshold},
    text::verdict_word,
    visits::{Visit, Visits},
};

/// The chart.
pub(crate) struct Timeline<'a> {
    pub(crate) page: &'a Page<'a>,
}

/// Names of visits stand above the plot, times below it.
const NAMES_AT: f64 = 14.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 244.0;
/// Clips without a score stand in a row of their own below the plot.
const UNSCORED_AT: f64 = 258.0;
const AXIS_AT: f64 = 270.0;
const HEIGHT: f64 = 290.0;

/// About how wide a letter is, and the plot on a phone and on a desk, in pixels.
const LETTER: f64 = 7.4;
const PLOT_WIDTHS: [f64; 2] = [270.0, 860.0];

/// The class of a label in a visit of this share of the width: shown everywhere, on wide screens only, or not at all.
fn label_class(base: &str, label: &str, share: f64) -> Option<String> {
    let needed = label.chars().count() as f64 * LETTER;
    match PLOT_WIDTHS.map(|width| width * share >= needed) {
        [true, _] => Some(base.to_owned()),
        [_, true] => Some(format!("{base} wide")),
        _ => None,
    }
}

impl Display for Timeline<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let page = self.page;
        let scale = page.range.scale((BOTTOM, TOP));
        let id = page.id("timeline");
        let picture = Fluid {
            id: &id,
            title: "Score of every clip over time",
            details: &self.details(),
            height: HEIGHT,
            class: "timeline",
        };
        picture
            .open(out, &LeftScale { scale: &scale, range: page.range, clips: &page.input.clips })?;
        self.write_visits(out)?;
        self.write_alarms(out)?;
        for value in scale.ticks(6) {
            fluid::line(out, "grid", (0.0, scale.place(value)), (1.0, scale.place(value)))?;
        }
        for threshold in &page.thresholds {
            let Some(value) = threshold.value else { continue };
            let y = scale.place(value);
            fluid::line(out, "threshold", (0.0, y), (1.0, y))?;
            let name = format!("{} {}", threshold.name(), number(value));
            fluid::text(out, "threshold-name start", (0.0, y - 5.0), 4.0, &name)?;
        }
        for &index in &page.visits.order {
            self.write_clip(out, index, &scale)?;
        }
        fluid::close(out)
    }
}

impl Timeline<'_> {
    fn write_clip(&self, out: &mut Formatter<'_>, index: usize, scale: &Scale) -> fmt::Result {
        let clip = &self.page.input.clips[index];
        let y = clip.score().map_or(UNSCORED_AT, |score| scale.place(score));
        let place = (self.page.visits.place(index), y);
        let title = self.mark_title(index, clip);
        match self.page.kind_of(index) {
            Some(kind) => {
                let link = self.page.id(&format!("kind-{kind}"));
                write!(out, "<a href=\"#{link}\" aria-label=\"{}\">", Escaped(&title))?;
                mark(out, clip.verdict(), place, &title)?;
                writeln!(out, "</a>")
            }
            None => mark(out, clip.verdict(), place, &title),
        }
    }

    fn mark_title(&self, index: usize, clip: &ReportClip<'_>) -> String {
        let score =
            clip.score().map_or_else(String::new, |score| format!(", score {}", number(score)));
        let when = match self.page.visits.origin {
            Some(_) => format!(", {}", self.page.moment(index)),
            None => String::new(),
        };
        format!(
            "Clip {}{when}: {}: {}{score}",
            index + 1,
            clip.name(),
            verdict_word(clip.verdict())
        )
    }

    /// A band for each visit, its name above it and its first times below.
    fn write_visits(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Visits { groups, order, origin, .. } = &self.page.visits;
        for Visit { clips, name, place } in groups {
            let width = place.end - place.start;
            let [first, last] = [clips.start, clips.end - 1].map(|at| self.page.moment(order[at]));
            let title = format!("{name}: {first} to {last}");
            fluid::rect(out, "visit", (place.start, width), (TOP, AXIS_AT - TOP), &title)?;
            if let Some(class) = label_class("visit-name start", name, width) {
                fluid::text(out, &class, (place.start, NAMES_AT), 0.0, name)?;
            }
            let short = |position: usize| match (
                origin,
                self.page.input.clips[order[position]].time.as_ref(),
            ) {
                (Some(_), Some(time)) => crate::visits::clock(time.unix_seconds),
                _ => (order[position] + 1).to_string(),
            };
            let (first, last) = (short(clips.start), short(clips.end - 1));
            if let Some(class) = label_class("tick start", &first, width) {
                fluid::text(out, &class, (place.start, AXIS_AT + 15.0), 0.0, &first)?;
            }
            let has_both = clips.len() > 1 && first != last;
            if let Some(class) = label_class("tick end", &last, width / 2.2).filter(|_| has_both) {
                fluid::text(out, &class, (place.end, AXIS_AT + 15.0), 0.0, &last)?;
            }
        }
        fluid::line(out, "axis", (0.0, AXIS_AT), (1.0, AXIS_AT))
    }

    /// A shade where an alarm stood, with a flag where it was raised.
    fn write_alarms(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (visits, Health { alarms, .. }) = (&self.page.visits, &self.page.health);
        let half_column = 0.5 / visits.order.len().max(1) as f64;
        for alarm in alarms {
            let [from, to] =
                [alarm.start, alarm.end - 1].map(|position| visits.place(visits.order[position]));
            let (from, to) = ((from - half_column).max(0.0), (to + half_column).min(1.0));
            let raised = self.page.moment(visits.order[alarm.start]);
            let title = format!("alarm, raised at {raised}");
            fluid::rect(out, "alarm-span", (from, to - from), (TOP, AXIS_AT - TOP), &title)?;
            // In the row below the scores, towards the side with more room.
            let (class, moved) =
                if from > 0.8 { ("alarm-name end", -5.0) } else { ("alarm-name start", 5.0) };
            fluid::text(out, class, (from, AXIS_AT - 5.0), moved, "\u{25b2} alarm")?;
        }
        Ok(())
    }

    fn details(&self) -> String {
        let clips = &self.page.input.clips;
        let scores = || clips.iter().filter_map(ReportClip::score);
        let count = scores().count();
        let range = (count > 0).then(|| {
            let low = scores().fold(f64::INFINITY, f64::min);
            let high = scores().fold(f64::NEG_INFINITY, f64::max);
            format!(" from {} to {}", number(low), number(high))
        });
        let threshold = match &self.page.thresholds[..] {
            [Threshold { value: Some(threshold), .. }] => {
                let above = scores().filter(|&score| score > *threshold).count();
                format!(", {above} of them above the threshold of {}", number(*threshold))
            }
            [Threshold { value: None, .. }] | [] => "; there is no threshold yet".to_owned(),
            several => format!("; {}", describe_thresholds(several)),
        };
        let alarms: Vec<String> = self
            .page
            .health
            .alarms
            .iter()
            .map(|alarm| {
                format!(
                    " Alarm raised at {}.",
                    self.page.moment(self.page.visits.order[alarm.start])
                )
            })
            .collect();
        format!(
            "{count} scores{}{threshold}.{} The table of all clips has every number.",
            range.unwrap_or_default(),
            alarms.concat()
        )
    }
}

/// The numbers left of the plot.
struct LeftScale<'a> {
    scale: &'a Scale,
    range: ScoreRange,
    clips: &'a [ReportClip<'a>],
}

impl Display for LeftScale<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for value in self.scale.ticks(6) {
            text(out, "tick end", (58.0, self.scale.place(value) + 4.0), &tick(value))?;
        }
        if self.clips.iter().any(|clip| clip.scored.is_none()) {
            text(out, "tick end", (58.0, UNSCORED_AT + 4.0), "no score")?;
        }
        upright_name(out, (12.0, f64::midpoint(TOP, BOTTOM)), self.range.axis_name())
    }
}

#[cfg(test)]
mod tests {
    use auscult::{ClipCondition, Verdict};

    use super::*;
    use crate::testing::{Sample, assert_well_formed, clip_with, sample};

    fn timeline(clips: Vec<ReportClip<'static>>) -> String {
        let sample = Sample { clips, ..sample() };
        let report = sample.input();
        Timeline { page: &Page::new(&report) }.to_string()
    }

    #[test]
    fn every_clip_has_a_mark_with_the_shape_of_its_verdict() {
        let mut silent = clip_with(0.0, Verdict::Normal);
        (silent.scored, silent.condition) = (None, ClipCondition::Silent);
        let svg = timeline(vec![
            clip_with(1.0, Verdict::Normal),
            clip_with(3.0, Verdict::Anomalous),
            silent,
            clip_with(1.5, Verdict::Undecided),
        ]);
        for class in ["normal", "anomalous", "unscored", "undecided"] {
            let mark = format!("<use class=\"mark {class}\" href=\"#mark-{class}\"");
            assert_eq!(svg.matches(&mark).count(), 1, "{class}");
        }
        assert_eq!(
            svg.matches("<a href=\"#kind-1\"").count(),
            1,
            "anomalous clips lead to their kind"
        );
        assert_well_formed(&svg);
    }

    #[test]
    fn an_alarm_is_shaded_from_where_it_was_raised() {
        let clips = "....!!!".chars().map(|verdict| match verdict {
            '!' => clip_with(9.0, Verdict::Anomalous),
            _ => clip_with(1.0, Verdict::Normal),
        });
        let svg = timeline(clips.collect());
        assert_eq!(svg.matches("class=\"alarm-span\"").count(), 1);
        assert!(svg.contains("Alarm raised at clip 7."), "{svg}");
        assert!(!timeline(vec![clip_with(1.0, Verdict::Normal)]).contains("alarm-span"));
    }

    #[test]
    fn nothing_and_nonsense_can_be_drawn() {
        let cases: [&[f64]; 5] =
            [&[], &[1.0], &[2.0; 9], &[f64::NAN, 1.0, f64::INFINITY], &[0.0, 0.0]];
        for scores in cases {
            let svg =
                timeline(scores.iter().map(|&score| clip_with(score, Verdict::Normal)).collect());
            assert_eq!(svg.matches("class=\"mark ").count(), scores.len());
            assert_well_formed(&svg);
        }
    }
}

//! Which bands of which clips differ, as clips x bands.

use std::{
    fmt::{self, Display, Formatter, Write},
    ops::Range,
};

use auscult::{View, explain::BandReason, features::Axis};
use auscult_page::svg::{Picture, shape, text};

use super::{CLIPS_FROM, CLIPS_TO, WIDTH, clip_axis, close, column_centre, column_width, open};
use crate::{
    ReportClip,
    bands::{band_name, furthest, reason_name},
    text::{times, view_phrase},
};

/// The chart.
pub(crate) struct HeatMap<'a> {
    pub(crate) clips: &'a [ReportClip<'a>],
    pub(crate) views: &'a [View],
    /// Positions of the bands, in order along the axis.
    pub(crate) bands: &'a [Range<usize>],
    pub(crate) axis: &'a Axis,
    /// Bands that belong together and what they are called: members with views of their own.
    pub(crate) groups: &'a [(Range<usize>, String)],
}

/// The colour steps: each starts at the second value, in times its normal distance, and the
/// bounds are about evenly spaced on a logarithmic scale.
pub(crate) const STEPS: [(&str, f64); 9] = [
    ("below 1\u{d7}", f64::NEG_INFINITY),
    ("1\u{2013}1.5\u{d7}", 1.0),
    ("1.5\u{2013}2\u{d7}", 1.5),
    ("2\u{2013}3\u{d7}", 2.0),
    ("3\u{2013}5\u{d7}", 3.0),
    ("5\u{2013}10\u{d7}", 5.0),
    ("10\u{2013}20\u{d7}", 10.0),
    ("20\u{2013}50\u{d7}", 20.0),
    ("50\u{d7} and more", 50.0),
];

/// Cells from this step on are dark on light paper (and light on dark paper).
const INVERTED_FROM: usize = 6;

/// Numbers stand in the cells where columns and rows have room for them.
const ROOM_FOR_NUMBERS: (f64, f64) = (34.0, 14.0);

const TOP: f64 = 4.0;
const VIEW_NAME_HEIGHT: f64 = 26.0;

impl Display for HeatMap<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let view_height = VIEW_NAME_HEIGHT + self.row_height() * self.bands.len() as f64 + 8.0;
        let axis_at = TOP + view_height * self.views.len() as f64;
        open(
            out,
            Picture {
                id: "heat-map",
                role: "img",
                size: (WIDTH, axis_at + 44.0),
                title: "How far every band of every clip is from its normal",
                details: &self.details(),
            },
        )?;
        for (index, &view) in self.views.iter().enumerate() {
            let top = TOP + view_height * index as f64;
            let name = if self.groups.is_empty() {
                format!("Seen {}", view_phrase(view))
            } else {
                "By member".to_owned()
            };
            text(out, "view-name start", (CLIPS_FROM, top + 16.0), &name)?;
            self.write_view(out, view, top + VIEW_NAME_HEIGHT)?;
        }
        clip_axis(out, axis_at, self.clips.len())?;
        self.write_tooltips(out, axis_at)?;
        close(out)
    }
}

impl HeatMap<'_> {
    fn row_height(&self) -> f64 {
        (176.0 / self.bands.len().max(1) as f64).clamp(3.0, 26.0)
    }

    /// Where a row is: the highest band, as in a spectrogram, is at the top.
    fn row_top(&self, band: usize, top: f64) -> f64 {
        top + self.row_height() * (self.bands.len() - 1 - band) as f64
    }

    fn write_view(&self, out: &mut Formatter<'_>, view: View, top: f64) -> fmt::Result {
        let (width, height) = (column_width(self.clips.len()), self.row_height());
        let label_step = (13.0 / height).ceil() as usize;
        for (band, positions) in self.bands.iter().enumerate().step_by(label_step) {
            let y = self.row_top(band, top) + height / 2.0 + 4.0;
            text(out, "tick end", (CLIPS_FROM - 8.0, y), &band_name(self.axis, positions))?;
        }
        for (bands, name) in self.groups {
            let last = self.row_top(bands.end.saturating_sub(1), top);
            let middle = f64::midpoint(last, self.row_top(bands.start, top) + height) + 4.0;
            text(out, "tick start", (CLIPS_TO + 8.0, middle), name)?;
        }
        // One path a step keeps the page small however many cells there are.
        let mut paths: [String; STEPS.len()] = Default::default();
        let mut unknown = String::new();
        let mut numbers = String::new();
        let gap = if width > 8.0 { 1.0 } else { 0.0 };
        for (index, clip) in self.clips.iter().enumerate() {
            let left = CLIPS_FROM + width * index as f64;
            for band in 0..self.bands.len() {
                let y = self.row_top(band, top);
                let value = self.times_normal(clip, view, band);
                let path = value.map_or(&mut unknown, |value| &mut paths[step_of(value)]);
                let (across, down) = (width - gap, height - gap.min(height / 4.0));
                write!(path, "M{left:.1} {y:.1}h{across:.1}v{down:.1}h-{across:.1}z")?;
                if let Some(value) = value
                    && width >= ROOM_FOR_NUMBERS.0
                    && height >= ROOM_FOR_NUMBERS.1
                {
                    let ink = if step_of(value) >= INVERTED_FROM { "inverted" } else { "plain" };
                    let centre = (left + across / 2.0, y + down / 2.0 + 4.0);
                    let class = format!("cell middle {ink}");
                    text(&mut numbers, &class, centre, &cell_number(value))?;
                }
            }
        }
        for (step, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            shape(out, "path", &format!("heat-{step}"), format_args!("d=\"{path}\""), "")?;
        }
        if !unknown.is_empty() {
            shape(out, "path", "heat-unknown", format_args!("d=\"{unknown}\""), "")?;
        }
        out.write_str(&numbers)
    }

    /// An invisible column over each clip says in words what its cells show.
    fn write_tooltips(&self, out: &mut Formatter<'_>, height: f64) -> fmt::Result {
        let width = column_width(self.clips.len());
        for (index, clip) in self.clips.iter().enumerate() {
            let place = format_args!(
                "x=\"{:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"",
                column_centre(index, self.clips.len()) - width / 2.0
            );
            let title = format!("Clip {}: {}: {}", index + 1, clip.path, furthest(clip));
            shape(out, "rect", "tooltip", place, &title)?;
        }
        Ok(())
    }

    /// Of one view, a band is seen in the view of its member, which may be another.
    fn times_normal(&self, clip: &ReportClip<'_>, view: View, band: usize) -> Option<f64> {
        let bands = &clip.explanation.as_ref()?.bands;
        let is_it = |reason: &&BandReason| {
            reason.band == band && (reason.view == view || self.views.len() == 1)
        };
        bands.iter().find(is_it)?.times_normal.filter(|value| !value.is_nan())
    }

    fn details(&self) -> String {
        let explained = self.clips.iter().filter(|clip| clip.explanation.is_some()).count();
        let furthest = self
            .clips
            .iter()
            .enumerate()
            .filter_map(|(index, clip)| {
                let reason = clip.explanation.as_ref()?.bands.first()?;
                Some((index, reason, reason.times_normal.filter(|times| times.is_finite())?))
            })
            .max_by(|a, b| a.2.total_cmp(&b.2));
        let furthest = furthest.map_or_else(String::new, |(index, reason, value)| {
            format!(
                " The furthest is clip {}: {} at {}.",
                index + 1,
                reason_name(reason),
                times(value)
            )
        });
        format!(
            "{explained} clips in columns, {} bands in rows, {} views.{furthest}",
            self.bands.len(),
            self.views.len(),
        )
    }
}

/// The colour step of a value; what is not a number has the lowest one.
fn step_of(times_normal: f64) -> usize {
    STEPS.iter().rposition(|&(_, from)| times_normal >= from).unwrap_or(0)
}

/// The number in a cell, short enough for it.
fn cell_number(value: f64) -> String {
    if value < 9.95 {
        format!("{value:.1}")
    } else if value < 999.5 {
        format!("{value:.0}")
    } else {
        "\u{2265}1000".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use auscult::Verdict;

    use super::*;
    use crate::testing::{assert_well_formed, clip_with, sample};

    #[test]
    fn every_clip_has_a_column_and_every_band_a_row_in_hertz() {
        let sample = sample();
        let bands = sample.model.detector().beam().layout().bands();
        let chart = HeatMap {
            clips: &sample.clips,
            views: &[View::Mean, View::Max],
            bands,
            axis: sample.front_end.axis(),
            groups: &[],
        };
        let svg = chart.to_string();
        assert_eq!(svg.matches("class=\"tooltip\"").count(), sample.clips.len());
        assert_eq!(svg.matches(" kHz</text>").count() + svg.matches(" Hz</text>").count(), 8);
        let cells = svg.matches('z').count();
        assert!(cells >= sample.clips.len() * bands.len() * 2, "{cells}");
        assert_well_formed(&svg);
    }

    #[test]
    fn steps_start_at_their_bounds() {
        let cases =
            [(0.3, 0), (1.0, 1), (1.49, 1), (2.0, 3), (49.0, 7), (50.0, 8), (f64::INFINITY, 8)];
        for (value, step) in cases {
            assert_eq!(step_of(value), step, "{value}");
        }
        assert_eq!(step_of(f64::NAN), 0);
    }

    #[test]
    fn clips_without_explanation_have_unknown_cells() {
        let clips = [clip_with(1.0, Verdict::Normal)];
        let axis = Axis::other(4);
        let (bands, groups) = (&[0..2, 2..4], &[(0..2, "a member".to_owned())]);
        let chart = HeatMap { clips: &clips, views: &[View::Mean], bands, axis: &axis, groups };
        assert!(chart.to_string().contains(">a member</text>"));
        let svg = chart.to_string();
        assert!(svg.contains("heat-unknown") && svg.contains(">2\u{2013}3</text>"));
        assert_well_formed(&svg);
        let nothing = HeatMap { clips: &[], views: &[], bands: &[], axis: &axis, groups: &[] };
        assert_well_formed(&nothing.to_string());
    }
}

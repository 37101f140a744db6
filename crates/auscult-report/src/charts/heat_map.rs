//! Which bands of which clips differ, as clips x bands.

use std::{
    fmt::{self, Display, Formatter, Write},
    ops::Range,
};

use auscult::{View, explain::BandReason, features::Axis};
use auscult_page::svg::{shape, text};

use super::fluid::{self, Fluid};
use crate::{
    ReportClip,
    bands::{band_name, furthest, reason_name},
    text::{times, view_phrase},
};

/// The chart.
pub(crate) struct HeatMap<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// Indices of the clips, in the order of their columns.
    pub(crate) order: &'a [usize],
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

/// Numbers stand in the cells of so few columns, and of rows this high.
const MOST_WITH_NUMBERS: usize = 8;
const ROOM_FOR_NUMBERS: f64 = 14.0;

const TOP: f64 = 4.0;
const VIEW_NAME_HEIGHT: f64 = 26.0;

impl Display for HeatMap<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let view_height = VIEW_NAME_HEIGHT + self.row_height() * self.bands.len() as f64 + 8.0;
        let axis_at = TOP + view_height * self.views.len() as f64;
        let picture = Fluid {
            id: self.id,
            title: "How far every band of every clip is from its normal",
            details: &self.details(),
            height: axis_at + 24.0,
            class: "heat-map",
        };
        picture.open(out, &LeftScale { map: self, view_height })?;
        for (index, &view) in self.views.iter().enumerate() {
            let top = TOP + view_height * index as f64;
            let name = if self.groups.is_empty() {
                format!("Seen {}", view_phrase(view))
            } else {
                "By member".to_owned()
            };
            fluid::text(out, "view-name start", (0.0, top + 16.0), 0.0, &name)?;
            self.write_view(out, view, top + VIEW_NAME_HEIGHT)?;
        }
        self.write_axis(out, axis_at)?;
        self.write_tooltips(out, axis_at)?;
        fluid::close(out)
    }
}

/// The names of the bands, left of their rows.
struct LeftScale<'a> {
    map: &'a HeatMap<'a>,
    view_height: f64,
}

impl Display for LeftScale<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { map, view_height } = self;
        let height = map.row_height();
        let step = (13.0 / height).ceil() as usize;
        for index in 0..map.views.len() {
            let top = TOP + view_height * index as f64 + VIEW_NAME_HEIGHT;
            for (band, positions) in map.bands.iter().enumerate().step_by(step) {
                let y = map.row_top(band, top) + height / 2.0 + 4.0;
                text(out, "tick end", (96.0, y), &band_name(map.axis, positions))?;
            }
        }
        Ok(())
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

    /// Cells stand in columns and rows of 1 by 1, stretched over the plot.
    fn write_view(&self, out: &mut Formatter<'_>, view: View, top: f64) -> fmt::Result {
        let (columns, rows) = (self.order.len(), self.bands.len());
        if columns == 0 || rows == 0 {
            return Ok(());
        }
        // One path a step keeps the page small however many cells there are.
        let mut paths: [String; STEPS.len()] = Default::default();
        let mut unknown = String::new();
        let mut numbers = String::new();
        let gap = if columns <= 60 { 0.06 } else { 0.0 };
        let height = self.row_height();
        for (column, &index) in self.order.iter().enumerate() {
            for band in 0..rows {
                let value = self.times_normal(&self.clips[index], view, band);
                let path = value.map_or(&mut unknown, |value| &mut paths[step_of(value)]);
                let (width, row) = (1.0 - gap, rows - 1 - band);
                write!(path, "M{column} {row}h{width}v.94h-{width}z")?;
                if let Some(value) = value
                    && columns <= MOST_WITH_NUMBERS
                    && height >= ROOM_FOR_NUMBERS
                {
                    let ink = if step_of(value) >= INVERTED_FROM { "inverted" } else { "plain" };
                    let x = (column as f64 + 0.5) / columns as f64;
                    let y = self.row_top(band, top) + height / 2.0 + 4.0;
                    fluid::text(
                        &mut numbers,
                        &format!("cell middle {ink}"),
                        (x, y),
                        0.0,
                        &cell_number(value),
                    )?;
                }
            }
        }
        writeln!(
            out,
            "<svg x=\"0\" y=\"{top:.1}\" width=\"100%\" height=\"{:.1}\" viewBox=\"0 0 {columns} {rows}\" \
             preserveAspectRatio=\"none\">",
            height * rows as f64
        )?;
        for (step, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            shape(out, "path", &format!("heat-{step}"), format_args!("d=\"{path}\""), "")?;
        }
        if !unknown.is_empty() {
            shape(out, "path", "heat-unknown", format_args!("d=\"{unknown}\""), "")?;
        }
        writeln!(out, "</svg>")?;
        for (bands, name) in self.groups {
            let top = self.row_top(bands.end.saturating_sub(1), top);
            fluid::line(out, "axis", (0.0, top), (1.0, top))?;
            fluid::text(out, "group-name end", (1.0, top + 12.0), -3.0, name)?;
        }
        out.write_str(&numbers)
    }

    /// Numbers of clips below their columns.
    fn write_axis(&self, out: &mut Formatter<'_>, y: f64) -> fmt::Result {
        let count = self.order.len();
        fluid::line(out, "axis", (0.0, y), (1.0, y))?;
        let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
            .into_iter()
            .find(|&step| count <= 10 * step)
            .unwrap_or(count.div_ceil(10));
        for (column, index) in self.order.iter().enumerate().step_by(step) {
            let x = (column as f64 + 0.5) / count as f64;
            fluid::text(out, "tick middle", (x, y + 16.0), 0.0, &(index + 1).to_string())?;
        }
        Ok(())
    }

    /// An invisible column over each clip says in words what its cells show.
    fn write_tooltips(&self, out: &mut Formatter<'_>, height: f64) -> fmt::Result {
        let width = 1.0 / self.order.len().max(1) as f64;
        for (column, &index) in self.order.iter().enumerate() {
            let clip = &self.clips[index];
            let title = format!("Clip {}: {}: {}", index + 1, clip.path, furthest(clip));
            fluid::rect(out, "tooltip", (column as f64 * width, width), (TOP, height), &title)?;
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
            id: "map",
            order: &[0, 1, 2],
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
        let (id, order, views) = ("map", &[0][..], &[View::Mean][..]);
        let chart = HeatMap { id, order, clips: &clips, views, bands, axis: &axis, groups };
        assert!(chart.to_string().contains(">a member</text>"));
        let svg = chart.to_string();
        assert!(svg.contains("heat-unknown") && svg.contains(">2\u{2013}3</text>"));
        assert_well_formed(&svg);
        let nothing = HeatMap {
            id,
            order: &[],
            clips: &[],
            views: &[],
            bands: &[],
            axis: &axis,
            groups: &[],
        };
        assert_well_formed(&nothing.to_string());
    }
}

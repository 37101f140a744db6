//! A clip beside its closest normal clip: two spectrograms and the level between them on one
//! frequency axis, with the bands marked that differ.

use std::{
    fmt::{self, Display, Formatter},
    ops::Range,
};

use auscult::Explanation;
use auscult_page::{
    Scale,
    svg::{Picture, line, shape, text, upright_name},
    tick,
};

use super::{
    WIDTH, close,
    level_bars::{self, LevelBar},
    open,
    spectrogram::{Panel, legend},
};
use crate::{
    ReportSound,
    bands::measure,
    spectrum::Spectrogram,
    text::{hertz, times},
};

/// The chart.
pub(crate) struct Comparison<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    pub(crate) label: &'a str,
    pub(crate) sound: &'a ReportSound,
    pub(crate) explanation: Option<&'a Explanation>,
}

pub(super) const TOP: f64 = 30.0;
pub(super) const BOTTOM: f64 = 290.0;
const HEIGHT: f64 = 354.0;
const FROM: f64 = 52.0;
/// Beyond this, the names of the marked bands stand.
const TO: f64 = 890.0;
const GAP: f64 = 22.0;
const LEVELS_WIDTH: f64 = 200.0;

/// From this many times its normal distance on, a band is marked; the sentences of an explanation
/// start there too.
const DEVIATING: f64 = 1.5;

/// More marks than this hide the picture.
const MOST_MARKS: usize = 4;

impl Display for Comparison<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let rate = self.sound.sample_rate.max(1);
        let half_rate = f64::from(rate) / 2.0;
        let clip = Spectrogram::of(&self.sound.samples, rate);
        let nearest = self.sound.nearest.as_ref().map(|samples| Spectrogram::of(samples, rate));
        let loudest = nearest.iter().map(Spectrogram::loudest).fold(clip.loudest(), f32::max);
        let bars = self.explanation.map(level_bars::level_bars).unwrap_or_default();
        let marked = self.explanation.map(deviating).unwrap_or_default();

        self.open(out, &bars, &marked)?;
        let frequency = Scale::linear((0.0, half_rate), (BOTTOM, TOP));
        frequency_axis(out, &frequency)?;
        let pictures_to = if bars.is_empty() { TO } else { TO - LEVELS_WIDTH - GAP };
        let clip_to = if nearest.is_some() {
            f64::midpoint(FROM, pictures_to) - GAP / 2.0
        } else {
            pictures_to
        };
        let seconds = |samples: usize| samples as f64 / f64::from(rate);
        Panel {
            from: FROM,
            to: clip_to,
            name: "This clip",
            spectrogram: &clip,
            seconds: seconds(self.sound.samples.len()),
            loudest,
        }
        .write(out)?;
        write_marks(out, (FROM, clip_to), &marked, &frequency)?;
        if let (Some(spectrogram), Some(samples)) = (&nearest, &self.sound.nearest) {
            let (from, to) = (clip_to + GAP, pictures_to);
            let seconds = seconds(samples.len());
            Panel { from, to, name: "Closest normal clip", spectrogram, seconds, loudest }
                .write(out)?;
            write_marks(out, (from, to), &marked, &frequency)?;
        }
        if !bars.is_empty() {
            level_bars::write_panel(out, (TO - LEVELS_WIDTH, TO), &bars, &frequency)?;
        }
        write_mark_names(out, &marked, &frequency)?;
        legend(out, self.id, (FROM, HEIGHT - 8.0), nearest.is_some())?;
        close(out)
    }
}

impl Comparison<'_> {
    fn open(&self, out: &mut Formatter<'_>, bars: &[LevelBar], marked: &[Mark]) -> fmt::Result {
        let marks: Vec<String> = marked
            .iter()
            .map(|mark| format!("{} ({})", hertz(&mark.hertz), times(mark.times_normal)))
            .collect();
        let marks = if marks.is_empty() {
            "No band is marked.".to_owned()
        } else {
            let bands = self.explanation.map(|explanation| explanation.bands.as_slice());
            let compares = bands.unwrap_or_default().iter().all(|band| band.reference.is_some());
            let measure = measure(compares);
            format!("Marked bands, with times their normal {measure}: {}.", marks.join(", "))
        };
        open(
            out,
            Picture {
                id: self.id,
                role: "img",
                size: (WIDTH, HEIGHT),
                title: &format!("Spectrogram of {}", self.label),
                details: &format!("{marks} {}", level_bars::describe(bars).unwrap_or_default()),
            },
        )
    }
}

fn frequency_axis(out: &mut Formatter<'_>, scale: &Scale) -> fmt::Result {
    for value in scale.ticks(8) {
        let y = scale.place(value);
        line(out, "axis", (FROM - 4.0, y), (FROM, y))?;
        text(out, "tick end", (FROM - 8.0, y + 4.0), &tick(value / 1000.0))?;
    }
    upright_name(out, (14.0, f64::midpoint(TOP, BOTTOM)), "Frequency, kHz")
}

/// A band that differs.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    hertz: Range<f64>,
    times_normal: f64,
}

impl Mark {
    /// Its lower and upper edge on the page, a little apart from those of the next band.
    fn edges(&self, frequency: &Scale) -> [f64; 2] {
        [frequency.place(self.hertz.start) - 1.5, frequency.place(self.hertz.end) + 1.5]
    }
}

/// The bands that differ, each by its furthest view, ascending; the first ones if there are many.
fn deviating(explanation: &Explanation) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for band in &explanation.bands {
        let (Some(hertz), Some(times_normal)) = (band.hertz.clone(), band.times_normal) else {
            continue;
        };
        // Bands come the furthest first, so the first view seen of a band is its furthest.
        let is_new = marks.iter().all(|mark| mark.hertz != hertz);
        let is_far = times_normal >= DEVIATING && band.modulations.is_empty();
        if is_far && is_new && marks.len() < MOST_MARKS {
            marks.push(Mark { hertz, times_normal });
        }
    }
    marks.sort_by(|a, b| a.hertz.start.total_cmp(&b.hertz.start));
    marks
}

/// Marks the bands on a picture by a bracket at either side: lines across would hide a tone that
/// lies on the edge of a band.
fn write_marks(
    out: &mut Formatter<'_>,
    (from, to): (f64, f64),
    marks: &[Mark],
    frequency: &Scale,
) -> fmt::Result {
    const ARM: f64 = 9.0;
    for (index, mark) in marks.iter().enumerate() {
        let [low, high] = mark.edges(frequency);
        // Overlapping bands have their brackets side by side.
        let inset = 2.0 + 5.0 * (index % 2) as f64;
        let (left, right) = (from + inset, to - inset);
        let path = format!(
            "M{:.1} {low:.1}H{left:.1}V{high:.1}h{ARM}M{:.1} {low:.1}H{right:.1}V{high:.1}h-{ARM}",
            left + ARM,
            right - ARM
        );
        for class in ["band-mark under", "band-mark"] {
            shape(out, "path", class, format_args!("d=\"{path}\""), "")?;
        }
    }
    Ok(())
}

/// Brackets and numbers of the marked bands, right of the last panel.
fn write_mark_names(out: &mut Formatter<'_>, marks: &[Mark], frequency: &Scale) -> fmt::Result {
    const LINE_HEIGHT: f64 = 15.0;
    let mut below = f64::INFINITY;
    for (index, mark) in marks.iter().enumerate() {
        let [low, high] = mark.edges(frequency);
        let x = TO + 8.0 + 6.0 * (index % 2) as f64;
        let left = x - 4.0;
        let path = format_args!("d=\"M{left:.1} {low:.1}H{x:.1}V{high:.1}H{left:.1}\"");
        shape(out, "path", "bracket", path, "")?;
        let y = (f64::midpoint(low, high) + 4.0).min(below - LINE_HEIGHT);
        below = y;
        text(out, "mark-name start", (TO + 20.0, y), &times(mark.times_normal))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_well_formed, sample};

    fn comparison(sound: &ReportSound, explanation: Option<&Explanation>) -> String {
        Comparison { id: "here", label: "a", sound, explanation }.to_string()
    }

    #[test]
    fn both_clips_are_pictures_and_deviating_bands_are_marked_on_both() {
        let sample = sample();
        let clip = &sample.clips[0];
        let svg = comparison(clip.sound.as_ref().unwrap(), clip.explanation.as_ref());
        let marks = deviating(clip.explanation.as_ref().unwrap()).len();
        assert!(marks > 0);
        assert_eq!(svg.matches("<image ").count(), 2);
        assert_eq!(svg.matches("class=\"band-mark\"").count(), 2 * marks);
        assert_eq!(svg.matches("class=\"mark-name").count(), marks);
        assert!(svg.contains("class=\"louder\""));
        assert_well_formed(&svg);
    }

    #[test]
    fn sound_alone_or_no_sound_at_all_can_be_drawn() {
        for samples in [vec![], vec![0.0; 400], vec![f32::NAN; 3_000]] {
            let sound =
                ReportSound { sample_rate: 8_000, samples, nearest: None, nearest_label: None };
            let svg = comparison(&sound, None);
            assert_eq!(svg.matches("<image ").count(), 1);
            assert_well_formed(&svg);
        }
    }
}

//! A clip beside its closest normal clip: two pictures of sound and the levels between them, each a panel of its own, so
//! that they stand side by side on a desk and below each other on a phone.

use std::{
    fmt::{self, Display, Formatter},
    ops::Range,
};

use auscult::Explanation;
use auscult_page::{
    Escaped, Scale, Spacing,
    svg::{Picture, line, shape, text},
};

use super::{PANEL_WIDTH, close, score_range::signed, spectrogram::Panel};
use crate::{
    ReportSound,
    bands::measure,
    difference::{Band, Difference, NOTABLE_DECIBELS, Part, signed_decibels},
    spectrum::Spectrogram,
    text::{hertz, times},
};

/// The chart.
pub(crate) struct Comparison<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    pub(crate) label: &'a str,
    pub(crate) sound: &'a ReportSound,
    pub(crate) difference: Option<&'a Difference>,
    pub(crate) explanation: Option<&'a Explanation>,
}

pub(super) const TOP: f64 = 22.0;
pub(super) const BOTTOM: f64 = 208.0;
pub(super) const HEIGHT: f64 = 246.0;
pub(super) const FROM: f64 = 34.0;
pub(super) const TO: f64 = PANEL_WIDTH - 8.0;

/// From this many times its normal distance on, a band is marked; the sentences of an explanation
/// start there too.
const DEVIATING: f64 = 1.5;

/// More marks than this hide the picture.
const MOST_MARKS: usize = 4;

impl Display for Comparison<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let rate = self.sound.sample_rate.max(1);
        let clip = Spectrogram::of(&self.sound.samples, rate);
        let nearest = self.sound.nearest.as_ref().map(|samples| Spectrogram::of(samples, rate));
        let loudest = nearest.iter().map(Spectrogram::loudest).fold(clip.loudest(), f32::max);
        let marked = self.explanation.map(deviating).unwrap_or_default();
        let frequency = Scale::linear((0.0, f64::from(rate) / 2.0), (BOTTOM, TOP));
        let seconds = |samples: &[f32]| samples.len() as f64 / f64::from(rate);
        writeln!(out, "<div class=\"panels\">")?;
        let panel =
            Panel { spectrogram: &clip, seconds: seconds(&self.sound.samples), frequency, loudest };
        self.write_sound(out, ("clip", "This clip"), &panel, &marked)?;
        if let (Some(spectrogram), Some(samples)) = (&nearest, &self.sound.nearest) {
            let panel = Panel { spectrogram, seconds: seconds(samples), frequency, loudest };
            self.write_sound(out, ("normal", "Closest normal clip"), &panel, &marked)?;
        }
        if let Some(difference) =
            self.difference.filter(|difference| !difference.bands().is_empty())
        {
            self.write_difference(out, difference)?;
        }
        writeln!(out, "</div>")
    }
}

impl Comparison<'_> {
    fn write_sound(
        &self,
        out: &mut Formatter<'_>,
        (which, name): (&str, &str),
        panel: &Panel<'_>,
        marked: &[Mark],
    ) -> fmt::Result {
        let id = format!("{}-{which}", self.id);
        let title = format!("{name}: {}", self.label);
        writeln!(out, "<figure><figcaption>{name}</figcaption>")?;
        let size = (PANEL_WIDTH, HEIGHT);
        Picture { id: &id, role: "img", size, title: &title, details: &self.describe(marked) }
            .open(out)?;
        panel.write(out)?;
        write_marks(out, marked, &panel.frequency)?;
        close(out)?;
        writeln!(out, "</figure>")
    }

    fn describe(&self, marked: &[Mark]) -> String {
        let marks: Vec<String> = marked
            .iter()
            .map(|mark| format!("{} ({})", hertz(&mark.hertz), times(mark.times_normal)))
            .collect();
        if marks.is_empty() {
            return "Picture of sound; no band is marked.".to_owned();
        }
        let bands = self.explanation.map(|explanation| explanation.bands.as_slice());
        let compares = bands.unwrap_or_default().iter().all(|band| band.reference.is_some());
        let measure = measure(compares);
        format!(
            "Picture of sound. Marked bands, with times their normal {measure}: {}.",
            marks.join(", ")
        )
    }

    /// Decibels over frequency, a bar for each third octave.
    fn write_difference(&self, out: &mut Formatter<'_>, difference: &Difference) -> fmt::Result {
        let parts: Vec<String> = difference.parts().iter().map(Part::describe).collect();
        let details = if parts.is_empty() {
            format!("No third octave differs by {NOTABLE_DECIBELS} dB.")
        } else {
            format!("Against the closest normal clip: {}.", parts.join("; "))
        };
        let has_range = difference.bands().iter().any(|band| band.normal.is_some());
        let shaded = if has_range { "; shaded: normal clips" } else { "" };
        let id = format!("{}-difference", self.id);
        let title = format!("Levels of {} against the closest normal clip", self.label);
        writeln!(out, "<figure><figcaption>Louder or quieter{shaded}</figcaption>")?;
        let size = (PANEL_WIDTH, HEIGHT);
        Picture { id: &id, role: "img", size, title: &title, details: &details }.open(out)?;
        write_bars(out, difference)?;
        close(out)?;
        writeln!(out, "</figure>\n<p class=\"visually-hidden\">{}</p>", Escaped(&details))
    }
}

/// Small differences do not fill the panel.
const SMALLEST_RANGE: f64 = 6.0;

/// Round frequencies that are written at the axis.
const FREQUENCIES: [f64; 10] = [50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4];

fn write_bars(out: &mut Formatter<'_>, difference: &Difference) -> fmt::Result {
    let bands = difference.bands();
    let (Some(first), Some(last)) = (bands.first(), bands.last()) else { return Ok(()) };
    let (first, last) = (&first.hertz, &last.hertz);
    let largest =
        bands.iter().map(|band| band.decibels.abs()).fold(SMALLEST_RANGE, f64::max) * 1.08;
    let levels = Scale::linear((-largest, largest), (BOTTOM, TOP));
    let frequency = Scale::new(Spacing::Logarithmic, (first.start, last.end), (FROM, TO));
    for value in levels.ticks(6) {
        let y = levels.place(value);
        line(out, "grid", (FROM, y), (TO, y))?;
        text(out, "tick end", (FROM - 5.0, y + 4.0), &signed(value))?;
    }
    for Band { hertz, decibels, normal } in bands {
        let across = (frequency.place(hertz.start), frequency.place(hertz.end));
        if let Some((low, high)) = normal {
            write_bar(out, "normal-range", across, (levels.place(*high), levels.place(*low)), "")?;
        }
        let class = if *decibels >= 0.0 { "louder" } else { "quieter" };
        let title = format!("{}: {}", self::hertz(hertz), signed_decibels(*decibels));
        write_bar(out, class, across, (levels.place(0.0), levels.place(*decibels)), &title)?;
    }
    line(out, "axis", (FROM, levels.place(0.0)), (TO, levels.place(0.0)))?;
    for value in FREQUENCIES.into_iter().filter(|value| (first.start..last.end).contains(value)) {
        let name = if value < 1e3 { format!("{value}") } else { format!("{}k", value / 1e3) };
        text(out, "tick middle", (frequency.place(value), BOTTOM + 17.0), &name)?;
    }
    text(out, "name start", (2.0, TOP - 8.0), "dB")?;
    text(out, "name end", (TO, HEIGHT - 4.0), "Hz")
}

fn write_bar(
    out: &mut Formatter<'_>,
    class: &str,
    (left, right): (f64, f64),
    (a, b): (f64, f64),
    title: &str,
) -> fmt::Result {
    let inset = if class == "normal-range" { 0.0 } else { (right - left) * 0.18 };
    let place = format_args!(
        "x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"",
        left + inset,
        a.min(b),
        (right - left - 2.0 * inset).max(0.6),
        (a - b).abs().max(0.6)
    );
    shape(out, "rect", class, place, title)
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
fn write_marks(out: &mut Formatter<'_>, marks: &[Mark], frequency: &Scale) -> fmt::Result {
    const ARM: f64 = 7.0;
    for (index, mark) in marks.iter().enumerate() {
        let [low, high] = mark.edges(frequency);
        // Overlapping bands have their brackets side by side.
        let inset = 2.0 + 5.0 * (index % 2) as f64;
        let (left, right) = (FROM + inset, TO - inset);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        difference::ThirdOctaves,
        testing::{assert_well_formed, sample},
    };

    fn comparison(
        sound: &ReportSound,
        difference: Option<&Difference>,
        explanation: Option<&Explanation>,
    ) -> String {
        Comparison { id: "here", label: "a", sound, difference, explanation }.to_string()
    }

    #[test]
    fn both_clips_are_pictures_with_the_same_marks_and_levels_are_bars() {
        let sample = sample();
        let clip = &sample.clips[0];
        let sound = clip.sound.as_ref().unwrap();
        let svg = comparison(sound, clip.difference.as_ref(), clip.explanation.as_ref());
        let marks = deviating(clip.explanation.as_ref().unwrap()).len();
        assert!(marks > 0);
        assert_eq!(svg.matches("<image ").count(), 2);
        assert_eq!(svg.matches("class=\"band-mark\"").count(), 2 * marks);
        assert!(svg.contains("class=\"louder\""));
        assert!(svg.contains("Against the closest normal clip: +"));
        assert_well_formed(&svg);
    }

    #[test]
    fn sound_alone_or_no_sound_at_all_can_be_drawn() {
        for samples in [vec![], vec![0.0; 400], vec![f32::NAN; 3_000]] {
            let octaves = ThirdOctaves::of(&samples, 8_000);
            let sound =
                ReportSound { sample_rate: 8_000, samples, nearest: None, nearest_label: None };
            let svg = comparison(&sound, Some(&octaves.against(&octaves, None)), None);
            assert_eq!(svg.matches("<image ").count(), 1);
            assert_well_formed(&svg);
        }
    }
}

//! How fast which part of the spectrum beats in a clip, against its closest normal clip.

use std::{
    fmt::{self, Display, Formatter},
    ops::Range,
};

use auscult::{
    ClipSettings, ClipVectors, FrontEnd, FrontEndSettings, View,
    explain::{Explanation, ModulationDifference},
    features::Axis,
};
use auscult_page::{
    Scale,
    svg::{Picture, line, shape, text},
    tick,
};

use super::{close, spectrogram::PALETTE};
use crate::{ReportSound, encode::png_address, text::hertz};

/// The chart: carriers by modulation rate, brighter where the clip beats more than the other one.
pub(crate) struct ModulationMap<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    /// What the clip is called.
    label: &'a str,
    /// The lines that differ most, of the explanation.
    lines: &'a [ModulationDifference],
    axis: Axis,
    /// Decibels of the clip's modulation over the normal one's, carrier by carrier.
    growth: Vec<f64>,
}

const WIDTH: f64 = 360.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 200.0;
const HEIGHT: f64 = 240.0;
const FROM: f64 = 104.0;
const TO: f64 = 344.0;

/// The brightest colour: ten times the normal modulation.
const SPAN_DECIBELS: f64 = 20.0;

impl<'a> ModulationMap<'a> {
    /// The picture of a clip whose explanation has modulations; `None` without them, or without a
    /// normal clip to compare with.
    pub(crate) fn of(
        (id, label): (&'a str, &'a str),
        sound: &ReportSound,
        explanation: Option<&'a Explanation>,
    ) -> Option<Self> {
        let bands = explanation.map(|explanation| explanation.bands.as_slice())?;
        let lines = bands.iter().find(|band| !band.modulations.is_empty())?.modulations.as_slice();
        let nearest = sound.nearest.as_ref()?;
        let seconds = sound.samples.len() as f64 / f64::from(sound.sample_rate);
        let length = ClipSettings { sample_rate: sound.sample_rate, seconds }.check().ok()?;
        let settings = FrontEndSettings::named("modulation", None).ok()?;
        let front_end = settings.build(length).ok()?;
        let [clip, normal] = [&sound.samples, nearest].map(|samples| vector(&*front_end, samples));
        let growth = clip?.into_iter().zip(normal?).map(|(clip, normal)| growth(clip, normal));
        Some(Self { id, label, lines, growth: growth.collect(), axis: front_end.axis().clone() })
    }

    /// The carriers and how many rates each has.
    fn carriers(&self) -> (usize, usize) {
        let whole = self.axis.hertz(0..1);
        let rates =
            (1..=self.axis.len()).take_while(|&end| self.axis.hertz(0..end) == whole).count();
        (self.axis.len() / rates.max(1), rates)
    }

    fn rates(&self) -> Range<f64> {
        self.axis.rates(0..self.axis.len()).unwrap_or(0.0..1.0)
    }

    /// The place of a carrier, the highest at the top.
    fn carrier_place(&self, carrier: usize) -> Range<f64> {
        let (carriers, _) = self.carriers();
        let height = (BOTTOM - TOP) / carriers as f64;
        let top = TOP + height * (carriers - 1 - carrier) as f64;
        top..top + height
    }

    /// The lines that are stronger than normal, the largest difference first.
    fn grown(&self) -> impl Iterator<Item = &ModulationDifference> {
        self.lines.iter().filter(|line| line.times > 1.0)
    }

    fn write_marks(&self, out: &mut Formatter<'_>, scale: &Scale) -> fmt::Result {
        let (carriers, rates) = self.carriers();
        for line in self.grown() {
            let is_it = |&at: &usize| {
                self.axis.hertz(at * rates..at * rates + 1).as_ref() == Some(&line.hertz)
            };
            let Some(carrier) = (0..carriers).find(is_it) else { continue };
            let (place, x) = (self.carrier_place(carrier), scale.place(line.rate));
            let frame = format_args!(
                "x=\"{:.1}\" y=\"{:.1}\" width=\"10\" height=\"{:.1}\" fill=\"none\"",
                x - 5.0,
                place.start - 1.0,
                place.end - place.start + 2.0
            );
            for class in ["band-mark under", "band-mark"] {
                shape(out, "rect", class, frame, &name(line))?;
            }
        }
        Ok(())
    }
}

impl Display for ModulationMap<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (carriers, rates) = self.carriers();
        let grown: Vec<String> = self.grown().map(name).collect();
        let details = if grown.is_empty() {
            "No line is stronger than in the closest normal clip.".to_owned()
        } else {
            format!("Marked lines: {}.", grown.join("; "))
        };
        let title = format!("How fast which part of the spectrum beats in {}", self.label);
        let size = (WIDTH, HEIGHT);
        Picture { id: self.id, role: "img", size, title: &title, details: &details }.open(out)?;
        let cell =
            |decibels: &f64| ((decibels / SPAN_DECIBELS).clamp(0.0, 1.0) * 255.0).round() as u8;
        let cells: Vec<u8> = self.growth.chunks(rates.max(1)).rev().flatten().map(cell).collect();
        let picture = png_address(&cells, rates, &PALETTE);
        let place = format_args!(
            "x=\"{FROM:.1}\" y=\"{TOP:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             preserveAspectRatio=\"none\" href=\"{picture}\"",
            TO - FROM,
            BOTTOM - TOP
        );
        shape(out, "image", "spectrogram", place, "")?;
        for carrier in (0..carriers).step_by(3) {
            let place = self.carrier_place(carrier);
            let range = self.axis.hertz(carrier * rates..carrier * rates + 1);
            let label = range.as_ref().map(hertz).unwrap_or_default();
            let y = f64::midpoint(place.start, place.end) + 4.0;
            text(out, "tick end", (FROM - 6.0, y), &label)?;
        }
        let span = self.rates();
        let scale = Scale::linear((span.start, span.end), (FROM, TO));
        for value in scale.ticks(6) {
            let x = scale.place(value);
            line(out, "axis", (x, BOTTOM), (x, BOTTOM + 4.0))?;
            text(out, "tick middle", (x, BOTTOM + 17.0), &tick(value))?;
        }
        let middle = f64::midpoint(FROM, TO);
        text(out, "name middle", (middle, BOTTOM + 34.0), "Times a second")?;
        self.write_marks(out, &scale)?;
        close(out)
    }
}

/// What a line is called: `23 a second in 2.42-3.10 kHz, 8.0 times`.
fn name(line: &ModulationDifference) -> String {
    let times =
        if line.times > 100.0 { "new".to_owned() } else { format!("{:.1}\u{d7}", line.times) };
    format!("{:.0} a second in {}, {times}", line.rate, hertz(&line.hertz))
}

/// How many decibels one modulation is above another; nothing where there is none to speak of.
fn growth(clip: f32, normal: f32) -> f64 {
    let (clip, normal) = (f64::from(clip), f64::from(normal).max(1e-6));
    20.0 * (clip.max(1e-6) / normal).log10()
}

fn vector(front_end: &dyn FrontEnd, samples: &[f32]) -> Option<Vec<f32>> {
    let mut vectors = ClipVectors::for_front_end(front_end);
    front_end.extractor().extract_into(samples, &mut vectors).ok()?;
    vectors.view(View::Mean).map(<[f32]>::to_vec)
}

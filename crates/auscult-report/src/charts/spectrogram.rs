//! The picture of a spectrogram with its time axis, one panel of a comparison.

use std::{
    fmt::{self, Formatter},
    sync::LazyLock,
};

use auscult_page::{
    Scale,
    svg::{line, shape, text},
    tick,
};

use super::comparison::{BOTTOM, FROM, HEIGHT, TO, TOP};
use crate::{
    encode::{Palette, png_address},
    spectrum::Spectrogram,
};

/// The colours span this many decibels below the loudest cell.
pub(super) const SPAN_DECIBELS: f32 = 70.0;

/// A picture of sound with its axes.
pub(super) struct Panel<'a> {
    pub(super) spectrogram: &'a Spectrogram,
    pub(super) seconds: f64,
    /// From hertz to places.
    pub(super) frequency: Scale,
    /// The level of the brightest colour.
    pub(super) loudest: f32,
}

impl Panel<'_> {
    pub(super) fn write(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { spectrogram, seconds, frequency, loudest } = self;
        let picture = png_address(&cells(spectrogram, *loudest), spectrogram.columns, &PALETTE);
        let place = format_args!(
            "x=\"{FROM:.1}\" y=\"{TOP:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             preserveAspectRatio=\"none\" href=\"{picture}\"",
            TO - FROM,
            BOTTOM - TOP
        );
        shape(out, "image", "spectrogram", place, "")?;
        for value in frequency.ticks(8) {
            let y = frequency.place(value);
            text(out, "tick end", (FROM - 6.0, y + 4.0), &tick(value / 1000.0))?;
        }
        let scale = Scale::linear((0.0, *seconds), (FROM, TO));
        for value in scale.ticks(5) {
            let x = scale.place(value);
            line(out, "axis", (x, BOTTOM), (x, BOTTOM + 4.0))?;
            text(out, "tick middle", (x, BOTTOM + 17.0), &tick(value))?;
        }
        text(out, "name start", (2.0, TOP - 8.0), "kHz")?;
        text(out, "name end", (TO, HEIGHT - 4.0), "seconds")
    }
}

/// The values of the picture, from its top row, the highest frequency, down.
fn cells(spectrogram: &Spectrogram, loudest: f32) -> Vec<u8> {
    let value = |&decibels: &f32| {
        let share = 1.0 + (decibels - loudest) / SPAN_DECIBELS;
        (share.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    spectrogram.decibels.chunks(spectrogram.columns.max(1)).rev().flatten().map(value).collect()
}

/// Colours from quiet to loud, evenly spaced: ever lighter, so that they survive a grey printer.
const ANCHORS: [[u8; 3]; 6] =
    [[0, 0, 4], [59, 15, 112], [140, 41, 129], [222, 73, 104], [254, 159, 109], [252, 253, 191]];

pub(super) static PALETTE: LazyLock<Palette> = LazyLock::new(|| {
    std::array::from_fn(|value| {
        let place = value as f32 / 255.0 * (ANCHORS.len() - 1) as f32;
        let left = (place as usize).min(ANCHORS.len() - 2);
        let share = place - left as f32;
        std::array::from_fn(|channel| {
            let [from, to] = [left, left + 1].map(|at| f32::from(ANCHORS[at][channel]));
            (from + share * (to - from)).round() as u8
        })
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_run_from_the_highest_frequency_down_and_keep_to_the_span() {
        let spectrogram =
            Spectrogram { columns: 2, rows: 2, decibels: vec![0.0, -70.0, -35.0, -200.0] };
        assert_eq!(cells(&spectrogram, 0.0), [128, 0, 255, 0]);
    }

    #[test]
    fn colours_grow_ever_lighter() {
        let lightness = |[red, green, blue]: [u8; 3]| {
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)
        };
        assert!(PALETTE.windows(2).all(|pair| lightness(pair[0]) <= lightness(pair[1]) + 0.8));
        assert_eq!((PALETTE[0], PALETTE[255]), (ANCHORS[0], ANCHORS[5]));
    }
}

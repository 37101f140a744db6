//! How a run goes: a line a step, as a table and as a picture.

use std::{
    fmt::{self, Write},
    path::Path,
};

use auscult_page::{
    Scale,
    svg::{self, polyline, shape, text},
    tick,
};

use crate::{Error, Result};

/// One update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepFacts {
    /// Which one, from 1.
    pub step: usize,
    /// Mean ArcFace loss of its clips.
    pub loss: f64,
    /// Share of its clips whose nearest class is theirs.
    pub accuracy: f64,
    /// Its step size.
    pub learning_rate: f64,
    /// The length of its gradient, before it was shortened.
    pub gradient: f64,
    /// Seconds of work since the run began, pauses between continuations left out.
    pub seconds: f64,
}

/// A line a step, for millions of steps.
const LARGEST_BYTES: u64 = 1 << 30;

const HEADER: &str = "step,loss,accuracy,learning_rate,gradient,seconds";

/// The curve as CSV; numbers are read back to the bit.
pub(super) fn to_csv(curve: &[StepFacts]) -> String {
    let mut text = format!("{HEADER}\n");
    for facts in curve {
        let StepFacts { step, loss, accuracy, learning_rate, gradient, seconds } = facts;
        let _ = writeln!(text, "{step},{loss},{accuracy},{learning_rate},{gradient},{seconds:.3}");
    }
    text
}

/// The first `steps` lines of a curve.
pub(super) fn read(path: &Path, steps: usize) -> Result<Vec<StepFacts>> {
    let wrong = |reason: String| Error::File { path: path.to_owned(), reason };
    let advice = "put it back, or remove checkpoint.safetensors beside it to begin again";
    let text = auscult_files::read_text_at_most(path, LARGEST_BYTES)
        .map_err(|error| wrong(format!("{error}; {advice}")))?;
    let line = |line: &str| {
        let numbers: Option<Vec<f64>> = line.split(',').map(|part| part.parse().ok()).collect();
        let &[step, loss, accuracy, learning_rate, gradient, seconds] = numbers?.as_slice() else {
            return None;
        };
        Some(StepFacts { step: step as usize, loss, accuracy, learning_rate, gradient, seconds })
    };
    let curve: Option<Vec<StepFacts>> = text.lines().skip(1).take(steps).map(line).collect();
    match curve {
        Some(curve) if curve.len() == steps => Ok(curve),
        _ => Err(wrong(format!(
            "it is not a table of the {steps} steps before the checkpoint; {advice}"
        ))),
    }
}

/// One of a step's numbers.
type Number = fn(&StepFacts) -> f64;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 70.0;
/// More points than pixels show nothing.
const MOST_POINTS: usize = 720;

/// Loss, accuracy and step size over updates, one above the other.
pub(super) fn to_svg(curve: &[StepFacts]) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_svg(&mut out, curve);
    out
}

fn write_svg(out: &mut String, curve: &[StepFacts]) -> fmt::Result {
    let panels: [(&str, Number); 3] = [
        ("ArcFace loss", |facts| facts.loss),
        ("accuracy", |facts| facts.accuracy),
        ("learning rate", |facts| facts.learning_rate),
    ];
    let total = HEIGHT * panels.len() as f64 + 30.0;
    svg::open_file(out, "Loss, accuracy and step size", (WIDTH + LEFT + 20.0, total))?;
    for (at, (name, value)) in panels.into_iter().enumerate() {
        panel(out, curve, name, value, at as f64 * HEIGHT)?;
    }
    let last = curve.last().map_or(0, |facts| facts.step);
    text(out, "tick", (LEFT, total - 10.0), "step 1")?;
    text(out, "tick end", (LEFT + WIDTH, total - 10.0), &format!("step {last}"))?;
    svg::close(out)
}

fn panel(
    out: &mut String,
    curve: &[StepFacts],
    name: &str,
    value: Number,
    top: f64,
) -> fmt::Result {
    let low = curve.iter().map(value).fold(f64::INFINITY, f64::min);
    let high = curve.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
    let (head, body) = (top + 20.0, HEIGHT - 40.0);
    let x = Scale::linear((0.0, curve.len().saturating_sub(1) as f64), (LEFT, LEFT + WIDTH));
    let y = Scale::linear((low, high), (head + body, head));
    text(out, "name", (LEFT, head - 6.0), name)?;
    let place = format_args!("x=\"{LEFT}\" y=\"{head}\" width=\"{WIDTH}\" height=\"{body}\"");
    shape(out, "rect", "frame", place, "")?;
    if !curve.is_empty() {
        text(out, "tick end", (LEFT - 6.0, head + 6.0), &tick(high))?;
        text(out, "tick end", (LEFT - 6.0, head + body), &tick(low))?;
    }
    let stride = curve.len().div_ceil(MOST_POINTS).max(1);
    let points = curve.iter().enumerate().step_by(stride);
    polyline(out, "s0", points.map(|(at, facts)| (x.place(at as f64), y.place(value(facts)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(count: usize) -> Vec<StepFacts> {
        (1..=count)
            .map(|step| StepFacts {
                step,
                loss: 30.0 / step as f64 + 0.1,
                accuracy: 1.0 - 1.0 / step as f64,
                learning_rate: 1e-4 / 3.0 * step as f64,
                gradient: 2.5,
                seconds: step as f64,
            })
            .collect()
    }

    #[test]
    fn a_curve_is_read_back_to_the_bit_up_to_a_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("curve.csv");
        std::fs::write(&path, to_csv(&curve(7))).unwrap();
        assert_eq!(read(&path, 5).unwrap(), curve(5));
        assert!(read(&path, 8).is_err(), "fewer lines than steps");
        std::fs::write(&path, "step\nnonsense").unwrap();
        assert!(read(&path, 1).unwrap_err().to_string().contains("curve.csv"));
    }

    #[test]
    fn a_picture_has_a_line_for_each_number() {
        for count in [0, 1, 3, 5000] {
            let svg = to_svg(&curve(count));
            assert_eq!(svg.matches("<polyline").count(), 3);
            assert!(svg.contains(&format!("step {count}<")) && !svg.contains("NaN"));
            assert!(svg.len() < 60_000);
        }
    }
}

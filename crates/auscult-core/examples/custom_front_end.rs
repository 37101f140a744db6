//! A front end of one's own: octave-band levels. The back end takes it like any other.
//!
//! `cargo run -p auscult-core --example custom_front_end`

use auscult_core::{
    BandSettings, BeamSettings, ClipVectors, Extractor, FrontEnd, FrontEndIdentity, Method,
    Provenance, References, Result, View,
    features::{Axis, Level},
};

/// Mean level between successive differences of the signal: a crude bank of octave filters.
#[derive(Debug)]
struct Octaves {
    axis: Axis,
}

const OCTAVES: usize = 6;
const FRAME: usize = 1024;

impl Octaves {
    fn new() -> Self {
        let edges = (0..=OCTAVES).map(|octave| 8_000.0 / f64::from(1_u32 << (OCTAVES - octave)));
        Self { axis: Axis::frequency(edges.collect(), Level::NaturalLogPower) }
    }
}

impl FrontEnd for Octaves {
    fn identity(&self) -> FrontEndIdentity {
        FrontEndIdentity { name: "octaves".to_owned(), settings: serde_json::Value::Null }
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean, View::Max]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(2)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(OctaveExtractor { signal: Vec::with_capacity(FRAME), levels: [0.0; OCTAVES] })
    }
}

struct OctaveExtractor {
    signal: Vec<f32>,
    levels: [f32; OCTAVES],
}

impl Extractor for OctaveExtractor {
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        for frame in samples.chunks_exact(FRAME) {
            self.signal.clear();
            self.signal.extend_from_slice(frame);
            // The highest octave first: halve the rate by averaging pairs, keep what was lost.
            for level in self.levels.iter_mut().rev() {
                let mut energy = 1e-9;
                for pair in 0..self.signal.len() / 2 {
                    let (left, right) = (self.signal[2 * pair], self.signal[2 * pair + 1]);
                    energy += (left - right).powi(2);
                    self.signal[pair] = f32::midpoint(left, right);
                }
                self.signal.truncate(self.signal.len() / 2);
                *level = energy.ln();
            }
            sink(&self.levels);
        }
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<()> {
    let tone =
        |radians: f32| -> Vec<f32> { (0..16_000).map(|i| (i as f32 * radians).sin()).collect() };
    let front_end = Octaves::new();
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&front_end);
    let mut references = References::for_front_end(&front_end);
    for step in 0..10 {
        extractor.extract_into(&tone(0.1 + step as f32 * 1e-3), &mut vectors)?;
        references.push(&vectors, Provenance::of(format!("tone {step}")))?;
    }
    let settings = BeamSettings::paper(Method::AdaBeam, &front_end);
    let fitted = settings.check(front_end.axis().len())?.fit(references)?;
    for radians in [0.1045, 1.3] {
        extractor.extract_into(&tone(radians), &mut vectors)?;
        println!("tone at {radians} rad/sample: score {:.3}", fitted.score(&vectors)?.value);
    }
    Ok(())
}

//! A front end of one's own: octave-band levels. Learning, scoring, reasons and model files take it like any other.
//!
//! `cargo run -p auscult --example custom_front_end -- recordings/ octaves.auscult`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use auscult::{
    BandSettings, ClipLength, Extractor, FrontEnd, FrontEndChoice, FrontEndIdentity, FrontEnds,
    Learn, Machine, Sources, View,
    core::Result,
    features::{Axis, FrontEndSource, Level},
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
        FrontEndIdentity::of("octaves")
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

/// Who opens a model gets the front end from here.
#[derive(Debug)]
struct OctaveSource;

impl FrontEndSource for OctaveSource {
    fn names(&self) -> Vec<String> {
        vec!["octaves".to_owned()]
    }

    fn build(&self, _: &FrontEndIdentity, _: ClipLength) -> Result<Arc<dyn FrontEnd>> {
        Ok(Arc::new(Octaves::new()))
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [recordings, model] = arguments.as_slice() else {
        return Err("give the folder of normal recordings and the model to write".into());
    };
    let front_end = FrontEndChoice::Custom(Arc::new(Octaves::new()));
    let learn = Learn { front_end, ..Learn::default() };
    Machine::learn(recordings.as_str(), &learn)?.save(model)?;

    let front_ends = FrontEnds::standard().with(Arc::new(OctaveSource));
    let machine = Machine::open_with(model, &front_ends)?;
    for clip in machine.listen(Sources::of([recordings])?) {
        let clip = clip?;
        println!("{}: {}; {}", clip.name(), clip.verdict(), clip.reason());
    }
    Ok(())
}

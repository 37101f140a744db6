//! Vectors of normal clips from visits that resemble themselves more than each other.

use crate::random::Random;
use auscult_core::{ClipVectors, Provenance, References, View};

/// Positions of the feature axis.
pub const AXIS: usize = 32;

/// Clips of one visit differ by this share of what visits differ by.
const WITHIN: f64 = 0.4;

/// A source of visits.
#[derive(Debug)]
pub struct Visits {
    random: Random,
}

impl Visits {
    /// Visits of one repetition.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    /// The clips of one visit: a log-spectrum, the visit's colour, and each clip's own noise.
    pub fn visit(&mut self, clips: usize) -> Vec<ClipVectors> {
        // A visit is louder or quieter overall in smoothly varying bands: microphone and room.
        let colour: Vec<f64> = (0..4).map(|_| self.random.normal()).collect();
        let strength = (0.5 * self.random.normal()).exp();
        (0..clips)
            .filter_map(|_| {
                let vector = (0..AXIS).map(|position| {
                    let shape = 12.0 + 3.0 * (position as f64 * 0.3).sin();
                    let visit =
                        0.3 * strength * colour[position * 4 / AXIS] * (position as f64).cos();
                    (shape + visit + 0.3 * WITHIN * self.random.normal()) as f32
                });
                ClipVectors::from_views(vec![(View::Mean, vector.collect())]).ok()
            })
            .collect()
    }

    /// References from visits of `clips_per_visit` clips.
    pub fn references(&mut self, clips: usize, clips_per_visit: usize) -> References {
        let mut references = References::new(&[View::Mean], AXIS);
        for visit in 0..clips.div_ceil(clips_per_visit) {
            let left = clips - references.len();
            for clip in self.visit(clips_per_visit.min(left)) {
                let name = format!("visit {visit} clip {}", references.len());
                let provenance =
                    Provenance { visit: Some(format!("visit {visit}")), ..Provenance::of(name) };
                // The vectors have the set's length and view.
                let pushed = references.push(&clip, provenance);
                debug_assert!(pushed.is_ok());
            }
        }
        references
    }
}

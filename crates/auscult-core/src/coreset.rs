//! Bounded memory: a subset of the references that covers the rest.

use crate::{Beam, References, Result, View, memory::BandMemory, parallel};

impl Beam {
    /// The indices, ascending, of `count` references that cover the others best: k-centre greedy
    /// on the mean band distance over all views.
    ///
    /// Starts at the first reference and takes the one furthest from all chosen, the smaller index
    /// among equals, so the same references in the same order give the same choice. All indices if
    /// there are not more than `count`.
    ///
    /// # Errors
    ///
    /// If the references do not suit the detector.
    pub fn coreset(&self, references: &References, count: usize) -> Result<Vec<usize>> {
        let views = self.prepare(references)?;
        if references.len() <= count {
            return Ok((0..references.len()).collect());
        }
        let units: Vec<Vec<f64>> =
            views.iter().map(|(view, memories)| self.units(references, *view, memories)).collect();
        let distance = |from: usize, to: usize| -> f64 {
            let of_view = |(at, (view, memories)): (usize, &(_, Vec<BandMemory>))| -> f64 {
                let matrix = references.matrix(*view).unwrap_or_default();
                let of_band = |(memory, unit): (&BandMemory, &f64)| {
                    memory.distance(matrix, references.axis_len(), from, to) / unit
                };
                memories.iter().zip(&units[at]).map(of_band).sum()
            };
            views.iter().enumerate().map(of_view).sum()
        };
        let mut chosen = Vec::with_capacity(count);
        let mut nearest = vec![f64::INFINITY; references.len()];
        let mut next = 0;
        while chosen.len() < count {
            chosen.push(next);
            let updated = parallel::map(
                nearest.len(),
                || (),
                |(), index| nearest[index].min(distance(next, index)),
            );
            nearest = updated;
            // A chosen reference never comes again, even if all others are its duplicates.
            nearest[next] = f64::NEG_INFINITY;
            next = furthest(&nearest);
        }
        chosen.sort_unstable();
        Ok(chosen)
    }
}

impl Beam {
    /// What a distance in each band is divided by. Distances of one kind are added as they are;
    /// bands that are compared in different ways are measured by the mean distance from the first
    /// reference.
    fn units(&self, references: &References, view: View, memories: &[BandMemory]) -> Vec<f64> {
        if !self.has_different_distances() {
            return vec![1.0; memories.len()];
        }
        let matrix = references.matrix(view).unwrap_or_default();
        let unit = |(): &mut (), band: usize| {
            let distance = |to| memories[band].distance(matrix, references.axis_len(), 0, to);
            let mean = (0..references.len()).map(distance).sum::<f64>() / references.len() as f64;
            if mean > 0.0 { mean } else { 1.0 }
        };
        parallel::map(memories.len(), || (), unit)
    }
}

fn furthest(distances: &[f64]) -> usize {
    let better =
        |best: usize, next: usize| if distances[next] > distances[best] { next } else { best };
    (0..distances.len()).reduce(better).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::{BandSettings, BeamSettings, ClipVectors, Provenance, References, View};

    fn references(angles: &[f32]) -> References {
        let mut references = References::new(&[View::Mean], 2);
        for angle in angles {
            let vector = vec![angle.cos(), angle.sin()];
            let clip = ClipVectors::from_views(vec![(View::Mean, vector)]).unwrap();
            references.push(&clip, Provenance::of(angle.to_string())).unwrap();
        }
        references
    }

    #[test]
    fn the_furthest_are_kept_and_near_duplicates_go() {
        let beam = BeamSettings::new(BandSettings::Whole, vec![View::Mean]).check(2).unwrap();
        let references = references(&[0.0, 0.01, 1.0, 1.01, 2.0]);
        assert_eq!(beam.coreset(&references, 3).unwrap(), [0, 2, 4]);
        assert_eq!(beam.coreset(&references, 9).unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn duplicates_do_not_repeat_an_index() {
        let beam = BeamSettings::new(BandSettings::Whole, vec![View::Mean]).check(2).unwrap();
        assert_eq!(beam.coreset(&references(&[0.5; 6]), 4).unwrap(), [0, 1, 2, 3]);
    }
}

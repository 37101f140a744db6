//! The map behind the scaled distance: how far is far, dimension by dimension.
//!
//! A band is made unit length; then every dimension is divided by the spread the references have in
//! it, softened by half the mean variance so that quiet dimensions do not shout. The distance is
//! the squared Euclidean one of what comes out. The map is learnt from the references and belongs to
//! the memory: another memory has another map.

/// What the scaled distance does to a band before it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScaledMap {
    /// Mean of the unit vectors. It changes no distance; numbers around zero lose fewer digits.
    centres: Vec<f64>,
    /// What each dimension is multiplied with.
    weights: Vec<f64>,
}

/// The share of the mean variance that is added to every dimension's own.
const SOFTENING: f64 = 0.5;

/// Less than f32 can tell apart in a unit vector: such references are identical.
const SMALLEST_VARIANCE: f64 = 1e-30;

impl ScaledMap {
    /// Learns the map of one band from the references' values in it.
    ///
    /// References that do not differ at all leave nothing to scale by: the map only makes lengths 1.
    pub(crate) fn of<'a>(width: usize, rows: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let count = rows.clone().count().max(1) as f64;
        let mut centres = vec![0.0; width];
        for row in rows.clone() {
            let factor = unit_factor(row);
            for (centre, &value) in centres.iter_mut().zip(row) {
                *centre += f64::from(value) * factor;
            }
        }
        for centre in &mut centres {
            *centre /= count;
        }
        let mut variances = vec![0.0; width];
        for row in rows {
            let factor = unit_factor(row);
            for ((variance, &value), centre) in variances.iter_mut().zip(row).zip(&centres) {
                let offset = f64::from(value) * factor - centre;
                *variance += offset * offset;
            }
        }
        for variance in &mut variances {
            *variance /= count;
        }
        let mean = variances.iter().sum::<f64>() / width.max(1) as f64;
        let weight = |variance: f64| {
            let softened = variance + SOFTENING * mean;
            if softened >= SMALLEST_VARIANCE { 1.0 / softened.sqrt() } else { 1.0 }
        };
        Self { weights: variances.into_iter().map(weight).collect(), centres }
    }

    /// Puts a map together from what a model file holds; `None` if it could not have been learnt.
    pub(crate) fn from_parts(centres: &[f64], weights: &[f64]) -> Option<Self> {
        let usable = centres.len() == weights.len()
            && centres.iter().all(|centre| centre.is_finite())
            && weights.iter().all(|&weight| weight.is_finite() && weight > 0.0);
        usable.then(|| Self { centres: centres.to_vec(), weights: weights.to_vec() })
    }

    /// Mean of the references' unit vectors, and what each dimension is multiplied with.
    pub(crate) fn parts(&self) -> (&[f64], &[f64]) {
        (&self.centres, &self.weights)
    }

    /// Appends the mapped form of a band to `mapped`.
    pub(crate) fn append(&self, band: &[f32], mapped: &mut Vec<f32>) {
        let factor = unit_factor(band);
        let places = band.iter().zip(&self.centres).zip(&self.weights);
        mapped.extend(places.map(|((&value, centre), weight)| {
            ((f64::from(value) * factor - centre) * weight) as f32
        }));
    }
}

/// 1 / |v|, 0 for a zero vector.
fn unit_factor(vector: &[f32]) -> f64 {
    crate::distance::Metric::UnitEuclidean.factor(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(map: &ScaledMap, band: &[f32]) -> Vec<f32> {
        let mut out = Vec::new();
        map.append(band, &mut out);
        out
    }

    #[test]
    fn every_dimension_is_divided_by_its_softened_spread() {
        let rows = [[3.0_f32, 4.0], [4.0, 3.0], [0.6, 0.8]];
        let map = ScaledMap::of(2, rows.iter().map(<[f32; 2]>::as_slice));
        // Unit vectors (0.6, 0.8), (0.8, 0.6), (0.6, 0.8): both variances are 0.08 / 9.
        let variance: f64 = 0.08 / 9.0;
        let expected = 0.2 / (1.5 * variance).sqrt();
        let (first, second) = (mapped(&map, &rows[0]), mapped(&map, &rows[1]));
        assert!((f64::from(second[0] - first[0]) - expected).abs() < 1e-6);
        assert!((f64::from(second[1] - first[1]) + expected).abs() < 1e-6);
        assert_eq!(first, mapped(&map, &[30.0, 40.0]), "length does not count");
    }

    #[test]
    fn what_never_varies_stays_finite() {
        let rows = [[0.0_f32, 0.0, 0.0], [0.0, 0.0, 0.0]];
        let map = ScaledMap::of(3, rows.iter().map(<[f32; 3]>::as_slice));
        assert_eq!(mapped(&map, &[0.0; 3]), [0.0; 3]);
        assert_eq!(mapped(&map, &[0.0, 2.0, 0.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_map_that_cannot_be_is_refused() {
        assert!(ScaledMap::from_parts(&[0.0], &[1.0]).is_some());
        for weights in [[0.0], [-1.0], [f64::NAN], [f64::INFINITY]] {
            assert!(ScaledMap::from_parts(&[0.0], &weights).is_none());
        }
        assert!(ScaledMap::from_parts(&[0.0, 0.0], &[1.0]).is_none());
    }
}

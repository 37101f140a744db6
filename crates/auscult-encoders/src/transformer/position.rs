//! BEATs' relative position bias: buckets of distances, as in T5.

/// One value a bucket and head.
#[derive(Debug)]
pub(crate) struct RelativeBias {
    /// `buckets` rows of `heads` values.
    pub(crate) table: Vec<f32>,
    pub(crate) heads: usize,
    pub(crate) buckets: usize,
    pub(crate) max_distance: usize,
}

impl RelativeBias {
    /// Fills `out` with, for each head, the bias of distances `1 - count ..= count - 1`.
    pub(crate) fn prepare(&self, count: usize, out: &mut Vec<f32>) {
        out.clear();
        let span = count.cast_signed() - 1;
        for head in 0..self.heads {
            out.extend(
                (-span..=span)
                    .map(|distance| self.table[self.bucket(distance) * self.heads + head]),
            );
        }
    }

    fn bucket(&self, distance: isize) -> usize {
        relative_bucket(distance, self.buckets, self.max_distance)
    }
}

/// The bucket of a distance (key minus query) among BEATs' relative positions.
///
/// Half of the buckets for each direction; in each, half for exact distances, the rest in
/// logarithmic steps up to the largest distance.
pub fn relative_bucket(distance: isize, buckets: usize, max_distance: usize) -> usize {
    let half = buckets / 2;
    let offset = if distance > 0 { half } else { 0 };
    let distance = distance.unsigned_abs();
    let exact = half / 2;
    if distance < exact {
        return offset + distance;
    }
    // In f32 and in this order, as the official code does it: buckets at the edges depend on it.
    let scale = (max_distance as f64 / exact as f64).ln() as f32;
    let steps = (distance as f32 / exact as f32).ln() / scale * (half - exact) as f32;
    offset + (exact + steps as usize).min(half - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_are_exact_and_far_ones_share() {
        let bias = RelativeBias { table: Vec::new(), heads: 1, buckets: 320, max_distance: 800 };
        assert_eq!(bias.bucket(0), 0);
        assert_eq!(bias.bucket(-79), 79);
        assert_eq!(bias.bucket(1), 161);
        assert_eq!(bias.bucket(-80), 80);
        assert_eq!(bias.bucket(-800), 159);
        assert_eq!(bias.bucket(5000), 319);
        assert!(bias.bucket(-200) < bias.bucket(-300));
    }
}

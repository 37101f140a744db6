//! Cutting a map of features into square patches.

/// Patches are squares of this side.
pub(crate) const SIDE: usize = 16;

/// Values in a patch.
pub(crate) const PATCH: usize = SIDE * SIDE;

/// A map of features, time outermost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureMap<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) bins: usize,
}

impl FeatureMap<'_> {
    /// Whole patches along time.
    pub(crate) fn columns(&self) -> usize {
        self.values.len() / self.bins / SIDE
    }

    /// Whole patches along frequency.
    pub(crate) fn rows(&self) -> usize {
        self.bins / SIDE
    }

    /// Patch after patch with the row fastest; in each patch frequency is fastest (BEATs, EAT).
    pub(crate) fn patches_by_time(&self, out: &mut Vec<f32>) {
        out.clear();
        for column in 0..self.columns() {
            for row in 0..self.rows() {
                for time in 0..SIDE {
                    let start = (column * SIDE + time) * self.bins + row * SIDE;
                    out.extend_from_slice(&self.values[start..start + SIDE]);
                }
            }
        }
    }

    /// Patch after patch with the column fastest; in each patch time is fastest (CED).
    pub(crate) fn patches_by_frequency(&self, out: &mut Vec<f32>) {
        out.clear();
        for row in 0..self.rows() {
            for column in 0..self.columns() {
                for bin in row * SIDE..(row + 1) * SIDE {
                    let times = column * SIDE..(column + 1) * SIDE;
                    out.extend(times.map(|time| self.values[time * self.bins + bin]));
                }
            }
        }
    }
}

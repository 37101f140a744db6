//! The oracle: the same chains of multiply-adds, one value after the other.

use super::Tile;
use crate::{PANEL, arithmetic::Arithmetic};

pub(super) const ROWS: usize = 4;

pub(super) fn multiply<A: Arithmetic>(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    for row in 0..tile.rows {
        let left = &tile.left[row * tile.left_stride..][..tile.depth];
        for (panel, lanes) in tile.right.iter().take(tile.panels).enumerate() {
            let out = &mut out[row * out_stride + panel * PANEL..][..PANEL];
            let mut sums = [0.0; PANEL];
            if tile.goes_on {
                sums.copy_from_slice(out);
            }
            for (&value, lane) in left.iter().zip(*lanes) {
                for (sum, &weight) in sums.iter_mut().zip(&lane.0) {
                    *sum = A::multiply_add(value, weight, *sum);
                }
            }
            out.copy_from_slice(&sums);
        }
    }
}

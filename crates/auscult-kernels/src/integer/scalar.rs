//! The oracle: one product after the other.

use super::Tile;
use crate::PANEL;

pub(super) const ROWS: usize = 4;

pub(super) fn multiply(tile: Tile<'_>, out: &mut [f32], out_stride: usize) {
    for row in 0..tile.rows {
        let left = &tile.left[row * tile.left_stride..][..2 * tile.pairs];
        for (panel, lanes) in tile.right.iter().take(tile.panels).enumerate() {
            let mut sums = [0_i32; PANEL];
            for (pair, lane) in left.as_chunks::<2>().0.iter().zip(*lanes) {
                for (sum, weights) in sums.iter_mut().zip(lane.0.as_chunks::<2>().0) {
                    *sum += i32::from(pair[0]) * i32::from(weights[0])
                        + i32::from(pair[1]) * i32::from(weights[1]);
                }
            }
            let out = &mut out[row * out_stride + panel * PANEL..][..PANEL];
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = if tile.goes_on { *out + sum as f32 } else { sum as f32 };
            }
        }
    }
}

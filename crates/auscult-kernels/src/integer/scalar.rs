//! The oracle: one product after the other.

use super::{PairLane, Tile, panels::PanelProducts};
use crate::PANEL;

pub(super) const ROWS: usize = 4;

pub(super) fn multiply(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    for row in 0..tile.rows {
        let left = &tile.left[row * tile.left_stride..][..2 * tile.pairs];
        for (panel, lanes) in tile.right.iter().take(tile.panels).enumerate() {
            let mut sums = [0_i32; PANEL];
            for (pair, lane) in left.as_chunks::<2>().0.iter().zip(*lanes) {
                for (output, sum) in sums.iter_mut().enumerate() {
                    let weights = lane.pair(output);
                    *sum += i32::from(pair[0]) * weights[0] + i32::from(pair[1]) * weights[1];
                }
            }
            let out = &mut out[row * out_stride + panel * PANEL..][..PANEL];
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = if tile.goes_on { *out + sum as f32 } else { sum as f32 };
            }
        }
    }
}

pub(super) fn multiply_panels(
    panel: &[PairLane],
    others: [&[PairLane]; 2],
    products: &mut PanelProducts,
) {
    for (row, products) in products.iter_mut().enumerate() {
        for (other, products) in others.iter().zip(products) {
            let mut sums = [0_i32; PANEL];
            for (lane, other) in panel.iter().zip(*other) {
                let values = lane.pair(row);
                for (column, sum) in sums.iter_mut().enumerate() {
                    let others = other.pair(column);
                    *sum += values[0] * others[0] + values[1] * others[1];
                }
            }
            *products = sums.map(|sum| sum as f32);
        }
    }
}

//! 6 rows by one panel in 24 of the 32 registers of NEON.

#![allow(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::aarch64::{float32x4_t, vdupq_n_f32, vfmaq_f32, vld1q_f32, vst1q_f32};

use super::Tile;
use crate::PANEL;

pub(super) const ROWS: usize = 6;

/// # Safety
///
/// The machine has NEON; `tile.left` holds `depth` values from each row's start, each panel
/// `depth` lanes, and `out` room for `panels` panels from each row's start.
#[target_feature(enable = "neon")]
pub(super) unsafe fn multiply(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    macro_rules! rows {
        ($($rows:literal)*) => {
            match tile.rows {
                $(
                    // SAFETY: the caller's promise, for exactly this many rows.
                    $rows => unsafe { block::<$rows>(tile, out, out_stride) },
                )*
                _ => {}
            }
        };
    }
    rows!(1 2 3 4 5 6);
}

/// Registers a panel is wide.
const QUARTERS: usize = 4;

/// Values in a register.
const WIDTH: usize = PANEL / QUARTERS;

/// # Safety
///
/// As [`multiply`], with `tile.rows == COUNT` and one panel.
#[target_feature(enable = "neon")]
unsafe fn block<const COUNT: usize>(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    let left = tile.left.as_ptr();
    let right: *const f32 = tile.right[0].as_ptr().cast();
    let out = out.as_mut_ptr();
    let mut sums: [[float32x4_t; QUARTERS]; COUNT] = [[vdupq_n_f32(0.0); QUARTERS]; COUNT];
    if tile.goes_on {
        for row in 0..COUNT {
            for quarter in 0..QUARTERS {
                // SAFETY: `out` has room for one panel from the start of row COUNT - 1.
                sums[row][quarter] =
                    unsafe { vld1q_f32(out.add(row * out_stride + quarter * WIDTH)) };
            }
        }
    }
    for input in 0..tile.depth {
        let mut lanes = [vdupq_n_f32(0.0); QUARTERS];
        for quarter in 0..QUARTERS {
            // SAFETY: the panel has `depth` lanes of 16 values.
            lanes[quarter] = unsafe { vld1q_f32(right.add(input * PANEL + quarter * WIDTH)) };
        }
        for row in 0..COUNT {
            // SAFETY: each of the COUNT rows has `depth` values from its start.
            let value = unsafe { vdupq_n_f32(*left.add(row * tile.left_stride + input)) };
            for quarter in 0..QUARTERS {
                sums[row][quarter] = vfmaq_f32(sums[row][quarter], lanes[quarter], value);
            }
        }
    }
    for row in 0..COUNT {
        for quarter in 0..QUARTERS {
            // SAFETY: as for loading.
            unsafe {
                vst1q_f32(out.add(row * out_stride + quarter * WIDTH), sums[row][quarter]);
            }
        }
    }
}

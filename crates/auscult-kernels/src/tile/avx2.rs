//! 6 rows by one panel in 12 of the 16 registers of AVX2.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
};

use super::Tile;
use crate::PANEL;

pub(super) const ROWS: usize = 6;

/// # Safety
///
/// The machine has AVX2 and FMA; `tile.left` holds `depth` values from each row's start, each panel
/// `depth` lanes, and `out` room for `panels` panels from each row's start.
#[target_feature(enable = "avx2,fma")]
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
const HALVES: usize = 2;

/// Values in a register.
const WIDTH: usize = PANEL / HALVES;

/// # Safety
///
/// As [`multiply`], with `tile.rows == COUNT` and one panel.
#[target_feature(enable = "avx2,fma")]
unsafe fn block<const COUNT: usize>(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    let left = tile.left.as_ptr();
    let right: *const f32 = tile.right[0].as_ptr().cast();
    let out = out.as_mut_ptr();
    let mut sums: [[__m256; HALVES]; COUNT] = [[_mm256_setzero_ps(); HALVES]; COUNT];
    if tile.goes_on {
        for row in 0..COUNT {
            for half in 0..HALVES {
                // SAFETY: `out` has room for one panel from the start of row COUNT - 1.
                sums[row][half] =
                    unsafe { _mm256_loadu_ps(out.add(row * out_stride + half * WIDTH)) };
            }
        }
    }
    for input in 0..tile.depth {
        let mut lanes = [_mm256_setzero_ps(); HALVES];
        for half in 0..HALVES {
            // SAFETY: the panel has `depth` lanes of 16 values.
            lanes[half] = unsafe { _mm256_loadu_ps(right.add(input * PANEL + half * WIDTH)) };
        }
        for row in 0..COUNT {
            // SAFETY: each of the COUNT rows has `depth` values from its start.
            let value = unsafe { _mm256_set1_ps(*left.add(row * tile.left_stride + input)) };
            for half in 0..HALVES {
                sums[row][half] = _mm256_fmadd_ps(value, lanes[half], sums[row][half]);
            }
        }
    }
    for row in 0..COUNT {
        for half in 0..HALVES {
            // SAFETY: as for loading.
            unsafe {
                _mm256_storeu_ps(out.add(row * out_stride + half * WIDTH), sums[row][half]);
            }
        }
    }
}

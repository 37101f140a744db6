//! 6 rows by one panel with the pair products of AVX2.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_storeu_ps,
};

use super::Tile;
use crate::PANEL;

pub(super) const ROWS: usize = 6;

/// Registers a panel is wide.
const HALVES: usize = 2;

/// Outputs in a register.
const WIDTH: usize = PANEL / HALVES;

/// # Safety
///
/// The machine has AVX2; `tile.left` holds `pairs` pairs from each row's start, the panel `pairs`
/// lanes, and `out` room for one panel from each row's start.
#[target_feature(enable = "avx2")]
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

/// # Safety
///
/// As [`multiply`], with `tile.rows == COUNT` and one panel.
#[target_feature(enable = "avx2")]
unsafe fn block<const COUNT: usize>(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    let left = tile.left.as_ptr();
    let right: *const i16 = tile.right[0].as_ptr().cast();
    let out = out.as_mut_ptr();
    let mut sums: [[__m256i; HALVES]; COUNT] = [[_mm256_setzero_si256(); HALVES]; COUNT];
    for pair in 0..tile.pairs {
        let mut lanes = [_mm256_setzero_si256(); HALVES];
        for half in 0..HALVES {
            // SAFETY: the panel has `pairs` lanes of 32 integers.
            lanes[half] =
                unsafe { _mm256_loadu_si256(right.add(2 * (pair * PANEL + half * WIDTH)).cast()) };
        }
        for row in 0..COUNT {
            // SAFETY: each of the COUNT rows has `pairs` pairs from its start.
            let values: i32 = unsafe {
                left.add(row * tile.left_stride + 2 * pair).cast::<i32>().read_unaligned()
            };
            let values = _mm256_set1_epi32(values);
            for half in 0..HALVES {
                let products = _mm256_madd_epi16(values, lanes[half]);
                sums[row][half] = _mm256_add_epi32(sums[row][half], products);
            }
        }
    }
    for row in 0..COUNT {
        for half in 0..HALVES {
            let mut sum = _mm256_cvtepi32_ps(sums[row][half]);
            // SAFETY: `out` has room for one panel from the start of row COUNT - 1.
            unsafe {
                let target = out.add(row * out_stride + half * WIDTH);
                if tile.goes_on {
                    sum = _mm256_add_ps(_mm256_loadu_ps(target), sum);
                }
                _mm256_storeu_ps(target, sum);
            }
        }
    }
}

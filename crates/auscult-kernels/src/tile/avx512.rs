//! 12 rows by two panels in 24 of the 32 registers of AVX-512.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m512, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::Tile;
use crate::{PANEL, ahead::fetch, pack::Lane};

pub(super) const ROWS: usize = 12;

/// # Safety
///
/// The machine has AVX-512F; `tile.left` holds `depth` values from each row's start, each panel
/// `depth` lanes, and `out` room for `panels` panels from each row's start.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn multiply(tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    macro_rules! rows {
        ($($rows:literal)*) => {
            match (tile.rows, tile.panels) {
                $(
                    // SAFETY: the caller's promise, for exactly this many rows and panels.
                    ($rows, 1) => unsafe { block::<$rows, 1>(tile, out, out_stride) },
                    // SAFETY: as above.
                    ($rows, _) => unsafe { block::<$rows, 2>(tile, out, out_stride) },
                )*
                _ => {}
            }
        };
    }
    rows!(1 2 3 4 5 6 7 8 9 10 11 12);
}

/// # Safety
///
/// As [`multiply`], with `tile.rows == COUNT` and `tile.panels == PANELS`.
#[target_feature(enable = "avx512f")]
unsafe fn block<const COUNT: usize, const PANELS: usize>(
    tile: &Tile<'_>,
    out: &mut [f32],
    out_stride: usize,
) {
    let left = tile.left.as_ptr();
    let right: [*const Lane; 2] = [tile.right[0].as_ptr(), tile.right[1].as_ptr()];
    let out = out.as_mut_ptr();
    let mut sums: [[__m512; PANELS]; COUNT] = [[_mm512_setzero_ps(); PANELS]; COUNT];
    if tile.goes_on {
        for row in 0..COUNT {
            for panel in 0..PANELS {
                // SAFETY: `out` has room for PANELS panels from the start of row COUNT - 1.
                sums[row][panel] =
                    unsafe { _mm512_loadu_ps(out.add(row * out_stride + panel * PANEL)) };
            }
        }
    }
    for input in 0..tile.depth {
        fetch(tile.soon, input);
        let mut lanes = [_mm512_setzero_ps(); PANELS];
        for panel in 0..PANELS {
            // SAFETY: each panel has `depth` lanes of 16 values.
            lanes[panel] = unsafe { _mm512_loadu_ps(right[panel].add(input).cast()) };
        }
        for row in 0..COUNT {
            // SAFETY: each of the COUNT rows has `depth` values from its start.
            let value = unsafe { _mm512_set1_ps(*left.add(row * tile.left_stride + input)) };
            for panel in 0..PANELS {
                sums[row][panel] = _mm512_fmadd_ps(value, lanes[panel], sums[row][panel]);
            }
        }
    }
    for row in 0..COUNT {
        for panel in 0..PANELS {
            // SAFETY: as for loading.
            unsafe {
                _mm512_storeu_ps(out.add(row * out_stride + panel * PANEL), sums[row][panel]);
            }
        }
    }
}

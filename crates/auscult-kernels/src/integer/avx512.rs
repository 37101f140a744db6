//! 12 rows by two panels with the fused pair products of AVX-512 VNNI.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m512i, _mm512_add_ps, _mm512_cvtepi32_ps, _mm512_dpwssd_epi32, _mm512_loadu_ps,
    _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_ps,
};

use super::{PairLane, Tile, panels::PanelProducts};
use crate::{PANEL, ahead::fetch};

pub(super) const ROWS: usize = 12;

pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
}

/// # Safety
///
/// The machine has AVX-512F and VNNI; `tile.left` holds `pairs` pairs from each row's start, each
/// panel `pairs` lanes, and `out` room for `panels` panels from each row's start.
#[target_feature(enable = "avx512f,avx512vnni")]
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
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn block<const COUNT: usize, const PANELS: usize>(
    tile: &Tile<'_>,
    out: &mut [f32],
    out_stride: usize,
) {
    let left = tile.left.as_ptr();
    let right = [tile.right[0].as_ptr(), tile.right[1].as_ptr()];
    let out = out.as_mut_ptr();
    let mut sums: [[__m512i; PANELS]; COUNT] = [[_mm512_setzero_si512(); PANELS]; COUNT];
    for pair in 0..tile.pairs {
        fetch(tile.soon, pair);
        let mut lanes = [_mm512_setzero_si512(); PANELS];
        for panel in 0..PANELS {
            // SAFETY: each panel has `pairs` lanes of 64 bytes.
            lanes[panel] = unsafe { _mm512_loadu_si512(right[panel].add(pair).cast()) };
        }
        for row in 0..COUNT {
            // SAFETY: each of the COUNT rows has `pairs` pairs from its start.
            let values: i32 = unsafe {
                left.add(row * tile.left_stride + 2 * pair).cast::<i32>().read_unaligned()
            };
            let values = _mm512_set1_epi32(values);
            for panel in 0..PANELS {
                sums[row][panel] = _mm512_dpwssd_epi32(sums[row][panel], values, lanes[panel]);
            }
        }
    }
    for row in 0..COUNT {
        for panel in 0..PANELS {
            let mut sum = _mm512_cvtepi32_ps(sums[row][panel]);
            // SAFETY: `out` has room for PANELS panels from the start of row COUNT - 1.
            unsafe {
                let target = out.add(row * out_stride + panel * PANEL);
                if tile.goes_on {
                    sum = _mm512_add_ps(_mm512_loadu_ps(target), sum);
                }
                _mm512_storeu_ps(target, sum);
            }
        }
    }
}

/// Rows of a panel whose sums fit into the registers beside those of two others.
const PANEL_ROWS: usize = 8;

/// # Safety
///
/// The machine has AVX-512F and VNNI; the panels have one length.
#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) unsafe fn multiply_panels(
    panel: &[PairLane],
    others: [&[PairLane]; 2],
    products: &mut PanelProducts,
) {
    for (group, products) in products.as_chunks_mut::<PANEL_ROWS>().0.iter_mut().enumerate() {
        let mut sums = [[_mm512_setzero_si512(); 2]; PANEL_ROWS];
        let panel = panel.as_ptr().cast::<i32>();
        for pair in 0..others[0].len() {
            let mut lanes = [_mm512_setzero_si512(); 2];
            for other in 0..2 {
                // SAFETY: each panel has a lane of 64 bytes at `pair`.
                lanes[other] =
                    unsafe { _mm512_loadu_si512(others[other].as_ptr().add(pair).cast()) };
            }
            for row in 0..PANEL_ROWS {
                // SAFETY: a lane is PANEL pairs of 32 bits, and `group * PANEL_ROWS + row < PANEL`.
                let values = unsafe { *panel.add(pair * PANEL + group * PANEL_ROWS + row) };
                let values = _mm512_set1_epi32(values);
                for other in 0..2 {
                    sums[row][other] = _mm512_dpwssd_epi32(sums[row][other], values, lanes[other]);
                }
            }
        }
        for row in 0..PANEL_ROWS {
            for other in 0..2 {
                let sum = _mm512_cvtepi32_ps(sums[row][other]);
                // SAFETY: a row of products is PANEL numbers.
                unsafe { _mm512_storeu_ps(products[row][other].as_mut_ptr(), sum) };
            }
        }
    }
}

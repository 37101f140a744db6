//! Sixteen by sixteen in four rounds of shuffles.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m512, _mm512_castpd_ps, _mm512_castps_pd, _mm512_loadu_ps, _mm512_setzero_ps,
    _mm512_shuffle_f32x4, _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps,
    _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

use crate::PANEL;

/// # Safety
///
/// The machine has AVX-512F; `values` holds the rows of every tile: `15 * stride` values and as
/// many as there are columns.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn turn(values: &[f32], stride: usize, tiles: &mut [[[f32; PANEL]; PANEL]]) {
    for (number, tile) in tiles.iter_mut().enumerate() {
        let mut rows = [_mm512_setzero_ps(); PANEL];
        for lane in 0..PANEL {
            // SAFETY: the row of this lane has sixteen values from the tile's start.
            rows[lane] =
                unsafe { _mm512_loadu_ps(values.as_ptr().add(lane * stride + number * PANEL)) };
        }
        let columns = turned(&rows);
        for column in 0..PANEL {
            // SAFETY: a row of the tile is sixteen values.
            unsafe { _mm512_storeu_ps(tile[column].as_mut_ptr(), columns[column]) };
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turned(rows: &[__m512; PANEL]) -> [__m512; PANEL] {
    let mut twos = *rows;
    for at in 0..PANEL / 2 {
        twos[2 * at] = _mm512_unpacklo_ps(rows[2 * at], rows[2 * at + 1]);
        twos[2 * at + 1] = _mm512_unpackhi_ps(rows[2 * at], rows[2 * at + 1]);
    }
    // Quarter q of fours[4 g + k] is column 4 q + k of rows 4 g to 4 g + 3.
    let mut fours = twos;
    for group in 0..PANEL / 4 {
        for half in 0..2 {
            let left = _mm512_castps_pd(twos[4 * group + half]);
            let right = _mm512_castps_pd(twos[4 * group + half + 2]);
            let at = 4 * group + 2 * half;
            fours[at] = _mm512_castpd_ps(_mm512_unpacklo_pd(left, right));
            fours[at + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(left, right));
        }
    }
    let mut columns = fours;
    for k in 0..4 {
        let [a, b, c, d] = [fours[k], fours[4 + k], fours[8 + k], fours[12 + k]];
        // Even quarters of both, odd quarters of both.
        let (left_even, left_odd) =
            (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xDD>(a, b));
        let (right_even, right_odd) =
            (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xDD>(c, d));
        columns[k] = _mm512_shuffle_f32x4::<0x88>(left_even, right_even);
        columns[4 + k] = _mm512_shuffle_f32x4::<0x88>(left_odd, right_odd);
        columns[8 + k] = _mm512_shuffle_f32x4::<0xDD>(left_even, right_even);
        columns[12 + k] = _mm512_shuffle_f32x4::<0xDD>(left_odd, right_odd);
    }
    columns
}

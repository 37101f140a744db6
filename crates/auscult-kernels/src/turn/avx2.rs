//! Eight by eight in three rounds of shuffles, four times a tile.

#![expect(clippy::needless_range_loop, reason = "loops over registers, unrolled by the compiler")]

use std::arch::x86_64::{
    __m256, _mm256_castpd_ps, _mm256_castps_pd, _mm256_loadu_ps, _mm256_permute2f128_ps,
    _mm256_setzero_ps, _mm256_storeu_ps, _mm256_unpackhi_pd, _mm256_unpackhi_ps,
    _mm256_unpacklo_pd, _mm256_unpacklo_ps,
};

use crate::PANEL;

const EIGHT: usize = 8;

/// # Safety
///
/// The machine has AVX2; `values` holds the rows of every tile: `15 * stride` values and as many as
/// there are columns.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn turn(values: &[f32], stride: usize, tiles: &mut [[[f32; PANEL]; PANEL]]) {
    for (number, tile) in tiles.iter_mut().enumerate() {
        for (first_lane, first_column) in [(0, 0), (0, EIGHT), (EIGHT, 0), (EIGHT, EIGHT)] {
            let mut rows = [_mm256_setzero_ps(); EIGHT];
            for lane in 0..EIGHT {
                let at = (first_lane + lane) * stride + number * PANEL + first_column;
                // SAFETY: the row of this lane has eight values from there on.
                rows[lane] = unsafe { _mm256_loadu_ps(values.as_ptr().add(at)) };
            }
            let columns = turned(rows);
            for column in 0..EIGHT {
                let row = tile[first_column + column].as_mut_ptr();
                // SAFETY: a row of the tile is sixteen values, eight from `first_lane` on.
                unsafe { _mm256_storeu_ps(row.add(first_lane), columns[column]) };
            }
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn turned(rows: [__m256; EIGHT]) -> [__m256; EIGHT] {
    let mut twos = rows;
    for at in 0..EIGHT / 2 {
        twos[2 * at] = _mm256_unpacklo_ps(rows[2 * at], rows[2 * at + 1]);
        twos[2 * at + 1] = _mm256_unpackhi_ps(rows[2 * at], rows[2 * at + 1]);
    }
    // Half h of fours[4 g + k] is column 4 h + k of rows 4 g to 4 g + 3.
    let mut fours = twos;
    for group in 0..EIGHT / 4 {
        for half in 0..2 {
            let left = _mm256_castps_pd(twos[4 * group + half]);
            let right = _mm256_castps_pd(twos[4 * group + half + 2]);
            let at = 4 * group + 2 * half;
            fours[at] = _mm256_castpd_ps(_mm256_unpacklo_pd(left, right));
            fours[at + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(left, right));
        }
    }
    let mut columns = fours;
    for k in 0..4 {
        columns[k] = _mm256_permute2f128_ps::<0x20>(fours[k], fours[4 + k]);
        columns[4 + k] = _mm256_permute2f128_ps::<0x31>(fours[k], fours[4 + k]);
    }
    columns
}

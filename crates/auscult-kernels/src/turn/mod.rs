//! Rows become columns.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::{Isa, PANEL};

/// Lays sixteen rows side by side: `out[n][lane]` is value `n` of row `lane`, which starts at
/// `lane * stride`. Rows may overlap.
///
/// ```
/// use auscult_kernels::{Isa, turn};
///
/// let values: Vec<f32> = (0..20).map(|value| value as f32).collect();
/// let mut out = [[0.0; 16]; 5];
/// turn(Isa::best(), &values, 1, &mut out);
/// assert_eq!((out[0][15], out[4][2]), (15.0, 6.0));
/// ```
///
/// # Panics
///
/// If the values end before the last row does, or this machine has no `isa`.
pub fn turn(isa: Isa, values: &[f32], stride: usize, out: &mut [[f32; PANEL]]) {
    let needed = (PANEL - 1) * stride + out.len();
    assert!(values.len() >= needed, "{} values, {needed} are needed", values.len());
    isa.assert_available();
    let (tiles, rest) = out.as_chunks_mut::<PANEL>();
    let start = tiles.len() * PANEL;
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            // SAFETY: this machine has AVX-512F; the values reach as far as asserted above.
            unsafe { avx512::turn(values, stride, tiles) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => {
            // SAFETY: this machine has AVX2; the values reach as far as asserted above.
            unsafe { avx2::turn(values, stride, tiles) }
        }
        _ => turn_plainly(values, stride, tiles.as_flattened_mut()),
    }
    turn_plainly(&values[start..], stride, rest);
}

/// The oracle: one value after the other.
fn turn_plainly(values: &[f32], stride: usize, out: &mut [[f32; PANEL]]) {
    for (at, row) in out.iter_mut().enumerate() {
        for (lane, value) in row.iter_mut().enumerate() {
            *value = values[lane * stride + at];
        }
    }
}

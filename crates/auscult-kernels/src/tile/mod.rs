//! A few rows by one or two panels: the innermost loop, one file an instruction set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

use crate::{
    Isa, PANEL,
    arithmetic::{Fused, Unfused},
    pack::Lane,
};

/// One tile's operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile<'a> {
    /// From the first value of the first row.
    pub(crate) left: &'a [f32],
    pub(crate) left_stride: usize,
    /// `depth` lanes of each panel; the same panel twice if there is one.
    pub(crate) right: [&'a [Lane]; 2],
    pub(crate) panels: usize,
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    /// Whether the output holds the sum so far.
    pub(crate) goes_on: bool,
    /// What is multiplied soon: fetched meanwhile, because it comes from far away.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no instruction for it"))]
    pub(crate) soon: [&'a [Lane]; 2],
}

/// Panels a tile takes at most.
pub(crate) fn panels_at_once(isa: Isa) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => 2,
        _ => 1,
    }
}

/// Rows a tile takes at most: as many as there are registers for.
pub(crate) fn rows_at_once(isa: Isa) -> usize {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::ROWS,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::ROWS,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => neon::ROWS,
        Isa::Scalar | Isa::Portable => scalar::ROWS,
    }
}

/// Multiplies a tile into `out`, whose rows start `out_stride` values apart.
pub(crate) fn multiply_tile(isa: Isa, tile: &Tile<'_>, out: &mut [f32], out_stride: usize) {
    let last = tile.rows - 1;
    assert!(last * tile.left_stride + tile.depth <= tile.left.len(), "tile: left ends early");
    assert!(last * out_stride + tile.panels * PANEL <= out.len(), "tile: output ends early");
    assert!(tile.right.iter().all(|panel| panel.len() == tile.depth), "tile: a panel ends early");
    match isa {
        Isa::Scalar => scalar::multiply::<Fused>(tile, out, out_stride),
        Isa::Portable => scalar::multiply::<Unfused>(tile, out, out_stride),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => {
            isa.assert_available();
            // SAFETY: this machine has AVX2 and FMA, and the operands have the lengths above.
            unsafe { avx2::multiply(tile, out, out_stride) }
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            isa.assert_available();
            // SAFETY: this machine has AVX-512F, and the operands have the lengths above.
            unsafe { avx512::multiply(tile, out, out_stride) }
        }
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => {
            // SAFETY: every AArch64 target has NEON, and the operands have the lengths above.
            unsafe { neon::multiply(tile, out, out_stride) }
        }
    }
}

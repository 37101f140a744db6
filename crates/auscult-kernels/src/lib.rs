#![doc = include_str!("../README.md")]

mod ahead;
mod arithmetic;
mod dispatch;
mod elementwise;
pub mod fourier;
mod integer;
mod isa;
#[cfg(feature = "system")]
mod mapped;
mod pack;
mod pages;
mod product;
mod tile;
mod turn;

#[cfg(feature = "system")]
pub use crate::mapped::MappedFile;
pub use crate::{
    elementwise::{
        LayerNorm, add_dot, add_rows, gelu_rows, layer_norm_rows, scale_row, softmax_row,
    },
    integer::{
        IntegerRows, PANEL_LIMIT, PANEL_PAIRS, PackedIntegers, PairLane, PanelProducts,
        has_fast_pairs, multiply_integers, multiply_panels,
    },
    isa::Isa,
    pack::PackedMatrix,
    product::{Epilogue, Rows, RowsMut, multiply},
    turn::turn,
};

/// Columns in a packed panel; output rows have room for a multiple of it.
pub const PANEL: usize = 16;

/// The length of a row of `columns` values in buffers these kernels write: whole panels, and one
/// more so that rows do not fall into the same cache sets.
///
/// ```
/// assert_eq!(auscult_kernels::row_stride(768), 784);
/// ```
pub const fn row_stride(columns: usize) -> usize {
    columns.next_multiple_of(PANEL) + PANEL
}

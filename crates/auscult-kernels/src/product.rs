//! The product of rows and a packed matrix, with what follows it.

use crate::{
    Isa, PANEL, PackedMatrix,
    ahead::Ahead,
    arithmetic::{Arithmetic, gelu},
    dispatch::for_each_isa,
    tile,
};

/// Rows to be multiplied; they may overlap (a convolution reads the same samples again).
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The values.
    pub values: &'a [f32],
    /// Values from the start of one row to that of the next.
    pub stride: usize,
    /// How many rows there are.
    pub count: usize,
}

/// Rows to be written, each with room for whole panels.
#[derive(Debug)]
pub struct RowsMut<'a> {
    /// The values.
    pub values: &'a mut [f32],
    /// Values from the start of one row to that of the next.
    pub stride: usize,
}

/// What happens to a product before it is stored.
#[derive(Debug, Clone, Copy)]
pub enum Epilogue<'a> {
    /// Nothing.
    Plain,
    /// `product + bias`.
    Bias(&'a [f32]),
    /// `gelu(product + bias)`.
    BiasGelu(&'a [f32]),
    /// `product + bias + factor * residual`.
    BiasResidual {
        /// One value a column.
        bias: &'a [f32],
        /// Rows of the shape of the output.
        residual: &'a [f32],
        /// Values from one residual row to the next.
        stride: usize,
        /// Factor on the residual.
        factor: f32,
    },
}

/// Inputs multiplied before the next row block: a panel pair of this many stays in the second cache.
const DEPTH: usize = 512;

/// Multiplies `left` by `right` into `out`.
///
/// Every value is one chain of multiply-adds over the inputs in their order, so the result does
/// not depend on how rows are blocked, or on the width of the registers.
///
/// # Panics
///
/// If a buffer is too short for its rows, or this machine has no `isa`.
pub fn multiply(
    isa: Isa,
    left: Rows<'_>,
    right: &PackedMatrix,
    epilogue: Epilogue<'_>,
    out: &mut RowsMut<'_>,
) {
    if left.count == 0 || right.panels() == 0 {
        return;
    }
    let last = left.count - 1;
    assert!(last * left.stride + right.inputs() <= left.values.len(), "left rows end early");
    let width = right.panels() * PANEL;
    assert!(last * out.stride + width <= out.values.len(), "output rows end early");
    epilogue.assert_fits(left.count, right.outputs());
    isa.assert_available();
    let wide = tile::panels_at_once(isa);
    let mut panel = 0;
    while panel < right.panels() {
        let count = wide.min(right.panels() - panel);
        let next = (panel + count < right.panels()).then_some(panel + count);
        multiply_panels(isa, left, right, panel, count, next, out);
        let columns = panel * PANEL..((panel + count) * PANEL).min(right.outputs());
        apply(isa, epilogue, left.count, columns, out.values, out.stride);
        panel += count;
    }
}

/// All rows by one or two panels.
fn multiply_panels(
    isa: Isa,
    left: Rows<'_>,
    right: &PackedMatrix,
    panel: usize,
    count: usize,
    next: Option<usize>,
    out: &mut RowsMut<'_>,
) {
    let inputs = right.inputs();
    let tiles = left.count.div_ceil(tile::rows_at_once(isa));
    // A matrix without inputs still has an output: zeros.
    let mut from = 0;
    loop {
        let depth = DEPTH.min(inputs - from);
        let (next_panel, next_from) =
            if from + depth < inputs { (Some(panel), from + depth) } else { (next, 0) };
        let next_depth = DEPTH.min(inputs - next_from);
        let lanes = |panel: usize| &right.panel(panel)[next_from..next_from + next_depth];
        let other = |panel: usize| (panel + count - 1).min(right.panels() - 1);
        let next_lanes = next_panel.map_or([&[][..]; 2], |at| [lanes(at), lanes(other(at))]);
        let ahead = Ahead::new(next_lanes, tiles);
        let mut row = 0;
        while row < left.count {
            let rows = tile::rows_at_once(isa).min(left.count - row);
            tile::multiply_tile(
                isa,
                &tile::Tile {
                    left: &left.values[row * left.stride + from..],
                    left_stride: left.stride,
                    right: [
                        &right.panel(panel)[from..from + depth],
                        &right.panel(panel + count - 1)[from..from + depth],
                    ],
                    panels: count,
                    rows,
                    depth,
                    goes_on: from > 0,
                    soon: ahead.part(row / tile::rows_at_once(isa)),
                },
                &mut out.values[row * out.stride + panel * PANEL..],
                out.stride,
            );
            row += rows;
        }
        from += depth;
        if from >= inputs {
            return;
        }
    }
}

impl Epilogue<'_> {
    pub(crate) fn assert_fits(self, rows: usize, columns: usize) {
        match self {
            Self::Plain => {}
            Self::Bias(bias) | Self::BiasGelu(bias) => {
                assert_eq!(bias.len(), columns, "one bias value a column");
            }
            Self::BiasResidual { bias, residual, stride, .. } => {
                assert_eq!(bias.len(), columns, "one bias value a column");
                assert!((rows - 1) * stride + columns <= residual.len(), "residual ends early");
            }
        }
    }
}

for_each_isa! {
    pub(crate) fn apply(
        epilogue: Epilogue<'_>,
        rows: usize,
        columns: std::ops::Range<usize>,
        out: &mut [f32],
        stride: usize,
    ) = apply_body;
}

#[inline(always)]
fn apply_body<A: Arithmetic>(
    epilogue: Epilogue<'_>,
    rows: usize,
    columns: std::ops::Range<usize>,
    out: &mut [f32],
    stride: usize,
) {
    for row in 0..rows {
        let out = &mut out[row * stride + columns.start..row * stride + columns.end];
        match epilogue {
            Epilogue::Plain => {}
            Epilogue::Bias(bias) => {
                for (out, &bias) in out.iter_mut().zip(&bias[columns.clone()]) {
                    *out += bias;
                }
            }
            Epilogue::BiasGelu(bias) => {
                for (out, &bias) in out.iter_mut().zip(&bias[columns.clone()]) {
                    *out = gelu::<A>(*out + bias);
                }
            }
            Epilogue::BiasResidual { bias, residual, stride, factor } => {
                let residual = &residual[row * stride + columns.start..row * stride + columns.end];
                for ((out, &bias), &residual) in
                    out.iter_mut().zip(&bias[columns.clone()]).zip(residual)
                {
                    *out = A::multiply_add(factor, residual, *out + bias);
                }
            }
        }
    }
}

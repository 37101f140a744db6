//! Sixteen frames side by side: what one frame needs, all of them need, so every step of the
//! front ends is the same operation on sixteen numbers and fills the vector units of any machine.
//!
//! Each lane is computed as if it were alone, without fused operations: a frame has the same bits
//! in every lane, in every batch and on every level of vector instructions.

/// How many frames are computed together.
pub(super) const LANES: usize = 16;

/// One number of each frame.
pub(super) type Lanes = [f32; LANES];

/// Copies lane `lane` of `rows` into `frame`.
pub(super) fn take_lane(rows: &[Lanes], lane: usize, frame: &mut [f32]) {
    for (value, row) in frame.iter_mut().zip(rows) {
        *value = row[lane];
    }
}

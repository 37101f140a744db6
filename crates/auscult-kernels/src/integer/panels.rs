//! Products among vectors that are each other's weights: panels against panels.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{PairLane, scalar};
use crate::{Isa, PANEL};

/// The largest magnitude of a value in panels.
pub const PANEL_LIMIT: i16 = 2047;

/// Pairs that are multiplied at once at most: 2047 * 2047 * 512 < 2^31, so no sum overflows.
pub const PANEL_PAIRS: usize = 256;

/// One sum for each vector of a panel and each vector of two others.
pub type PanelProducts = [[[f32; PANEL]; 2]; PANEL];

/// Whether this machine multiplies pairs of integers faster than f32.
pub fn has_fast_pairs() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Isa::Avx512.is_available() && avx512::is_available();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The products of the sixteen vectors of a panel with those of two others.
///
/// Sums are exact integers, each rounded to f32 once. They are right as long as no value is beyond
/// [`PANEL_LIMIT`].
///
/// # Panics
///
/// If the panels differ in length or have more than [`PANEL_PAIRS`] pairs.
pub fn multiply_panels(
    isa: Isa,
    panel: &[PairLane],
    others: [&[PairLane]; 2],
    products: &mut PanelProducts,
) {
    assert!(panel.len() <= PANEL_PAIRS, "{} pairs at once", panel.len());
    assert!(others.iter().all(|other| other.len() == panel.len()), "panels differ in length");
    isa.assert_available();
    #[cfg(target_arch = "x86_64")]
    if isa == Isa::Avx512 && avx512::is_available() {
        // SAFETY: this machine has AVX-512F and VNNI; the panels have one length.
        unsafe { avx512::multiply_panels(panel, others, products) }
        return;
    }
    scalar::multiply_panels(panel, others, products);
}

//! Fourier transforms of real signals of any length.
//!
//! The library behind them is generic: every crate that plans a transform compiles all of it again,
//! which takes longer than most crates here. Planned in this one, it is compiled once for all of them.

use std::sync::Arc;

use realfft::RealFftPlanner;
pub use realfft::{
    ComplexToReal, RealToComplex,
    num_complex::{Complex32, Complex64},
};

/// Plans the transform of `len` samples.
///
/// ```
/// use auscult_kernels::fourier;
///
/// let transform = fourier::forward(8);
/// let mut spectrum = transform.make_output_vec();
/// transform.process(&mut [1.0; 8], &mut spectrum)?;
/// assert_eq!((spectrum.len(), spectrum[0].re), (5, 8.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward(len: usize) -> Arc<dyn RealToComplex<f32>> {
    RealFftPlanner::new().plan_fft_forward(len)
}

/// Plans the transform of `len` samples in f64.
pub fn forward_f64(len: usize) -> Arc<dyn RealToComplex<f64>> {
    RealFftPlanner::new().plan_fft_forward(len)
}

/// Plans the transform of a spectrum back to `len` samples, each multiplied by `len`, in f64.
pub fn inverse_f64(len: usize) -> Arc<dyn ComplexToReal<f64>> {
    RealFftPlanner::new().plan_fft_inverse(len)
}

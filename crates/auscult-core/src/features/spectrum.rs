//! Power spectrum of a real frame of any length.

use std::{fmt, sync::Arc};

use auscult_kernels::fourier::{self, Complex32, RealToComplex};

/// A planned transform, shared between extractors.
#[derive(Clone)]
pub(super) struct SpectrumPlan {
    transform: Arc<dyn RealToComplex<f32>>,
}

impl fmt::Debug for SpectrumPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SpectrumPlan").field("len", &self.transform.len()).finish()
    }
}

impl SpectrumPlan {
    pub(super) fn new(fft_len: usize) -> Self {
        Self { transform: fourier::forward(fft_len) }
    }

    /// Length of the frames.
    pub(super) fn fft_len(&self) -> usize {
        self.transform.len()
    }

    /// The buffers one thread needs.
    pub(super) fn buffers(&self) -> SpectrumBuffers {
        SpectrumBuffers {
            input: self.transform.make_input_vec(),
            output: self.transform.make_output_vec(),
            scratch: self.transform.make_scratch_vec(),
            power: vec![0.0; self.transform.len() / 2 + 1],
        }
    }

    /// The power of the `input` in `buffers`, at `fft_len / 2 + 1` frequencies up to Nyquist.
    ///
    /// `offset` is a constant taken from the input before a periodic Hann window as long as the
    /// transform: such a window has three nonzero bins, N/2 at 0 and -N/4 beside it.
    pub(super) fn power<'a>(&self, buffers: &'a mut SpectrumBuffers, offset: f32) -> &'a [f32] {
        let SpectrumBuffers { input, output, scratch, power } = buffers;
        let outcome = self.transform.process_with_scratch(input, output, scratch);
        debug_assert!(outcome.is_ok(), "buffers come from the plan: {outcome:?}");
        let quarter = input.len() as f32 / 4.0;
        output[0].re += 2.0 * quarter * offset;
        output[1].re -= quarter * offset;
        for (power, value) in power.iter_mut().zip(output.iter()) {
            *power = value.norm_sqr();
        }
        power
    }
}

/// Buffers of a [`SpectrumPlan`].
#[derive(Debug, Default)]
pub(super) struct SpectrumBuffers {
    /// The frame to transform, zero beyond its end; overwritten by the transform.
    pub(super) input: Vec<f32>,
    output: Vec<Complex32>,
    scratch: Vec<Complex32>,
    power: Vec<f32>,
}

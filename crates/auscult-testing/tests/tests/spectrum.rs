//! Spectra to look at clips with.

use realfft::RealFftPlanner;

/// Samples a frame.
const FRAME: usize = 1024;

/// The power in `low..high` Hz of a whole clip, in steps of one over its length.
pub(crate) fn band_power(samples: &[f32], rate: u32, low: f64, high: f64) -> f64 {
    let mut input: Vec<f64> = samples.iter().map(|&sample| sample.into()).collect();
    let transform = RealFftPlanner::new().plan_fft_forward(input.len());
    let mut output = transform.make_output_vec();
    transform.process(&mut input, &mut output).unwrap();
    let step = f64::from(rate) / samples.len() as f64;
    let inside = |bin: usize| (low..high).contains(&(bin as f64 * step));
    (0..output.len()).filter(|&bin| inside(bin)).map(|bin| output[bin].norm_sqr()).sum()
}

/// The mean over frames of the log power spectrum.
pub(crate) fn mean_log_spectrum(samples: &[f32]) -> Vec<f64> {
    let transform = RealFftPlanner::new().plan_fft_forward(FRAME);
    let mut output = transform.make_output_vec();
    let mut mean = vec![0.0; output.len()];
    let frames = samples.chunks_exact(FRAME);
    let count = frames.len() as f64;
    for frame in frames {
        let mut input: Vec<f64> = frame.iter().map(|&sample| sample.into()).collect();
        transform.process(&mut input, &mut output).unwrap();
        for (sum, bin) in mean.iter_mut().zip(&output) {
            *sum += (bin.norm_sqr() + 1e-9).ln() / count;
        }
    }
    mean
}

/// The Euclidean distance of two spectra.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

//! Triangular filters on a mel scale, stored sparsely.

use multiversion::multiversion;

use super::lanes::{LANES, Lanes};

/// Which mel formula and triangle shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MelScale {
    /// 1127 ln(1 + f / 700), triangles linear in mel, the Nyquist bin unused (Kaldi).
    Kaldi,
    /// Slaney's scale, triangles linear in hertz with unit area (librosa's default).
    Slaney,
    /// Kaldi's formula (HTK's too), triangles linear in hertz with weight 1 at the peak.
    Htk,
}

impl MelScale {
    fn to_mel(self, hertz: f64) -> f64 {
        match self {
            Self::Kaldi | Self::Htk => 1127.0 * (hertz / 700.0).ln_1p(),
            Self::Slaney if hertz < 1000.0 => hertz * 3.0 / 200.0,
            Self::Slaney => 15.0 + (hertz / 1000.0).ln() / slaney_step(),
        }
    }

    fn to_hertz(self, mel: f64) -> f64 {
        match self {
            Self::Kaldi | Self::Htk => 700.0 * (mel / 1127.0).exp_m1(),
            Self::Slaney if mel < 15.0 => mel * 200.0 / 3.0,
            Self::Slaney => 1000.0 * ((mel - 15.0) * slaney_step()).exp(),
        }
    }
}

/// Slaney: 27 steps cover the factor 6.4 above 1 kHz.
fn slaney_step() -> f64 {
    6.4_f64.ln() / 27.0
}

/// A bank of triangular filters over FFT bins.
#[derive(Debug, Clone)]
pub(super) struct MelFilters {
    filters: Vec<Filter>,
    edges: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Filter {
    first_bin: usize,
    weights: Vec<f32>,
}

impl MelFilters {
    /// `count` filters between two frequencies, for spectra of `fft_len / 2 + 1` bins.
    pub(super) fn new(
        scale: MelScale,
        count: usize,
        low_hertz: f64,
        high_hertz: f64,
        fft_len: usize,
        sample_rate: u32,
    ) -> Self {
        let low = scale.to_mel(low_hertz);
        let step = (scale.to_mel(high_hertz) - low) / (count + 1) as f64;
        let at = |index: f64| low + index * step;
        let bin_hertz = f64::from(sample_rate) / fft_len as f64;
        let bins = match scale {
            MelScale::Kaldi => fft_len / 2,
            MelScale::Slaney | MelScale::Htk => fft_len / 2 + 1,
        };
        let filters = (0..count)
            .map(|index| {
                let [left, centre, right] = [0.0, 1.0, 2.0].map(|offset| at(index as f64 + offset));
                let in_hertz = [left, centre, right].map(|mel| scale.to_hertz(mel));
                Filter::new(bins, |bin| {
                    let hertz = bin as f64 * bin_hertz;
                    let [low, peak, high] = in_hertz;
                    match scale {
                        MelScale::Kaldi => triangle(scale.to_mel(hertz), left, centre, right),
                        MelScale::Slaney => triangle(hertz, low, peak, high) * 2.0 / (high - low),
                        MelScale::Htk => triangle(hertz, low, peak, high),
                    }
                })
            })
            .collect();
        // A position answers for the frequencies nearer to its centre than to its neighbours'.
        let edges = (0..=count)
            .map(|index| match index {
                0 => low_hertz,
                _ if index == count => high_hertz,
                _ => scale.to_hertz(at(index as f64 + 0.5)),
            })
            .collect();
        Self { filters, edges }
    }

    /// Edges in hertz, one more than there are filters.
    pub(super) fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The energy each filter sees in the power spectra (bins x lanes).
    pub(super) fn apply(&self, power: &[Lanes], energies: &mut [Lanes]) {
        apply(&self.filters, power, energies);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn apply(filters: &[Filter], power: &[Lanes], energies: &mut [Lanes]) {
    for (energy, filter) in energies.iter_mut().zip(filters) {
        let mut sums = [0.0; LANES];
        for (row, weight) in power[filter.first_bin..].iter().zip(&filter.weights) {
            for lane in 0..LANES {
                sums[lane] += row[lane] * weight;
            }
        }
        *energy = sums;
    }
}

impl Filter {
    /// Keeps the run of bins with a weight above zero.
    fn new(bins: usize, weight: impl Fn(usize) -> f64) -> Self {
        let inside = |bin: &usize| weight(*bin) > 0.0;
        let first_bin = (0..bins).find(inside).unwrap_or(0);
        let weights = (first_bin..bins).take_while(inside).map(|bin| weight(bin) as f32).collect();
        Self { first_bin, weights }
    }
}

fn triangle(at: f64, left: f64, centre: f64, right: f64) -> f64 {
    let rising = (at - left) / (centre - left);
    let falling = (right - at) / (right - centre);
    rising.min(falling).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_invert_themselves() {
        for scale in [MelScale::Kaldi, MelScale::Slaney, MelScale::Htk] {
            for hertz in [0.0, 30.0, 999.0, 1000.0, 1001.0, 7900.0] {
                let back = scale.to_hertz(scale.to_mel(hertz));
                assert!((back - hertz).abs() < 1e-9, "{scale:?} {hertz} {back}");
            }
        }
    }

    #[test]
    fn edges_rise_from_the_lowest_to_the_highest_frequency() {
        let filters = MelFilters::new(MelScale::Kaldi, 128, 0.0, 8000.0, 1024, 16_000);
        assert_eq!(filters.edges().len(), 129);
        assert!(filters.edges().is_sorted());
        assert_eq!((filters.edges()[0], filters.edges()[128]), (0.0, 8000.0));
    }
}

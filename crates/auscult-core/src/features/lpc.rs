//! Spectrum of an all-pole (LPC) model of the whole clip.

use std::{fmt, sync::Arc};

use auscult_kernels::fourier::{self, Complex64, RealToComplex};
use serde::{Deserialize, Serialize};

use super::{Axis, Extractor, FrontEnd, FrontEndIdentity, Level, burg::Burg, identity_of};
use crate::{BandSettings, ClipLength, Error, Result, names::named_choices, pooling::View};

/// Which curve of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LpcConvention {
    /// |1 / A|, the spectral envelope: the paper's equation.
    Spectrum,
    /// |A|, the inverse filter: what the paper's published statistics point to, and what detects better on most
    /// recordings that were measured (docs/front-ends.md).
    #[default]
    Inverse,
}

named_choices!(LpcConvention, "LPC convention", {
    Spectrum => "spectrum",
    Inverse => "inverse",
});

/// Settings of the LPC front end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LpcSettings {
    /// Which curve.
    pub convention: LpcConvention,
    /// Poles of the model.
    pub order: usize,
    /// Points of the curve from 0 up to Nyquist.
    pub points: usize,
}

impl Default for LpcSettings {
    /// Order 60 and 8000 points, as in the paper.
    fn default() -> Self {
        Self { convention: LpcConvention::default(), order: 60, points: 8000 }
    }
}

/// The LPC spectrum front end: one view, since there are no frames.
#[derive(Clone)]
pub struct Lpc {
    settings: LpcSettings,
    clip_len: usize,
    axis: Axis,
    transform: Arc<dyn RealToComplex<f64>>,
}

impl fmt::Debug for Lpc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lpc").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Lpc {
    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the order is not 1 to 512 or the points are not from the order + 1 to
    /// 1 million.
    pub fn new(settings: &LpcSettings, length: ClipLength) -> Result<Self> {
        let &LpcSettings { convention, order, points } = settings;
        if !(1..=512).contains(&order) {
            return Err(Error::setting("LPC order", "1 to 512", order));
        }
        if !(order + 1..=1_000_000).contains(&points) {
            let allowed = format!("{} to 1000000", order + 1);
            return Err(Error::setting("LPC points", allowed, points));
        }
        let nyquist = f64::from(length.sample_rate()) / 2.0;
        let edges = (0..=points).map(|point| nyquist * point as f64 / points as f64).collect();
        let level = match convention {
            LpcConvention::Spectrum => Level::Magnitude,
            LpcConvention::Inverse => Level::InverseMagnitude,
        };
        Ok(Self {
            settings: *settings,
            clip_len: length.samples(),
            axis: Axis::frequency(edges, level),
            transform: fourier::forward_f64(2 * points),
        })
    }
}

impl FrontEnd for Lpc {
    fn identity(&self) -> FrontEndIdentity {
        identity_of("lpc", &self.settings)
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean]
    }

    fn default_bands(&self) -> BandSettings {
        // The paper: 3200 of 8000 points.
        BandSettings::touching(self.settings.points * 2 / 5)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(LpcExtractor {
            burg: Burg::default(),
            input: self.transform.make_input_vec(),
            response: self.transform.make_output_vec(),
            scratch: self.transform.make_scratch_vec(),
            curve: vec![0.0; self.settings.points],
            front_end: self.clone(),
        })
    }
}

struct LpcExtractor {
    front_end: Lpc,
    burg: Burg,
    input: Vec<f64>,
    response: Vec<Complex64>,
    scratch: Vec<Complex64>,
    curve: Vec<f32>,
}

/// |A| of a pure tone touches zero on the unit circle; its inverse must stay finite in f32.
const SMALLEST_RESPONSE: f64 = 1e-30;

impl Extractor for LpcExtractor {
    /// One frame: the curve at the frequencies pi m / points, m from 0 to points - 1.
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        let Self { front_end, burg, input, response, scratch, curve } = self;
        let LpcSettings { convention, order, .. } = front_end.settings;
        let coefficients = burg.coefficients(samples, front_end.clip_len, order);
        // The transform of the zero-padded coefficients is A on the unit circle.
        input.fill(0.0);
        input[..coefficients.len()].copy_from_slice(coefficients);
        let outcome = front_end.transform.process_with_scratch(input, response, scratch);
        debug_assert!(outcome.is_ok(), "buffers come from the plan: {outcome:?}");
        for (out, value) in curve.iter_mut().zip(response.iter()) {
            let magnitude = value.norm_sqr().sqrt();
            *out = match convention {
                LpcConvention::Spectrum => 1.0 / magnitude.max(SMALLEST_RESPONSE),
                LpcConvention::Inverse => magnitude,
            } as f32;
        }
        sink(curve);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClipSettings, ClipVectors};

    #[test]
    fn a_resonance_shows_where_it_is() {
        let length = ClipSettings { sample_rate: 16_000, seconds: 1.0 }.check().unwrap();
        let samples: Vec<f32> =
            (0..16_000).map(|i| (f64::from(i) * 0.7).sin() as f32 * 0.3).collect();
        // The envelope is highest there, and its inverse lowest.
        for (convention, sign) in [(LpcConvention::Spectrum, 1.0), (LpcConvention::Inverse, -1.0)] {
            let settings = LpcSettings { convention, ..LpcSettings::default() };
            let lpc = Lpc::new(&settings, length).unwrap();
            let mut vectors = ClipVectors::for_front_end(&lpc);
            lpc.extractor().extract_into(&samples, &mut vectors).unwrap();
            let curve: Vec<f32> =
                vectors.view(View::Mean).unwrap().iter().map(|value| sign * value).collect();
            let peak = (0..curve.len()).max_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap();
            let expected = 0.7 / std::f64::consts::PI * 8000.0;
            assert!((peak as f64 - expected).abs() < 2.0, "{convention:?}: {peak}, not {expected}");
        }
    }
}

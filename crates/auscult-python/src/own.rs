//! Front ends of the caller's own: Python functions.

use std::{fmt, sync::Arc};

use auscult::{
    BandSettings, ClipLength, Extractor, FrontEnd, FrontEndIdentity, FrontEnds, View,
    core::{Error, Result},
    features::{Axis, FrontEndSource},
};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::arrays;

/// A front end of the caller's own.
pub(crate) struct OwnFrontEnd {
    identity: FrontEndIdentity,
    axis: Axis,
    has_frames: bool,
    bands: BandSettings,
    sample_rate: u32,
    /// An `auscult._own.Function`.
    function: Arc<Py<PyAny>>,
}

impl OwnFrontEnd {
    pub(crate) fn new(
        identity: FrontEndIdentity,
        shape: OwnShape,
        bands: BandSettings,
        sample_rate: u32,
        function: Py<PyAny>,
    ) -> Self {
        let OwnShape { axis_len, has_frames } = shape;
        let (axis, function) = (Axis::other(axis_len), Arc::new(function));
        Self { identity, axis, has_frames, bands, sample_rate, function }
    }

    /// A function for clips of one length; it is tried once to see what it gives.
    pub(crate) fn of_function(
        function: Py<PyAny>,
        length: ClipLength,
        bands: BandSettings,
    ) -> Result<Self> {
        let (name, shape, probe) = Python::attach(|py| {
            let describe = || -> PyResult<(String, OwnShape, Vec<f64>)> {
                let function = function.bind(py);
                let given = (length.samples(), length.sample_rate());
                let (axis_len, has_frames, probe) =
                    function.call_method1("describe", given)?.extract()?;
                Ok((function.getattr("name")?.extract()?, OwnShape { axis_len, has_frames }, probe))
            };
            describe().map_err(failed)
        })?;
        let settings = json!({
            "convention": name,
            "features": shape.axis_len,
            "frames": shape.has_frames,
            "probe": probe,
        });
        let identity = FrontEndIdentity { name: FrontEnds::PYTHON.to_owned(), settings };
        Ok(Self::new(identity, shape, bands, length.sample_rate(), function))
    }
}

/// What an own front end gives for a clip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnShape {
    pub(crate) axis_len: usize,
    pub(crate) has_frames: bool,
}

/// An exception of the caller's function.
fn failed(error: PyErr) -> Error {
    Error::FrontEnd { reason: error.to_string() }
}

impl fmt::Debug for OwnFrontEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OwnFrontEnd")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl FrontEnd for OwnFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        self.identity.clone()
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        if self.has_frames { &[View::Mean, View::Max] } else { &[View::Mean] }
    }

    fn default_bands(&self) -> BandSettings {
        self.bands
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(OwnExtractor {
            axis_len: self.axis.len(),
            sample_rate: self.sample_rate,
            function: Arc::clone(&self.function),
        })
    }
}

struct OwnExtractor {
    axis_len: usize,
    sample_rate: u32,
    function: Arc<Py<PyAny>>,
}

impl Extractor for OwnExtractor {
    fn for_each_frame(&mut self, samples: &[f32], sink: &mut dyn FnMut(&[f32])) -> Result<()> {
        Python::attach(|py| {
            let call = || -> PyResult<()> {
                let samples = PyArray1::from_slice(py, samples);
                let frames = self.function.call1(py, (samples, self.sample_rate, self.axis_len))?;
                let frames = frames.extract::<PyReadonlyArray2<'_, f32>>(py)?;
                let (values, axis_len) = arrays::matrix(&frames)?;
                values.chunks_exact(axis_len.max(1)).for_each(sink);
                Ok(())
            };
            call().map_err(failed)
        })
    }
}

/// The function that a model was made with, as its opener says.
pub(crate) struct OwnSource(pub(crate) Py<PyAny>);

impl fmt::Debug for OwnSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("OwnSource").finish_non_exhaustive()
    }
}

impl FrontEndSource for OwnSource {
    fn names(&self) -> Vec<String> {
        vec![FrontEnds::PYTHON.to_owned()]
    }

    fn build(&self, identity: &FrontEndIdentity, length: ClipLength) -> Result<Arc<dyn FrontEnd>> {
        let function = Python::attach(|py| self.0.clone_ref(py));
        let mut given = OwnFrontEnd::of_function(function, length, BandSettings::Whole)?;
        compare(&identity.settings, &given.identity.settings)
            .map_err(|reason| Error::FrontEnd { reason })?;
        // Names may change, and numbers a little from machine to machine.
        given.identity = identity.clone();
        Ok(Arc::new(given))
    }
}

/// Says how a function differs from the one that a model was made with.
fn compare(
    expected: &serde_json::Value,
    given: &serde_json::Value,
) -> std::result::Result<(), String> {
    /// Largest difference of a probe's numbers, as a share of the largest of them.
    const TOLERANCE: f64 = 1e-3;
    for what in ["features", "frames"] {
        let (expected, given) = (&expected[what], &given[what]);
        if expected != given {
            return Err(format!(
                "the function is not the one the model was made with: {what} {given}, and {expected} then"
            ));
        }
    }
    let numbers = |settings: &serde_json::Value| -> Vec<f64> {
        let probe = settings["probe"].as_array();
        probe.into_iter().flatten().filter_map(serde_json::Value::as_f64).collect()
    };
    let (expected, given) = (numbers(expected), numbers(given));
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * largest;
    if expected.len() == given.len() && expected.iter().zip(&given).all(is_near) {
        return Ok(());
    }
    Err("the function is not the one the model was made with: it gives other numbers for the same sound".to_owned())
}

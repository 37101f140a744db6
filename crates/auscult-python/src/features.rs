//! Front ends on arrays: feature maps and pooled vectors, many clips at once on all cores.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use auscult::{
    ClipSettings, ClipVectors, Extractor, FrontEndIdentity, FrontEndSpec,
    encoders::EncoderRequest,
    features::{FrontEndSettings, LpcConvention, LpcSettings, MfccConvention, MfccSettings},
};
use multiversion::multiversion;
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, ndarray::Array2};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::{
    arrays, control,
    error::{CallError, OrRaise, exception, input_error},
    options::front_ends,
    threads,
    waiting::Waiting,
};

/// A front end for clips of one length and rate.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct FrontEnd {
    inner: Arc<dyn auscult::FrontEnd>,
    identity: FrontEndIdentity,
    samples: usize,
    /// Planning transforms costs more than a clip does.
    extractors: Waiting<Box<dyn Extractor>>,
}

/// Up to this many clips nobody waits long for: Ctrl-C is heeded when they are done.
const FEW: usize = 16;

/// Clips of one length: rows of a matrix, which is far less to keep an eye on, or one by one.
#[derive(FromPyObject)]
enum Clips<'py> {
    Matrix(PyReadonlyArray2<'py, f32>),
    List(Vec<PyReadonlyArray1<'py, f32>>),
}

/// A feature map: frames one after the other.
type Frames = Vec<f32>;

impl FrontEnd {
    /// Lends an extractor that nobody else has.
    fn with_extractor<T>(&self, work: impl FnOnce(&mut dyn Extractor) -> T) -> T {
        let mut extractor = self.extractors.take().unwrap_or_else(|| self.inner.extractor());
        let result = work(&mut *extractor);
        self.extractors.put(extractor);
        result
    }

    fn frames_of(&self, samples: &[f32]) -> Result<Frames, CallError> {
        refuse_not_finite(samples)?;
        let mut frames = Vec::new();
        self.with_extractor(|extractor| {
            extractor.for_each_frame(samples, &mut |frame| frames.extend_from_slice(frame))
        })?;
        Ok(frames)
    }

    /// Frames into a buffer of the right length; otherwise how many values there are.
    fn frames_into(&self, samples: &[f32], out: &mut [f32]) -> Result<usize, CallError> {
        refuse_not_finite(samples)?;
        let mut written = 0;
        self.with_extractor(|extractor| {
            extractor.for_each_frame(samples, &mut |frame| {
                if let Some(place) = out.get_mut(written..written + frame.len()) {
                    place.copy_from_slice(frame);
                }
                written += frame.len();
            })
        })?;
        Ok(written)
    }

    fn vectors_of(&self, samples: &[f32]) -> Result<ClipVectors, CallError> {
        refuse_not_finite(samples)?;
        let mut vectors = ClipVectors::for_front_end(&*self.inner);
        self.with_extractor(|extractor| extractor.extract_into(samples, &mut vectors))?;
        Ok(vectors)
    }

    /// The samples of clips of the length that is planned for.
    fn checked<'a>(&self, py: Python<'_>, clips: &'a Clips<'_>) -> PyResult<Vec<&'a [f32]>> {
        let clips: Vec<&[f32]> = match clips {
            Clips::Matrix(matrix) => {
                let (values, samples) = arrays::matrix(matrix)?;
                values.chunks_exact(samples.max(1)).collect()
            }
            Clips::List(clips) => clips.iter().map(arrays::vector).collect::<PyResult<_>>()?,
        };
        let odd = |clip: &&[f32]| clip.len() != self.samples;
        if let Some(clip) = clips.iter().copied().find(odd) {
            let (got, wanted) = (clip.len(), self.samples);
            let text = format!("a clip has {got} samples, and this front end is for {wanted}");
            return Err(input_error(py, text));
        }
        Ok(clips)
    }
}

#[pymethods]
impl FrontEnd {
    /// By name. `count` is the number of coefficients of `mfcc` and of points of `lpc`, `order` that of `lpc`'s poles.
    #[new]
    #[pyo3(signature = (name, sample_rate, samples, convention=None, layers=None, count=None, order=None, encoder_file=None))]
    #[expect(clippy::too_many_arguments, reason = "named by whoever calls it")]
    fn new(
        py: Python<'_>,
        name: &str,
        sample_rate: u32,
        samples: usize,
        convention: Option<String>,
        layers: Option<Vec<usize>>,
        count: Option<usize>,
        order: Option<usize>,
        encoder_file: Option<PathBuf>,
    ) -> PyResult<Self> {
        let make = || -> Result<Arc<dyn auscult::FrontEnd>, CallError> {
            let seconds = samples as f64 / f64::from(sample_rate);
            let length = ClipSettings { sample_rate, seconds }.check()?;
            let convention_of = convention.as_deref();
            let own = match (name, count, order) {
                ("mfcc", Some(coefficients), None) => {
                    let convention =
                        convention_of.map_or(Ok(MfccConvention::default()), str::parse)?;
                    Some(FrontEndSettings::Mfcc(MfccSettings { convention, coefficients }))
                }
                ("lpc", points, order) if points.is_some() || order.is_some() => {
                    let usual = LpcSettings::default();
                    Some(FrontEndSettings::Lpc(LpcSettings {
                        convention: convention_of
                            .map_or(Ok(LpcConvention::default()), str::parse)?,
                        order: order.unwrap_or(usual.order),
                        points: points.unwrap_or(usual.points),
                    }))
                }
                _ => None,
            };
            if let Some(settings) = own {
                return Ok(settings.build(length)?);
            }
            let encoder =
                EncoderRequest { layers: layers.unwrap_or_default(), ..Default::default() };
            let spec = FrontEndSpec { name: name.to_owned(), convention, encoder };
            Ok(front_ends(encoder_file.as_ref()).named(&spec, length)?)
        };
        let front_end = threads::compute(py, make)?.or_raise(py)?;
        let identity = front_end.identity();
        Ok(Self { inner: front_end, identity, samples, extractors: Waiting::default() })
    }

    #[getter]
    fn axis_len(&self) -> usize {
        self.inner.axis().len()
    }

    #[getter]
    fn name(&self) -> String {
        self.identity.to_string()
    }

    #[getter]
    fn views(&self) -> Vec<&'static str> {
        self.inner.views().iter().map(|view| view.name()).collect()
    }

    /// Width and stride of the paper's bands; `None` for the whole axis or members.
    #[getter]
    fn default_bands(&self) -> Option<(usize, usize)> {
        match self.inner.default_bands() {
            auscult::BandSettings::Windows { width, stride } if self.inner.members().is_empty() => {
                Some((width, stride))
            }
            _ => None,
        }
    }

    /// The frequencies of positions `start` to `end`, where they have such.
    fn hertz(&self, start: usize, end: usize) -> Option<(f64, f64)> {
        let axis = self.inner.axis();
        let range = (start < end && end <= axis.len()).then(|| axis.hertz(start..end))??;
        Some((range.start, range.end))
    }

    /// The feature map of one clip, frames x axis.
    fn frames<'py>(
        &self,
        py: Python<'py>,
        clip: PyReadonlyArray1<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let clip = Clips::List(vec![clip]);
        let samples = self.checked(py, &clip)?[0];
        let compute = || self.frames_of(samples);
        let frames = threads::compute_one(py, &self.identity, compute)?.or_raise(py)?;
        self.map(py, frames)
    }

    /// The feature maps of many clips, on all cores.
    fn frames_of_many<'py>(
        &self,
        py: Python<'py>,
        clips: Clips<'py>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f32>>>> {
        let clips = self.checked(py, &clips)?;
        let maps = map_clips(py, &clips, |_, clip| self.frames_of(clip))?;
        maps.into_iter().map(|frames| self.map(py, frames)).collect()
    }

    /// The same into one buffer with room for every clip, one after the other.
    fn frames_into_buffer(
        &self,
        py: Python<'_>,
        clips: Clips<'_>,
        mut out: PyReadwriteArray1<'_, f32>,
    ) -> PyResult<()> {
        let clips = self.checked(py, &clips)?;
        let contiguous = "the buffer must be C-contiguous and writeable";
        let out = out.as_slice_mut().map_err(|_| input_error(py, contiguous))?;
        if clips.is_empty() {
            return Ok(());
        }
        let room = out.len() / clips.len();
        // Each is taken once, by whoever computes its clip.
        let places: Vec<Mutex<&mut [f32]>> = out.chunks_mut(room.max(1)).map(Mutex::new).collect();
        let written = map_clips(py, &clips, |at, clip| {
            let mut place = places[at].lock().unwrap_or_else(PoisonError::into_inner);
            self.frames_into(clip, &mut place)
        })?;
        match written.into_iter().find(|&written| written != room) {
            None => Ok(()),
            Some(needed) => {
                let text = format!(
                    "the buffer has room for {room} values a clip, and a clip has {needed}"
                );
                Err(input_error(py, text))
            }
        }
    }

    /// One matrix a view, clips x axis.
    fn vectors<'py>(
        &self,
        py: Python<'py>,
        clips: Clips<'py>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f32>>>> {
        let clips = self.checked(py, &clips)?;
        let axis_len = self.inner.axis().len();
        let vectors = map_clips(py, &clips, |_, clip| self.vectors_of(clip))?;
        let matrix = |&view| {
            let row = |vectors: &ClipVectors| vectors.view(view).unwrap_or_default().to_vec();
            shaped(py, clips.len(), axis_len, vectors.iter().flat_map(row).collect())
        };
        self.inner.views().iter().map(matrix).collect()
    }
}

impl FrontEnd {
    fn map<'py>(&self, py: Python<'py>, frames: Frames) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let axis_len = self.inner.axis().len();
        shaped(py, frames.len() / axis_len.max(1), axis_len, frames)
    }
}

/// What `work` makes of each clip, on all cores; Ctrl-C stops it between clips.
fn map_clips<T: Send>(
    py: Python<'_>,
    clips: &[&[f32]],
    work: impl Fn(usize, &[f32]) -> Result<T, CallError> + Sync + Send,
) -> PyResult<Vec<T>> {
    let each = |at: usize| work(at, clips[at]);
    if clips.len() <= FEW {
        let work = || (0..clips.len()).into_par_iter().map(each).collect::<Result<_, _>>();
        return threads::compute(py, work)?.or_raise(py);
    }
    // Nothing is told to the sink.
    control::watch(py, py.None().bind(py), |control| {
        let unless_stopped = |at: usize| {
            if control.is_cancelled() { Err(auscult::Error::Cancelled.into()) } else { each(at) }
        };
        (0..clips.len()).into_par_iter().map(unless_stopped).collect::<Result<_, CallError>>()
    })
}

/// No front end has a use for them, and some would make numbers of them.
fn refuse_not_finite(samples: &[f32]) -> Result<(), CallError> {
    let not_finite = |sample: &f32| !sample.is_finite();
    let found = if are_finite(samples) { None } else { samples.iter().position(not_finite) };
    found.map_or(Ok(()), |at| {
        let sample = samples[at];
        let text = format!("sample {at} is {sample}; samples must be finite numbers");
        Err(CallError::Value(text))
    })
}

/// Whether all are; without an early end, so that many are looked at together.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx2", "x86_64+avx2"))]
fn are_finite(samples: &[f32]) -> bool {
    // Without their signs, numbers are in the order of their bits, and infinity and NaN come last.
    let largest = samples.iter().fold(0, |largest, sample| largest.max(sample.to_bits() << 1));
    largest < f32::INFINITY.to_bits() << 1
}

/// Values as a matrix, without a copy.
pub(crate) fn shaped<T: numpy::Element>(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    values: Vec<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec((rows, columns), values)
        .map_err(|error| exception(py, "AuscultError", &error.to_string()))?;
    Ok(PyArray2::from_owned_array(py, array))
}

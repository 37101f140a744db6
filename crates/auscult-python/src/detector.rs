//! The band-wise detector on plain matrices.

use auscult::{
    BandSettings, Beam, BeamSettings, CalibrationScheme, FittedBeam, Groups, Provenance,
    References, View, beam::BeamOverrides,
};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{
    arrays,
    error::{CallError, OrRaise, from_json, input_error},
    features::shaped,
    threads,
};

/// References and how clips are compared with them.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct Detector(FittedBeam);

/// The views of matrices: the first is the mean's, the second the max's.
const VIEWS: [View; 2] = [View::Mean, View::Max];

#[pymethods]
impl Detector {
    /// Remembers one matrix a view (references x axis). `overrides` is JSON; without bands there is one band.
    ///
    /// References of one group leave together in left-out scores; without groups each leaves alone. `for_scoring`
    /// leaves out what only left-out scores need.
    #[new]
    #[pyo3(signature = (matrices, overrides, groups=None, for_scoring=false))]
    fn new(
        py: Python<'_>,
        matrices: Vec<PyReadonlyArray2<'_, f32>>,
        overrides: &str,
        groups: Option<Vec<String>>,
        for_scoring: bool,
    ) -> PyResult<Self> {
        let (rows, axis_len) = views_of(py, &matrices)?;
        let settings = settings(overrides, rows.len()).or_raise(py)?;
        let count = rows[0].len() / axis_len.max(1);
        let fit = || -> Result<FittedBeam, CallError> {
            let beam: Beam = settings.check(axis_len)?;
            let provenance = (0..count).map(|index| Provenance {
                visit: groups.as_ref().and_then(|groups| groups.get(index)).cloned(),
                ..Provenance::of(index.to_string())
            });
            let matrices = VIEWS.into_iter().zip(rows.iter().map(|row| row.to_vec()));
            let references =
                References::from_matrices(axis_len, matrices.collect(), provenance.collect())?;
            if for_scoring {
                return Ok(beam.fit_for_scoring(references)?);
            }
            let leaving = match &groups {
                Some(_) => Groups::by_scheme(CalibrationScheme::Visits, references.provenance())?,
                None => Groups::clips(count),
            };
            Ok(beam.fit_with_groups(references, &leaving)?)
        };
        Ok(Self(threads::compute(py, fit)?.or_raise(py)?))
    }

    /// How far each clip is from the references, one matrix a view.
    fn score<'py>(
        &self,
        py: Python<'py>,
        matrices: Vec<PyReadonlyArray2<'py, f32>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores =
            self.scored(py, &matrices, &|score, out: &mut Vec<f64>| out.push(score.value))?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The scores of each band, one matrix a view (clips x bands).
    fn band_scores<'py>(
        &self,
        py: Python<'py>,
        matrices: Vec<PyReadonlyArray2<'py, f32>>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let bands = self.0.beam().layout().bands().len();
        let mut found = Vec::new();
        for view in 0..self.0.beam().settings().views.len() {
            let values = self.scored(py, &matrices, &|score, out: &mut Vec<f64>| {
                out.extend(score.views[view].bands.iter().map(|band| band.value));
            })?;
            found.push(shaped(py, values.len() / bands.max(1), bands, values)?);
        }
        Ok(found)
    }

    /// The nearest reference of each band, one matrix a view (clips x bands).
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        matrices: Vec<PyReadonlyArray2<'py, f32>>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<i64>>>> {
        let bands = self.0.beam().layout().bands().len();
        let mut found = Vec::new();
        for view in 0..self.0.beam().settings().views.len() {
            let values = self.scored(py, &matrices, &|score, out: &mut Vec<i64>| {
                let of = |band: &auscult::BandScore| i64::try_from(band.reference).unwrap_or(-1);
                out.extend(score.views[view].bands.iter().map(of));
            })?;
            found.push(shaped(py, values.len() / bands.max(1), bands, values)?);
        }
        Ok(found)
    }

    /// The score of each reference without its group; NaN where nothing else is in memory.
    fn left_out_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let scores = self.0.left_out_scores().iter().map(|score| score.unwrap_or(f64::NAN));
        PyArray1::from_vec(py, scores.collect())
    }

    /// What is remembered, one matrix a view.
    fn references<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<f32>>>> {
        let references = self.0.references();
        let matrix = |&view| {
            let values = references.matrix(view).unwrap_or_default().to_vec();
            shaped(py, references.len(), references.axis_len(), values)
        };
        references.views().iter().map(matrix).collect()
    }

    /// Where bands start and end.
    fn bands(&self) -> Vec<(usize, usize)> {
        self.0.beam().layout().bands().iter().map(|band| (band.start, band.end)).collect()
    }
}

/// Clips whose scores are held at the same time.
const AT_ONCE: usize = 4096;

impl Detector {
    fn scored<T: Send>(
        &self,
        py: Python<'_>,
        matrices: &[PyReadonlyArray2<'_, f32>],
        take: &(dyn Fn(&auscult::ClipScore, &mut Vec<T>) + Sync),
    ) -> PyResult<Vec<T>> {
        let (rows, axis_len) = views_of(py, matrices)?;
        let fitted = self.0.references();
        if axis_len != fitted.axis_len() || rows.len() != fitted.views().len() {
            let text = format!(
                "the detector was made from {} matrices with rows of {} values; got {} with rows of {axis_len}",
                fitted.views().len(),
                fitted.axis_len(),
                rows.len()
            );
            return Err(input_error(py, text));
        }
        let count = rows[0].len() / axis_len;
        let work = || -> Result<Vec<T>, CallError> {
            let mut found = Vec::new();
            for first in (0..count).step_by(AT_ONCE) {
                let places = first * axis_len..count.min(first + AT_ONCE) * axis_len;
                let rows = rows.iter().map(|rows| &rows[places.clone()]);
                let views: Vec<(View, &[f32])> = VIEWS.into_iter().zip(rows).collect();
                self.0.score_many(&views)?.iter().for_each(|score| take(score, &mut found));
            }
            Ok(found)
        };
        // Few clips are scored without the threads, so this one need not wait for them.
        let found =
            if count <= FittedBeam::FEW { py.detach(work) } else { threads::compute(py, work)? };
        found.or_raise(py)
    }
}

/// The paper's settings with what was given in their place, for vectors that come without a front end.
fn settings(overrides: &str, views: usize) -> Result<BeamSettings, CallError> {
    let given: BeamOverrides = from_json(overrides)?;
    let bands = match (given.band_width, given.band_stride) {
        (None, None) => BandSettings::Whole,
        (None, Some(_)) => {
            let text = "a band stride needs a band width; give both, or only the width";
            return Err(CallError::Value(text.to_owned()));
        }
        (Some(width), stride) => BandSettings::Windows { width, stride: stride.unwrap_or(width) },
    };
    let usual = BeamSettings::new(bands, VIEWS[..views].to_vec());
    Ok(BeamSettings {
        metric: given.metric.unwrap_or(usual.metric),
        neighbours: given.neighbours.unwrap_or(usual.neighbours),
        exponent: given.density_exponent.unwrap_or(usual.exponent),
        rule: given.density_rule.unwrap_or(usual.rule),
        aggregation: given.aggregate.unwrap_or(usual.aggregation),
        fusion: given.fuse.unwrap_or(usual.fusion),
        ..usual
    })
}

/// The values of one or two matrices of the same shape, and the length of a row.
fn views_of<'a>(
    py: Python<'_>,
    matrices: &'a [PyReadonlyArray2<'_, f32>],
) -> PyResult<(Vec<&'a [f32]>, usize)> {
    let views: Vec<(&[f32], usize)> =
        matrices.iter().map(arrays::matrix).collect::<PyResult<_>>()?;
    let is_same =
        views.windows(2).all(|pair| pair[0].1 == pair[1].1 && pair[0].0.len() == pair[1].0.len());
    match views.as_slice() {
        [(_, axis_len), ..] if views.len() <= VIEWS.len() && is_same && *axis_len > 0 => {
            Ok((views.iter().map(|(values, _)| *values).collect(), *axis_len))
        }
        _ => {
            let shapes: Vec<String> = views
                .iter()
                .map(|(values, columns)| format!("{} values in rows of {columns}", values.len()))
                .collect();
            let text = format!(
                "one matrix, or two of the same shape (mean and max view), with at least 1 column; got {}",
                if shapes.is_empty() { "none".to_owned() } else { shapes.join(" and ") }
            );
            Err(input_error(py, text))
        }
    }
}

//! The steps of the method on plain arrays.

use auscult::{
    BandLayout, BandSettings, Metric, distance,
    metrics::{Domain, Label},
};
use auscult_eval::diagnostics::{Regimes, diagnose, summarise};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::{
    arrays,
    error::{CallError, OrRaise, input_error},
    features::shaped,
    threads,
};

/// Where bands start and end.
#[pyfunction]
pub(crate) fn bands(
    py: Python<'_>,
    axis_len: usize,
    width: usize,
    stride: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let layout = BandLayout::new(axis_len, width, stride).or_raise(py)?;
    Ok(layout.bands().iter().map(|band| (band.start, band.end)).collect())
}

/// Distances of every row to every other row, rows x others.
#[pyfunction]
pub(crate) fn pairwise_distances<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, f32>,
    others: PyReadonlyArray2<'py, f32>,
    metric: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let metric: Metric = metric.parse::<Metric>().or_raise(py)?;
    let (rows, columns) = arrays::matrix(&rows)?;
    let (others, expected) = arrays::matrix(&others)?;
    if columns != expected || columns == 0 {
        let text = format!(
            "rows have {columns} values and the others {expected}; both need the same, at least 1"
        );
        return Err(input_error(py, text));
    }
    let found =
        threads::compute(py, || distance::pairwise(metric, rows, others, columns))?.or_raise(py)?;
    shaped(py, rows.len() / columns, others.len() / columns, found)
}

/// Scores of every clip and the quantities of the paper's appendix, as JSON.
#[pyfunction]
pub(crate) fn diagnostics(
    py: Python<'_>,
    references: PyReadonlyArray2<'_, f32>,
    clips: PyReadonlyArray2<'_, f32>,
    anomalous: Vec<bool>,
    domains: Vec<Option<String>>,
    bands: (usize, usize),
    neighbours: usize,
) -> PyResult<String> {
    let (references, axis_len) = arrays::matrix(&references)?;
    let (clips, columns) = arrays::matrix(&clips)?;
    if columns != axis_len || axis_len == 0 {
        let text = format!(
            "clips have {columns} values and references {axis_len}; both need the same, at least 1"
        );
        return Err(input_error(py, text));
    }
    let rows = |values: &'_ [f32]| values.len() / axis_len;
    if rows(clips) != anomalous.len() || rows(clips) != domains.len() {
        let text = format!(
            "{} clips need as many labels and domains; got {} and {}",
            rows(clips),
            anomalous.len(),
            domains.len()
        );
        return Err(input_error(py, text));
    }
    let work = || -> Result<String, CallError> {
        let (width, stride) = bands;
        let bands = BandSettings::Windows { width, stride };
        let count = bands.layout(axis_len)?.bands().len();
        let references: Vec<&[f32]> = references.chunks_exact(axis_len).collect();
        let clips: Vec<&[f32]> = clips.chunks_exact(axis_len).collect();
        let found = diagnose(&references, &clips, bands, neighbours)
            .map_err(|error| CallError::Value(error.to_string()))?;
        let labels: Vec<Label> =
            anomalous.iter().map(|&is| if is { Label::Anomaly } else { Label::Normal }).collect();
        let domains: Vec<Option<Domain>> =
            domains.iter().map(|domain| Domain::parse(domain.as_deref()?)).collect();
        let regimes = if domains.iter().any(Option::is_some) {
            Regimes::CouplingAndDomain
        } else {
            Regimes::One
        };
        let summary = summarise(&found, &labels, &domains, count, regimes);
        Ok(json!({ "clips": found, "summary": summary }).to_string())
    };
    threads::compute(py, work)?.or_raise(py)
}

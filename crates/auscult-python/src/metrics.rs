//! Figures of scores whose truth is known.

use auscult::metrics::{
    Domain, IntervalSettings, Label, MetricsReport, ReportSettings, ScoredClip,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::{arrays, error::OrRaise, threads};

/// The area under the ROC curve; `None` if one side is empty.
#[pyfunction]
pub(crate) fn auc(
    py: Python<'_>,
    normal: PyReadonlyArray1<'_, f64>,
    anomalous: PyReadonlyArray1<'_, f64>,
) -> PyResult<Option<f64>> {
    let (normal, anomalous) = (arrays::vector(&normal)?, arrays::vector(&anomalous)?);
    Ok(py.detach(|| auscult::metrics::auc(normal, anomalous)))
}

/// The same up to a share of false positives, standardised.
#[pyfunction]
pub(crate) fn partial_auc(
    py: Python<'_>,
    normal: PyReadonlyArray1<'_, f64>,
    anomalous: PyReadonlyArray1<'_, f64>,
    share: f64,
) -> PyResult<Option<f64>> {
    let (normal, anomalous) = (arrays::vector(&normal)?, arrays::vector(&anomalous)?);
    Ok(py.detach(|| auscult::metrics::partial_auc(normal, anomalous, share)))
}

/// A clip with its score: machine, section, label (anomalous or not, if known), domain, score.
type Row = (String, String, Option<bool>, Option<String>, f64);

/// Every figure of a table of scores, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, samples, seed, threshold=None))]
pub(crate) fn metrics_report(
    py: Python<'_>,
    rows: Vec<Row>,
    samples: usize,
    seed: u64,
    threshold: Option<f64>,
) -> PyResult<String> {
    let clip = |(index, (machine, section, label, domain, score)): (usize, Row)| ScoredClip {
        path: format!("clip {index}"),
        machine,
        section,
        set: String::new(),
        label: label.map(|is| if is { Label::Anomaly } else { Label::Normal }),
        domain: domain.as_deref().and_then(Domain::parse),
        score,
    };
    let clips: Vec<ScoredClip> = rows.into_iter().enumerate().map(clip).collect();
    let settings = ReportSettings { intervals: IntervalSettings { samples, seed }, threshold };
    let report = threads::compute(py, || MetricsReport::new(&clips, settings))?.or_raise(py)?;
    serde_json::to_string(&report).or_raise(py)
}

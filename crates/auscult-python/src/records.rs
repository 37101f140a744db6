//! Records of clips, as columns and as JSON.

use std::collections::BTreeMap;

use auscult::{
    Changed, ClipRecord, RunSummary,
    audio::{Location, MemorySound},
};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyList};

use crate::error::{OrRaise, input_error};

/// Records of clips in the order they were read.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct Records {
    clips: Vec<ClipRecord>,
    /// What could not be read, and why.
    problems: Vec<String>,
    /// A `RunSummary` as JSON; empty where there was no run.
    summary: String,
    /// Whether the run differs as a whole, and how.
    changed: Option<Changed>,
    /// Arrays by name, where pages want to show them.
    sounds: BTreeMap<String, MemorySound>,
}

impl Records {
    pub(crate) fn of(clips: Vec<ClipRecord>) -> Self {
        let (problems, summary, sounds) = (Vec::new(), String::new(), BTreeMap::new());
        Self { clips, problems, summary, changed: None, sounds }
    }

    pub(crate) fn of_run(
        clips: Vec<ClipRecord>,
        problems: Vec<String>,
        summary: RunSummary,
        sounds: Vec<MemorySound>,
    ) -> Self {
        let sounds = sounds.into_iter().map(|sound| (sound.name().to_owned(), sound)).collect();
        let as_json = serde_json::to_string(&summary).unwrap_or_default();
        Self { clips, problems, summary: as_json, changed: summary.changed, sounds }
    }

    /// Whether the run differs as a whole, and how.
    pub(crate) fn changed(&self) -> Option<Changed> {
        self.changed.clone()
    }

    pub(crate) fn list(&self) -> &[ClipRecord] {
        &self.clips
    }

    /// Where the sound of a record is.
    pub(crate) fn location(&self, path: &str) -> Location {
        let sound = self.sounds.get(path).cloned();
        sound.map_or_else(|| Location::File(path.into()), Location::Memory)
    }
}

#[pymethods]
impl Records {
    /// None at all.
    #[new]
    fn new() -> Self {
        Self::of(Vec::new())
    }

    fn __len__(&self) -> usize {
        self.clips.len()
    }

    /// A column: numbers as an array with NaN where there is none, texts as a list with `None`.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let numbers = |of: &dyn Fn(&ClipRecord) -> Option<f64>| {
            let values = self.clips.iter().map(|record| of(record).unwrap_or(f64::NAN));
            Ok(PyArray1::from_vec(py, values.collect()).into_any())
        };
        let texts = |of: &dyn Fn(&ClipRecord) -> Option<String>| {
            Ok(PyList::new(py, self.clips.iter().map(of))?.into_any())
        };
        match name {
            "path" => texts(&|record| Some(record.path.clone())),
            "start_seconds" => numbers(&|record| Some(record.start_seconds)),
            "seconds" => numbers(&|record| Some(record.seconds)),
            "score" => numbers(&ClipRecord::score),
            "p_value" => numbers(&ClipRecord::p_value),
            "calibrated" => numbers(&ClipRecord::calibrated),
            "verdict" => texts(&|record| Some(record.verdict().name().to_owned())),
            "reason" => texts(&|record| Some(record.reason.clone())),
            "differs_most" => texts(&|record| record.differs_most.clone()),
            "level_dbfs" => numbers(&|record| Some(record.quality.as_ref()?.level_dbfs)),
            "remarks" => texts(&|record| Some(record.remark_names().join(", "))),
            "alarm" => texts(&|record| record.alarm.map(|state| state.name().to_owned())),
            "domain" => texts(&|record| record.domain.clone()),
            "time" => texts(&|record| record.time.as_ref().map(|time| time.utc.clone())),
            "copy_of" => texts(&|record| record.copy_of.clone()),
            "error" => texts(&|record| record.error.clone()),
            other => Err(input_error(py, format!("records have no column {other:?}"))),
        }
    }

    /// The record at an index as JSON, exactly as the program writes it.
    fn json(&self, py: Python<'_>, index: usize) -> PyResult<Option<String>> {
        self.clips.get(index).map(|record| serde_json::to_string(record).or_raise(py)).transpose()
    }

    #[getter]
    fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    #[getter]
    fn summary(&self) -> &str {
        &self.summary
    }
}

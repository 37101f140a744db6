//! Records of clips, as columns and as JSON.

use std::collections::BTreeMap;

use auscult::{
    ClipRecord,
    audio::{Location, MemorySound},
};
use numpy::PyArray1;
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

use crate::error::OrRaise;

/// Records of clips in the order they were read.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct Records {
    records: Vec<ClipRecord>,
    /// What could not be read, and why.
    problems: Vec<String>,
    /// A `RunSummary` as JSON; empty where there was no run.
    summary: String,
    /// Arrays by name, where pages want to show them.
    sounds: BTreeMap<String, MemorySound>,
}

impl Records {
    pub(crate) fn of(records: Vec<ClipRecord>) -> Self {
        let (problems, summary, sounds) = (Vec::new(), String::new(), BTreeMap::new());
        Self { records, problems, summary, sounds }
    }

    pub(crate) fn of_run(
        records: Vec<ClipRecord>,
        problems: Vec<String>,
        summary: String,
        sounds: Vec<MemorySound>,
    ) -> Self {
        let sounds = sounds.into_iter().map(|sound| (sound.name().to_owned(), sound)).collect();
        Self { records, problems, summary, sounds }
    }

    pub(crate) fn list(&self) -> &[ClipRecord] {
        &self.records
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
        self.records.len()
    }

    /// Every column: numbers as arrays with NaN where there is none, texts as lists.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let numbers = |of: &dyn Fn(&ClipRecord) -> Option<f64>| {
            let values = self.records.iter().map(|record| of(record).unwrap_or(f64::NAN));
            PyArray1::from_vec(py, values.collect())
        };
        let texts = |of: &dyn Fn(&ClipRecord) -> Option<String>| {
            PyList::new(py, self.records.iter().map(of))
        };
        columns.set_item("path", texts(&|record| Some(record.path.clone()))?)?;
        columns.set_item("start_seconds", numbers(&|record| Some(record.start_seconds)))?;
        columns.set_item("seconds", numbers(&|record| Some(record.seconds)))?;
        columns.set_item("score", numbers(&ClipRecord::score))?;
        columns.set_item("p_value", numbers(&ClipRecord::p_value))?;
        columns.set_item("calibrated", numbers(&ClipRecord::calibrated))?;
        columns.set_item("verdict", texts(&|record| Some(record.verdict().name().to_owned()))?)?;
        columns.set_item("reason", texts(&|record| Some(record.reason.clone()))?)?;
        columns.set_item("differs_most", texts(&|record| record.differs_most.clone())?)?;
        columns
            .set_item("level_dbfs", numbers(&|record| Some(record.quality.as_ref()?.level_dbfs)))?;
        let remarks = |record: &ClipRecord| Some(record.remark_names().join(", "));
        columns.set_item("remarks", texts(&remarks)?)?;
        let alarm = |record: &ClipRecord| record.alarm.map(|state| state.name().to_owned());
        columns.set_item("alarm", texts(&alarm)?)?;
        columns.set_item("domain", texts(&|record| record.domain.clone())?)?;
        let time = |record: &ClipRecord| record.time.as_ref().map(|time| time.utc.clone());
        columns.set_item("time", texts(&time)?)?;
        columns.set_item("copy_of", texts(&|record| record.copy_of.clone())?)?;
        columns.set_item("error", texts(&|record| record.error.clone())?)?;
        Ok(columns)
    }

    /// The record at an index as JSON, exactly as the program writes it.
    fn json(&self, py: Python<'_>, index: usize) -> PyResult<Option<String>> {
        self.records.get(index).map(|record| serde_json::to_string(record).or_raise(py)).transpose()
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

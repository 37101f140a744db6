//! Sound as it comes.

use std::sync::{Arc, Mutex};

use auscult::FrontEndIdentity;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::{
    arrays,
    error::{OrRaise, exception},
    records::Records,
    threads,
};

/// Scores pushed sound; used by one thread at a time, others wait.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct Live {
    live: Mutex<Option<auscult::Live<'static>>>,
    front_end: FrontEndIdentity,
}

impl Live {
    pub(crate) fn new(
        py: Python<'_>,
        machine: &Arc<auscult::Machine>,
        sample_rate: u32,
    ) -> PyResult<Self> {
        let start = || auscult::Live::shared(Arc::clone(machine), sample_rate);
        let live = py.detach(start).or_raise(py)?;
        let front_end = machine.model().settings().front_end.clone();
        Ok(Self { live: Mutex::new(Some(live)), front_end })
    }
}

#[pymethods]
impl Live {
    /// The records of the clips that these samples complete; `None` if there is none.
    fn push(
        &self,
        py: Python<'_>,
        samples: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Option<Records>> {
        let samples = arrays::vector(&samples)?;
        let pushed = threads::compute_alone(py, &self.front_end, &self.live, |live| {
            Some(live.as_mut()?.push(samples).map(<[_]>::to_vec))
        })?;
        let records = pushed.ok_or_else(|| finished(py))?.or_raise(py)?;
        Ok((!records.is_empty()).then(|| Records::of(records)))
    }

    /// The last record, if one was due, and the seconds left over.
    fn finish(&self, py: Python<'_>) -> PyResult<(Records, f64)> {
        let ended = threads::compute_alone(py, &self.front_end, &self.live, |live| {
            live.take().map(auscult::Live::finish)
        })?;
        let (last, seconds) = ended.ok_or_else(|| finished(py))?.or_raise(py)?;
        Ok((Records::of(last.into_iter().collect()), seconds))
    }
}

fn finished(py: Python<'_>) -> PyErr {
    exception(py, "InputError", "this live sound was finished; start another with Machine.live")
}

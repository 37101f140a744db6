//! The program, as the scripts of the package call it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with these arguments, the first of which is its name, and returns its exit code.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| auscult_cli::run(arguments))
}

#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyfunction]
pub(crate) fn model_file_version() -> u32 {
    auscult::model_file::VERSION
}

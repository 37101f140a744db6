//! The native module behind the Python package: arrays and settings in, library calls, arrays out.
//!
//! Names, documentation and types that users see are in `python/auscult`; nothing here is public. Every call that
//! computes releases the interpreter and runs on the threads of `threads`; long calls are watched by `control`, so
//! that they report progress and can be interrupted.
#![doc(hidden)]
#![expect(clippy::needless_pass_by_value, reason = "the interpreter hands over values")]

mod archive;
mod arrays;
mod control;
mod detector;
mod error;
mod evaluation;
mod features;
mod live;
mod machine;
mod method;
mod metrics;
mod options;
mod own;
mod program;
mod records;
mod threads;
mod waiting;

use pyo3::prelude::*;

/// What `auscult` is made of; use the package `auscult`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{
        archive::{ArchivePlan, ArchiveScorer, ArchiveShards},
        detector::Detector,
        evaluation::{BenchRun, load_dataset, protocol_length, protocol_names, run_protocol},
        features::FrontEnd,
        live::Live,
        machine::{Machine, tune},
        method::{bands, diagnostics, pairwise_distances},
        metrics::{auc, metrics_report, partial_auc},
        program::{model_file_version, run_program, version},
        records::Records,
        threads::{set_threads, thread_count},
    };
}

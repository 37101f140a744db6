//! 7. Runs: systems on data sets, section by section, and what comes out of them.

mod chart;
mod compare;
mod page;
mod results;
mod section;
mod submission;
mod sweep_table;
mod tables;
mod worker;

pub use self::{
    compare::{Comparison, compare},
    page::page,
    results::{DiagnosticsRow, ResultRow, RunFacts, RunResults},
    section::{DiagnosticsResult, SectionResult, SystemResult, TestClip, read_sections},
    submission::{Threshold, write_submission},
    tables::{latex, markdown},
    worker::{
        Evaluation, FrontEndMaker, MissingFrontEnd, RunProgress, RunSettings, built_in_front_end,
        evaluate,
    },
};

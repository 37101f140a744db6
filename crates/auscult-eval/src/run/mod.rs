//! 7. Runs: systems on data sets, section by section, and what comes out of them.

mod compare;
mod front_ends;
mod names;
mod neighbours;
mod nothing_to_compare;
mod page;
mod partial;
mod plan;
mod results;
mod section;
mod submission;
mod sweep_table;
mod tables;
mod worker;

pub use self::{
    compare::{Comparison, compare},
    front_ends::{FrontEndMaker, FrontEndName, built_in_front_end, identities},
    neighbours::too_many_neighbours,
    nothing_to_compare::nothing_to_compare,
    page::page,
    plan::{RunPlan, remove_results, remove_stale_sections},
    results::{DiagnosticsRow, ResultRow, RunFacts, RunResults},
    section::{DiagnosticsResult, SectionResult, SystemResult, TestClip, read_sections},
    submission::{Threshold, write_submission},
    tables::{latex, markdown},
    worker::{Evaluation, MissingFrontEnd, RunSettings, evaluate},
};

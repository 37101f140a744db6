//! 7. Runs: systems on data sets, section by section, and what comes out of them.

mod compare;
mod front_ends;
mod names;
mod neighbours;
mod page;
mod partial;
mod plan;
mod results;
mod section;
mod submission;
mod sweep_table;
mod tables;
mod why_not;
mod worker;

pub use self::{
    compare::{Comparison, compare},
    front_ends::{FrontEndMaker, FrontEndName, built_in_front_end, identities},
    neighbours::too_many_neighbours,
    page::page,
    plan::{RunPlan, remove_results, remove_stale_sections},
    results::{DiagnosticsRow, ResultRow, RunFacts, RunResults},
    section::{DiagnosticsResult, SectionResult, SystemResult, TestClip, read_sections},
    submission::{Threshold, write_submission},
    tables::{latex, markdown},
    why_not::why_not,
    worker::{Evaluation, MissingFrontEnd, RunProgress, RunSettings, evaluate},
};

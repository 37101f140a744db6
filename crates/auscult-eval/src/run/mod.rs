//! 7. Runs: systems on data sets, section by section, and what comes out of them.

mod cited;
mod compare;
mod data_tables;
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
mod text_table;
mod worker;

pub use self::{
    compare::{Comparison, compare},
    data_tables::{CountsRow, DataTables, WindowsRow},
    front_ends::{FrontEndMaker, FrontEndName, built_in_front_end, identities},
    neighbours::too_many_neighbours,
    nothing_to_compare::nothing_to_compare,
    page::page,
    plan::{RunPlan, remove_results, remove_stale_sections},
    results::{DiagnosticsRow, ResultRow, RunFacts, RunResults},
    section::{DiagnosticsResult, SectionResult, SystemResult, TestClip, read_sections},
    submission::{SectionDecisions, Submission, Threshold, write_submission},
    tables::{latex, markdown},
    worker::{Evaluation, MissingFrontEnd, RunSettings, evaluate},
};

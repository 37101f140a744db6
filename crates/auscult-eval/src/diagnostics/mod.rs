//! 5. Why bands help or not: the quantities of the paper's appendix (signal detection theory).
//!
//! For each test clip: the global score, the score with all bands tied to the global neighbour
//! (`uniform`), and the score with each band's own neighbour (`sub_band`). From these follow the
//! variances, gaps and sensitivities of Table 7, the bound of Proposition 1 and the condition of
//! Theorem 1.

mod scores;
mod summary;

pub use self::{
    scores::{ClipDiagnostics, Diagnosis, diagnose},
    summary::{BothViews, Regimes, Summary, summarise},
};

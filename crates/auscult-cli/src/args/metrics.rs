//! `auscult metrics`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Columns: path, label (0, 1, normal or anomaly), score; used if there: domain (source or target),
machine, section, set. Larger scores are further from normal.

Names say what is compared: auc is all normal clips against all anomalies; auc_source and
auc_target are the normal clips of one domain against all anomalies (DCASE since 2022);
..._same_domain keeps both to the domain (DCASE 2021). With several machines or sections read the
official scores and the means over sections: the others take all rows as one set.

Example:
  auscult metrics scores.csv --json")]
pub(crate) struct MetricsArguments {
    /// A CSV file of scores.
    #[arg(value_name = "SCORES.csv")]
    pub(crate) scores: PathBuf,

    /// Print every figure as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Judge decisions too: scores above this are called anomalous.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,

    /// Bootstrap samples for the 95 % intervals, 100 to 1000000.
    #[arg(long, default_value_t = 1000, value_name = "N", allow_negative_numbers = true)]
    pub(crate) samples: usize,

    /// The seed of the bootstrap.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

//! `auscult inspect` and `auscult model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{InputArguments, VisitArguments};

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// The model file.
    pub(crate) model: PathBuf,

    /// List every reference.
    #[arg(long)]
    pub(crate) references: bool,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add normal recordings to a model. The result equals a fresh fit on all of them; the network
    /// of an autoencoder stays as it is, only its threshold changes.
    Add {
        /// The model file, changed in place.
        model: PathBuf,
        #[command(flatten)]
        input: InputArguments,
        #[command(flatten)]
        visits: VisitArguments,
    },
    /// Forget references: those of a visit, of a source, or by index. The result equals a fresh
    /// fit on the others; the network of an autoencoder stays as it is, only its threshold changes.
    ///
    /// auscult inspect --references lists them.
    Forget {
        /// The model file, changed in place.
        model: PathBuf,
        /// Forget every reference of this visit.
        #[arg(long, value_name = "VISIT")]
        visit: Vec<String>,
        /// Forget every reference from this file, as inspect --references shows it.
        #[arg(long, value_name = "PATH")]
        source: Vec<String>,
        /// Forget the reference with this index.
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        index: Vec<usize>,
    },
    /// Check that a model file is whole and that its numbers follow from its references.
    Verify {
        /// The model file.
        model: PathBuf,
    },
    /// Keep only references that cover the others; the same references give the same choice.
    Coreset {
        /// The model file, changed in place.
        model: PathBuf,
        /// How many references to keep, at least 1.
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        max_references: usize,
    },
}

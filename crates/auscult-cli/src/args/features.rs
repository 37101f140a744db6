//! `auscult features`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FrontEndArguments, InputArguments};

#[derive(Debug, Args)]
#[command(after_help = "\
Rows are clips in input order. Silent clips have a row; a clip that cannot be read is named on
standard error and has none.

Example:
  auscult features recordings/ --front-end mfcc --view mean --npy mfcc.npy")]
pub(crate) struct FeaturesArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,

    #[command(flatten)]
    pub(crate) front_end: FrontEndArguments,

    /// mean and max are one vector a clip; frames is the whole feature map.
    #[arg(long, value_enum, default_value_t = FeatureView::Mean, help_heading = None)]
    pub(crate) view: FeatureView,

    /// Write a numpy array: clips x axis (with --view frames clips x frames x axis), f32.
    #[arg(long, group = "format", value_name = "FILE", help_heading = None)]
    pub(crate) npy: Option<PathBuf>,

    /// Write numpy arrays: features, start_seconds and paths.
    #[arg(long, group = "format", value_name = "FILE", help_heading = None)]
    pub(crate) npz: Option<PathBuf>,

    /// Print CSV: path, start_seconds, frame and one column a position (a row a frame with --view
    /// frames).
    #[arg(long, group = "format", help_heading = None)]
    pub(crate) csv: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeatureView {
    /// Mean over frames.
    Mean,
    /// Maximum over frames.
    Max,
    /// Every frame.
    Frames,
}

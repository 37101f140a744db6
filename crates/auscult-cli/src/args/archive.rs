//! `auscult archive`.

use std::path::PathBuf;

use auscult::{Preset, audio::ChannelRule};
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
A manifest lists clips: CSV, JSON lines or Parquet with the column path (a path relative to the
manifest, or an address: https://, or s3:// in builds with object-store), and where you have them
start_seconds and seconds (a part of a recording), machine and domain.

Examples:
  auscult archive plan pump.auscult clips.parquet              what a run will cost
  auscult archive score pump.auscult clips.parquet --out scores
  auscult archive fit recordings.csv --out models              a model for each machine
  auscult archive score models clips.parquet --out scores      each clip by the model of its machine")]
pub(crate) enum ArchiveCommand {
    /// Score millions of clips, shard by shard; may be killed and started again.
    Score(ArchiveScoreArguments),
    /// Say what a run will cost: clips, shards, time, measured on a few clips.
    Plan(ArchivePlanArguments),
    /// Learn a model for each machine of a manifest.
    Fit(ArchiveFitArguments),
}

/// What is scored, by what.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArguments {
    /// The model file, or a folder with a file NAME.auscult for each machine.
    pub(crate) model: PathBuf,

    /// The list of clips.
    pub(crate) manifest: PathBuf,

    /// Clips of a shard.
    #[arg(long, value_name = "N", default_value_t = 512, allow_negative_numbers = true)]
    pub(crate) shard_clips: usize,

    /// Time from the start of one clip to the next in long recordings; one clip length if not
    /// given.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) hop_seconds: Option<f64>,

    /// Which channel to take, if not the one the model was made with.
    #[arg(long, value_name = "0|mean|N|0-1", allow_negative_numbers = true)]
    pub(crate) channel: Option<ChannelRule>,

    /// Take recordings from addresses without encryption too; anybody on the way could change them.
    #[arg(long)]
    pub(crate) insecure: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each shard is a file shard=NNNNN.parquet, written whole or not at all. A shard that is there
already, made from the same clips, model and settings, is skipped. A clip that cannot be read is
a row with an error. Columns: clip_id, uri, start_seconds, seconds, score, p_value, verdict,
differs_most, error, model_hash, settings_hash.

The exit code is 2 if a row that was written has an error.")]
pub(crate) struct ArchiveScoreArguments {
    #[command(flatten)]
    pub(crate) archive: ArchiveArguments,

    /// The folder that results go to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Replace results of another manifest, model or settings that are in the folder.
    #[arg(long)]
    pub(crate) replace: bool,

    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ArchivePlanArguments {
    #[command(flatten)]
    pub(crate) archive: ArchiveArguments,

    /// The folder that results will go to: shards that are there already are not counted.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// What an hour of a processor costs, to say what all of it will.
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    pub(crate) price: Option<f64>,

    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The manifest has the columns path and machine, and visit, label, split where you have them, as for
auscult fit. A model that is there already is kept, so a run that was stopped goes on.")]
pub(crate) struct ArchiveFitArguments {
    /// The list of normal recordings.
    pub(crate) manifest: PathBuf,

    /// The folder that models go to, a file MACHINE.auscult for each.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// What is compared and how, as for auscult fit.
    #[arg(long, value_name = "best|fast|paper")]
    pub(crate) preset: Option<Preset>,

    /// Learn machines again that have a model already.
    #[arg(long)]
    pub(crate) replace: bool,

    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

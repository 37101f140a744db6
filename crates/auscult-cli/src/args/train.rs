//! `auscult train`.

use std::path::PathBuf;

use auscult_eval::datasets::DatasetKind;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Writes settings.json, curve.csv, curve.svg, checkpoint.safetensors and, at the end,
encoder.safetensors. A run that was stopped or killed goes on where its last checkpoint is when the
same command runs again, with the same numbers.

Examples:
  auscult train --data ~/dcase2023 --dataset dcase2023 --labels attributes --out runs/ced
  auscult bench eval --data ~/dcase2023 --dataset dcase2023 --front-end ced --layer 8 \\
    --encoder runs/ced/encoder.safetensors

Only in programs built with the feature training; see docs/training.md.")]
pub(crate) struct TrainArguments {
    /// The folder of the data; several if parts lie in different places. Archives (.zip) are read
    /// in place.
    #[arg(long, required = true, value_name = "ROOT")]
    pub(crate) data: Vec<PathBuf>,

    /// dcase2020 to dcase2026, mimii, or folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: DatasetKind,

    /// Only this machine type; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) machine: Vec<String>,

    /// Only this part: dev or eval; MIMII: min6dB, 0dB or 6dB.
    #[arg(long, value_name = "NAME")]
    pub(crate) split: Vec<String>,

    /// What is told apart.
    #[arg(long, value_enum, default_value_t = LabelName::Sections)]
    pub(crate) labels: LabelName,

    /// The run's folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,

    /// The encoder to begin with: ced, beats, eat, or one of their sizes; --encoder names a file.
    #[arg(long, default_value = "ced", value_name = "NAME")]
    pub(crate) front_end: String,

    /// Length of a clip in seconds: 1 to 30, for ced 1 to 10.08. Shorter recordings are padded with
    /// zeros, of longer ones the beginning is taken.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) clip_seconds: f64,

    /// Which channel is taken: 0, 1, ... or mean.
    #[arg(long, default_value = "0", value_name = "CHANNEL")]
    pub(crate) channel: String,

    #[command(flatten)]
    pub(crate) numbers: TrainNumbers,

    /// Stop after this many minutes, with a checkpoint and the encoder as it is then.
    #[arg(long, value_name = "MINUTES", allow_negative_numbers = true)]
    pub(crate) at_most_minutes: Option<f64>,

    /// Where the arithmetic is done; gpu needs a program built with the feature training-gpu.
    #[arg(long, value_enum, default_value_t = DeviceName::Cpu)]
    pub(crate) device: DeviceName,

    /// Print what was done as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The numbers of the recipe.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recipe (the defaults are AnoPatch's, as the paper has them)")]
pub(crate) struct TrainNumbers {
    /// Updates of the weights.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) steps: usize,

    /// Clips of a pass.
    #[arg(long, default_value_t = 32, value_name = "N")]
    pub(crate) batch: usize,

    /// Passes of an update.
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub(crate) accumulation: usize,

    /// Highest step size of AdamW.
    #[arg(long, default_value_t = 1e-4, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) learning_rate: f64,

    /// Updates until it is reached; from there it falls in a straight line. 960 if not given, or a
    /// tenth of --steps if that is less.
    #[arg(long, value_name = "N")]
    pub(crate) warm_up: Option<usize>,

    /// Weight decay of AdamW.
    #[arg(long, default_value_t = 0.01, value_name = "X", allow_negative_numbers = true)]
    pub(crate) weight_decay: f64,

    /// How much of the moments of gradients and of their squares AdamW keeps.
    #[arg(long, default_values_t = [0.9, 0.999], num_args = 2, value_names = ["B1", "B2"])]
    pub(crate) betas: Vec<f64>,

    /// What keeps AdamW from dividing by nothing.
    #[arg(long, default_value_t = 1e-8, value_name = "X")]
    pub(crate) epsilon: f64,

    /// Shorten gradients longer than this; not at all if not given.
    #[arg(long, value_name = "LENGTH", allow_negative_numbers = true)]
    pub(crate) largest_gradient: Option<f64>,

    /// ArcFace: the margin in radians.
    #[arg(long, default_value_t = 0.5, value_name = "X", allow_negative_numbers = true)]
    pub(crate) margin: f64,

    /// ArcFace: the factor on cosines.
    #[arg(long, default_value_t = 64.0, value_name = "X", allow_negative_numbers = true)]
    pub(crate) scale: f64,

    /// SpecAugment: frames hidden, at most.
    #[arg(long, default_value_t = 80, value_name = "N")]
    pub(crate) time_mask: usize,

    /// SpecAugment: mel bins hidden, at most; the paper has 40 for DCASE 2020.
    #[arg(long, default_value_t = 80, value_name = "N")]
    pub(crate) frequency_mask: usize,

    /// Share of clips that something is hidden of.
    #[arg(long, default_value_t = 1.0, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) mask_share: f64,

    /// Train low-rank additions of this rank and leave the encoder's own weights as they are.
    #[arg(long, value_name = "RANK")]
    pub(crate) lora: Option<usize>,

    /// The factor on additions is this over the rank; the rank if not given.
    #[arg(long, value_name = "X", requires = "lora", allow_negative_numbers = true)]
    pub(crate) lora_alpha: Option<f64>,

    /// Layers that get additions: query, key, value, output, up, down.
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "lora")]
    #[arg(default_values_t = ["query".to_owned(), "value".to_owned()])]
    pub(crate) lora_targets: Vec<String>,

    /// Keep AdamW's moments in half the memory (bf16).
    #[arg(long)]
    pub(crate) half_moments: bool,

    /// Refuse a class with fewer clips.
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) least_clips: usize,

    /// Decides first weights, order and masks.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,

    /// Write a checkpoint every N updates.
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) checkpoint_every: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelName {
    /// Machine and section.
    Sections,
    /// Machine, section and attributes.
    Attributes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceName {
    /// The cores of this machine.
    Cpu,
    /// A graphics card, through Vulkan, Metal or DirectX 12.
    Gpu,
}

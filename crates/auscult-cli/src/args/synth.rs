//! `auscult synth` and `auscult demo`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Folder for the sounds, the model and the report.
    #[arg(long, default_value = "auscult-demo", value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Which machine: fan, pump, valve or slider.
    #[arg(long, default_value = "pump")]
    pub(crate) machine: String,

    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    /// Folder to write to; must be empty or new.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Machines: fan, pump, valve, slider. All if not given.
    #[arg(long = "machine", value_name = "NAME")]
    pub(crate) machines: Vec<String>,

    /// dcase: machine/train and machine/test with DCASE file names. visits: machine/normal/visit_01
    /// and machine/check, as a plant would have it.
    #[arg(long, default_value = "dcase", value_name = "NAME")]
    pub(crate) layout: String,

    /// Faults: bearing_impulses, imbalance, leak, missing_stroke, squeal. All that a machine can
    /// have if not given.
    #[arg(long = "fault", value_name = "NAME")]
    pub(crate) faults: Vec<String>,

    /// How severe the faults are, above 0 up to 1.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) severity: f64,

    /// Normal clips to learn from, per machine: of the source and of the target domain.
    #[arg(long, num_args = 2, value_names = ["SOURCE", "TARGET"], default_values_t = [36, 6])]
    pub(crate) train: Vec<u32>,

    /// Normal and faulty clips each to test with, per machine: of the source and the target domain.
    #[arg(long, num_args = 2, value_names = ["SOURCE", "TARGET"], default_values_t = [12, 6])]
    pub(crate) test: Vec<u32>,

    /// Visits the clips of a domain are spread over, 1 to 24.
    #[arg(long, default_value_t = 4)]
    pub(crate) visits: u32,

    /// Machine over background noise, -30 to 60 dB.
    #[arg(long, default_value_t = 6.0, value_name = "DB", allow_negative_numbers = true)]
    pub(crate) snr_db: f64,

    /// Length of a clip, 0.05 to 120 s.
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) seconds: f64,

    /// Seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

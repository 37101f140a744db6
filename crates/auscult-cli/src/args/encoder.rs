//! What is taken of an encoder, and `auscult encoder`.

use std::path::PathBuf;

use auscult_encoders::Precision;
use clap::{Args, Subcommand};

/// What is taken of an encoder's tokens.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Encoder (front ends ced, beats and eat)")]
pub(crate) struct EncoderArguments {
    /// The layers whose tokens are taken, such as 8 or 4,8,12; more layers, longer vectors. 8 for
    /// ced, the last for others; 0 is the input of the first block. Lower layers cost less.
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pub(crate) layer: Vec<usize>,

    /// Frequency rows of tokens in one band; 1 if not given. ced has 4 rows, the others 8.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) rows_per_band: Option<usize>,

    /// Take the class token as one more band; of the encoders here only eat has one.
    #[arg(long)]
    pub(crate) class_token: bool,

    /// What the encoder computes in: f32, or int16 (faster, scores differ by some thousandths).
    #[arg(long, default_value_t, value_name = "f32|int16")]
    pub(crate) precision: Precision,
}

impl EncoderArguments {
    /// Refuses these options for a front end without tokens.
    pub(crate) fn refuse_for(&self, name: &str) -> anyhow::Result<()> {
        let typed = [
            ("--layer", !self.layer.is_empty()),
            ("--rows-per-band", self.rows_per_band.is_some()),
            ("--class-token", self.class_token),
            ("--precision", self.precision != Precision::default()),
        ];
        match typed.iter().find(|(_, typed)| *typed) {
            None => Ok(()),
            Some((option, _)) => anyhow::bail!(
                "{option} is for encoders (ced, beats, eat) and {name} is none; leave it out"
            ),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum EncoderCommand {
    /// List the encoders this program knows, and which of them are on this machine.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Fetch an encoder's weights, verify them, and keep them for later; goes on where it stopped.
    Pull {
        /// The encoder, as auscult encoder list names it.
        name: String,

        /// Another place to fetch the file from: an http or https address, or a path.
        #[arg(long, value_name = "URL|PATH")]
        from: Option<String>,

        /// SHA-256 the file must have, if you know it from elsewhere.
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// Run an encoder on a built-in signal and see that its numbers make sense.
    Check {
        /// A file with weights, or the name of an encoder on this machine.
        #[arg(value_name = "FILE|NAME")]
        encoder: String,
    },
    /// Say what an encoder is: kind, size, fingerprint, load time and memory.
    Info {
        /// A file with weights, or the name of an encoder on this machine.
        #[arg(value_name = "FILE|NAME")]
        encoder: String,

        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write an encoder's weights as safetensors: f32, with canonical names and its configuration.
    Convert {
        /// A file with weights, or the name of an encoder on this machine.
        #[arg(value_name = "FILE|NAME")]
        encoder: String,

        /// The file to write.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

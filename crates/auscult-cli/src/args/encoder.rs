//! What is taken of an encoder, and `auscult encoder`.

use std::path::PathBuf;

use auscult::encoders::{EncoderRequest, Precision};
use auscult::fetch::Encryption;
use clap::{Args, Subcommand};

/// What is taken of an encoder's tokens.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Encoder (front ends ced, beats and eat)")]
pub(crate) struct EncoderArguments {
    /// The layers whose tokens are taken, such as 8 or 4,8,12; more layers, longer vectors. 8 for
    /// ced, the last for others; 0 is the input of the first block. Lower layers cost less.
    #[arg(long, value_name = "N,..", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = layer)]
    #[arg(hide_short_help = true)]
    pub(crate) layer: Vec<usize>,

    /// Frequency rows of tokens in one band; 1 if not given. ced has 4 rows, the others 8.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub(crate) rows_per_band: Option<usize>,

    /// Take the class token as one more band; of the encoders here only eat has one.
    #[arg(long)]
    #[arg(hide_short_help = true)]
    pub(crate) class_token: bool,

    /// What the encoder computes in: f32, or int16 (faster, scores differ by some thousandths).
    /// int16 for ced, f32 for others if not given.
    #[arg(long, value_name = "f32|int16")]
    #[arg(hide_short_help = true)]
    pub(crate) precision: Option<Precision>,
}

/// A layer; which there are depends on the encoder.
fn layer(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| {
        "a layer is 0 (the input of the first block) to 13 for ced, to 12 for beats and eat, to 24 for \
         eat-large; several with commas between them"
            .to_owned()
    })
}

impl EncoderArguments {
    /// What is asked of encoders.
    pub(crate) fn request(&self) -> EncoderRequest {
        EncoderRequest {
            layers: self.layer.clone(),
            rows_per_band: self.rows_per_band,
            class_token: self.class_token,
            precision: self.precision,
        }
    }

    /// The first of these options that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--layer", !self.layer.is_empty()),
            ("--rows-per-band", self.rows_per_band.is_some()),
            ("--class-token", self.class_token),
            ("--precision", self.precision.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(option, _)| *option)
    }
}

/// What is taken from a server although nobody can say that it is what was wanted.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TrustArguments {
    /// Fetch from addresses that are not encrypted (http), where anybody on the way could change what arrives.
    #[arg(long)]
    insecure: bool,

    /// Take files whose checksum nobody published.
    #[arg(long)]
    pub(crate) unverified: bool,
}

impl TrustArguments {
    /// Whether addresses must be encrypted.
    pub(crate) fn encryption(self) -> Encryption {
        if self.insecure { Encryption::NotRequired } else { Encryption::Required }
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

        #[command(flatten)]
        trust: TrustArguments,
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
    /// Write an encoder's weights as safetensors: f32, with canonical names. The metadata hold its
    /// kind, its configuration and the SHA-256 of the file it came from.
    Convert {
        /// A file with weights, or the name of an encoder on this machine.
        #[arg(value_name = "FILE|NAME")]
        encoder: String,

        /// The file to write.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
}

//! What is taken of an encoder, and `auscult encoder`.

use clap::Args;

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
}

impl EncoderArguments {
    /// Refuses these options for a front end without tokens.
    pub(crate) fn refuse_for(&self, name: &str) -> anyhow::Result<()> {
        let typed = [
            ("--layer", !self.layer.is_empty()),
            ("--rows-per-band", self.rows_per_band.is_some()),
            ("--class-token", self.class_token),
        ];
        match typed.iter().find(|(_, typed)| *typed) {
            None => Ok(()),
            Some((option, _)) => anyhow::bail!(
                "{option} is for encoders (ced, beats, eat) and {name} is none; leave it out"
            ),
        }
    }
}

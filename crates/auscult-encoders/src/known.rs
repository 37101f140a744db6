//! Released encoders: names, sources, checksums.

use crate::{Architecture, Encoder, Error, Result};

/// An encoder somebody published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownEncoder {
    /// The name users type.
    pub name: &'static str,
    /// Its kind.
    pub architecture: Architecture,
    /// Where its file is, for `pull`.
    pub source: &'static str,
    /// What its file is called here.
    pub file: &'static str,
    /// SHA-256 of the file, if somebody published it.
    pub sha256: Option<&'static str>,
    /// What is worth knowing.
    pub note: &'static str,
}

/// Every encoder `pull` knows, and the bundled one.
pub const KNOWN: &[KnownEncoder] = &[
    KnownEncoder {
        name: "ced-tiny",
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-tiny/resolve/main/model.safetensors",
        file: "ced-tiny.safetensors",
        sha256: None,
        note: "5.5 M parameters, Apache-2.0; an int8 form is bundled",
    },
    KnownEncoder {
        name: "ced-mini",
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-mini/resolve/main/model.safetensors",
        file: "ced-mini.safetensors",
        sha256: None,
        note: "9.6 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "ced-small",
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-small/resolve/main/model.safetensors",
        file: "ced-small.safetensors",
        sha256: None,
        note: "22 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "ced-base",
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-base/resolve/main/model.safetensors",
        file: "ced-base.safetensors",
        sha256: None,
        note: "86 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "beats-iter3-plus",
        architecture: Architecture::Beats,
        source: "https://huggingface.co/lpepino/beats_ckpts/resolve/main/BEATs_iter3_plus_AS2M.pt",
        file: "BEATs_iter3_plus_AS2M.pt",
        sha256: None,
        note: "90 M parameters, MIT; a copy of the authors' file",
    },
    KnownEncoder {
        name: "beats-iter3-plus-finetuned",
        architecture: Architecture::Beats,
        source: "https://huggingface.co/lpepino/beats_ckpts/resolve/main/BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt",
        file: "BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt",
        sha256: None,
        note: "91 M parameters, MIT; a copy of the authors' file",
    },
    KnownEncoder {
        name: "beats-iter3",
        architecture: Architecture::Beats,
        source: "",
        file: "BEATs_iter3.pt",
        sha256: Some("8d1b234032a9ccff353612dc6c20982346dc2968b205b79d97303eb5e77bfb34"),
        note: "90 M parameters, MIT; linked from microsoft/unilm beats/README.md, give the link with --from",
    },
    KnownEncoder {
        name: "eat-base",
        architecture: Architecture::Eat,
        source: "https://huggingface.co/worstchan/EAT-base_epoch30_pretrain/resolve/main/model.safetensors",
        file: "eat-base.safetensors",
        sha256: Some("8623072d09aac4f3ad1168b4fed3a24e4f68fe1da25b9fe733375efb237e5f48"),
        note: "86 M parameters, MIT",
    },
    KnownEncoder {
        name: "eat-large",
        architecture: Architecture::Eat,
        source: "https://huggingface.co/worstchan/EAT-large_epoch20_pretrain/resolve/main/model.safetensors",
        file: "eat-large.safetensors",
        sha256: None,
        note: "303 M parameters, MIT",
    },
];

impl KnownEncoder {
    /// The command that fetches it; with a place for the link where none is known here.
    ///
    /// ```
    /// # use auscult_encoders::KnownEncoder;
    /// let command = |name| KnownEncoder::named(name).map(|known| known.pull_command());
    /// assert_eq!(command("eat").as_deref(), Some("auscult encoder pull eat-base"));
    /// assert_eq!(command("beats-iter3").as_deref(), Some("auscult encoder pull beats-iter3 --from LINK"));
    /// ```
    pub fn pull_command(&self) -> String {
        let from = if self.source.is_empty() { " --from LINK" } else { "" };
        format!("auscult encoder pull {}{from}", self.name)
    }

    /// Refuses weights of another known size, such as those of ced-tiny under the name ced-mini.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] with both names.
    pub fn check_size(&self, encoder: &Encoder) -> Result<()> {
        let found = encoder.name();
        if found == self.name || KNOWN.iter().all(|known| known.name != found) {
            return Ok(());
        }
        Err(Error::setting("encoder", format!("the weights of {}", self.name), found))
    }

    /// The encoder of a name, or of a short one: `ced` is ced-tiny, `eat` is eat-base, `beats` is
    /// beats-iter3-plus.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = match name {
            "ced" => "ced-tiny",
            "eat" => "eat-base",
            "beats" => "beats-iter3-plus",
            other => other,
        };
        KNOWN.iter().find(|known| known.name == name)
    }
}

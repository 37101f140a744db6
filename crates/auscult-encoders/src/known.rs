//! Released encoders: names, sources, checksums.

use crate::{Architecture, Encoder, Error, Result};

/// An encoder somebody published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownEncoder {
    /// The name users type.
    pub name: &'static str,
    /// A shorter one, of the kind's first choice.
    pub alias: Option<&'static str>,
    /// Its kind.
    pub architecture: Architecture,
    /// Where its file can be fetched; empty if its authors publish a link that changes.
    pub source: &'static str,
    /// What its file is called here.
    pub file: &'static str,
    /// SHA-256 of the file, if somebody published it.
    pub sha256: Option<&'static str>,
    /// What is worth knowing.
    pub note: &'static str,
}

/// Every released encoder, the bundled one first.
pub const KNOWN: &[KnownEncoder] = &[
    KnownEncoder {
        name: "ced-tiny",
        alias: Some("ced"),
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-tiny/resolve/main/model.safetensors",
        file: "ced-tiny.safetensors",
        sha256: None,
        note: "5.5 M parameters, Apache-2.0; an int8 form is bundled",
    },
    KnownEncoder {
        name: "ced-mini",
        alias: None,
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-mini/resolve/main/model.safetensors",
        file: "ced-mini.safetensors",
        sha256: None,
        note: "9.6 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "ced-small",
        alias: None,
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-small/resolve/main/model.safetensors",
        file: "ced-small.safetensors",
        sha256: None,
        note: "22 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "ced-base",
        alias: None,
        architecture: Architecture::Ced,
        source: "https://huggingface.co/mispeech/ced-base/resolve/main/model.safetensors",
        file: "ced-base.safetensors",
        sha256: None,
        note: "86 M parameters, Apache-2.0",
    },
    KnownEncoder {
        name: "beats-iter3-plus",
        alias: Some("beats"),
        architecture: Architecture::Beats,
        source: "https://huggingface.co/lpepino/beats_ckpts/resolve/main/BEATs_iter3_plus_AS2M.pt",
        file: "BEATs_iter3_plus_AS2M.pt",
        sha256: None,
        note: "90 M parameters, MIT; a copy of the authors' file",
    },
    KnownEncoder {
        name: "beats-iter3-plus-finetuned",
        alias: None,
        architecture: Architecture::Beats,
        source: "https://huggingface.co/lpepino/beats_ckpts/resolve/main/BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt",
        file: "BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt",
        sha256: None,
        note: "91 M parameters, MIT; a copy of the authors' file",
    },
    KnownEncoder {
        name: "beats-iter3",
        alias: None,
        architecture: Architecture::Beats,
        source: "",
        file: "BEATs_iter3.pt",
        sha256: Some("8d1b234032a9ccff353612dc6c20982346dc2968b205b79d97303eb5e77bfb34"),
        note: "90 M parameters, MIT; its link is in beats/README.md of microsoft/unilm",
    },
    KnownEncoder {
        name: "eat-base",
        alias: Some("eat"),
        architecture: Architecture::Eat,
        source: "https://huggingface.co/worstchan/EAT-base_epoch30_pretrain/resolve/main/model.safetensors",
        file: "eat-base.safetensors",
        sha256: Some("8623072d09aac4f3ad1168b4fed3a24e4f68fe1da25b9fe733375efb237e5f48"),
        note: "86 M parameters, MIT",
    },
    KnownEncoder {
        name: "eat-large",
        alias: None,
        architecture: Architecture::Eat,
        source: "https://huggingface.co/worstchan/EAT-large_epoch20_pretrain/resolve/main/model.safetensors",
        file: "eat-large.safetensors",
        sha256: None,
        note: "303 M parameters, MIT",
    },
];

impl KnownEncoder {
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

    /// How many bands its tokens have, and how many numbers a band: what is published, without its weights.
    ///
    /// ```
    /// # use auscult_encoders::KnownEncoder;
    /// let bands = |name| KnownEncoder::named(name).map(KnownEncoder::bands);
    /// assert_eq!(bands("beats-iter3"), Some((8, 768)));
    /// assert_eq!(bands("eat-large"), Some((8, 1024)));
    /// assert_eq!(bands("ced"), Some((4, 192)));
    /// ```
    pub fn bands(&self) -> (usize, usize) {
        (self.architecture.rows(), self.architecture.width_of(self.name))
    }

    /// The encoder of a name, or of a short one.
    ///
    /// ```
    /// # use auscult_encoders::KnownEncoder;
    /// assert_eq!(KnownEncoder::named("eat").map(|known| known.name), Some("eat-base"));
    /// ```
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == name || known.alias == Some(name))
    }
}

//! Checkpoints: named tensors in somebody's file.
//!
//! Two containers are read, PyTorch zip files and safetensors. Nothing in a file is executed, and
//! nothing is believed: sizes are bounded by the file's, every tensor must lie inside it.

mod pickle;
mod safetensors;
mod tensor;
mod torch;
mod values;

use std::{collections::BTreeMap, fmt, ops::Range, path::Path};

use auscult_kernels::MappedFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::safetensors::described_safetensors;
pub use self::safetensors::{NamedTensor, to_safetensors};
pub(crate) use self::values::Storage;
use crate::{Error, Result};

/// The tensors of a checkpoint and the configuration that came with them.
#[derive(Debug)]
pub struct Checkpoint {
    bytes: Bytes,
    tensors: BTreeMap<String, Entry>,
    description: Description,
    container: Container,
}

/// What a checkpoint says about its weights beside their values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    /// The kind of encoder, such as `ced`; only of files written here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The encoder's configuration, in the words of its authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// SHA-256 of the file the weights were converted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_sha256: Option<String>,
}

/// The kind of file a checkpoint came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// `torch.save` since PyTorch 1.6.
    TorchZip,
    /// safetensors.
    Safetensors,
}

impl fmt::Display for Container {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::TorchZip => "PyTorch zip",
            Self::Safetensors => "safetensors",
        })
    }
}

/// Where the bytes are.
enum Bytes {
    Mapped(MappedFile),
    Static(&'static [u8]),
    Owned(Vec<u8>),
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.get().len())
    }
}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => file,
            Self::Static(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// One tensor, where it lies and how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) storage: Storage,
    pub(crate) shape: Vec<usize>,
    /// Steps in elements along each axis; `None` if it lies row-major without gaps.
    pub(crate) strides: Option<Vec<usize>>,
    /// The bytes of the file it may use.
    pub(crate) range: Range<usize>,
}

/// What both containers give.
struct Contents {
    tensors: BTreeMap<String, Entry>,
    description: Description,
}

impl Checkpoint {
    /// Maps a file and reads its table of tensors; the tensors stay on disk until they are used.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] or [`Error::Format`].
    pub fn open(path: &Path) -> Result<Self> {
        let file = MappedFile::open(path)
            .map_err(|source| Error::Open { path: path.to_owned(), source })?;
        let mut checkpoint = Self::new(Bytes::Mapped(file))?;
        if checkpoint.description.config.is_none() {
            checkpoint.description.config = config_beside(path);
        }
        Ok(checkpoint)
    }

    /// Reads a checkpoint that is part of the program.
    ///
    /// # Errors
    ///
    /// [`Error::Format`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self> {
        Self::new(Bytes::Static(bytes))
    }

    /// Reads a checkpoint from bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Format`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::new(Bytes::Owned(bytes))
    }

    fn new(bytes: Bytes) -> Result<Self> {
        let (container, contents) = match bytes.get() {
            [] => return Err(Error::format("the file is empty")),
            zip if zip.starts_with(b"PK") => (Container::TorchZip, torch::read(zip)?),
            // Pickles of protocol 2 and later, bare or in the old torch.save form.
            [0x80, 2..=5, ..] => {
                let reason = "a PyTorch file from before 1.6, or a bare pickle; load and save it \
                              again with a newer PyTorch";
                return Err(Error::format(reason));
            }
            other => (Container::Safetensors, safetensors::read(other)?),
        };
        let Contents { tensors, description } = contents;
        Ok(Self { bytes, tensors, description, container })
    }

    /// This checkpoint with another configuration.
    #[must_use]
    pub fn with_config(mut self, config: Value) -> Self {
        self.description.config = Some(config);
        self
    }

    /// The configuration in the file or, of a Hugging Face download, in `config.json` beside it.
    pub fn config(&self) -> Option<&Value> {
        self.description.config.as_ref()
    }

    /// What the file says about its weights beside their values.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The bytes of the file, for checksums.
    pub fn contents(&self) -> &[u8] {
        self.bytes.get()
    }

    /// The bytes, if they are part of the program.
    pub(crate) fn static_contents(&self) -> Option<&'static [u8]> {
        match self.bytes {
            Bytes::Static(bytes) => Some(bytes),
            Bytes::Mapped(_) | Bytes::Owned(_) => None,
        }
    }

    /// The kind of file.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Length of the file.
    pub fn bytes(&self) -> usize {
        self.bytes.get().len()
    }

    /// The names of all tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The shape of a tensor, if there is one of that name.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(&self.tensors.get(name)?.shape)
    }

    /// The values of a tensor as f32, row-major.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Shape`], [`Error::Storage`] or [`Error::NotFinite`], each with
    /// the tensor's name.
    pub fn read(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>> {
        let Some(entry) = self.tensors.get(name) else {
            return Err(Error::Missing { tensor: name.to_owned(), expected: expected.to_vec() });
        };
        if entry.shape != expected {
            let (found, expected) = (entry.shape.clone(), expected.to_vec());
            return Err(Error::Shape { tensor: name.to_owned(), found, expected });
        }
        let values = values::read(entry, self.bytes.get())
            .map_err(|found| Error::Storage { tensor: name.to_owned(), found })?;
        // Without a way out of the loop, many values are looked at together.
        if values.iter().fold(true, |finite, value| finite & value.is_finite()) {
            return Ok(values);
        }
        let index = values.iter().position(|value| !value.is_finite()).unwrap_or_default();
        Err(Error::NotFinite { tensor: name.to_owned(), index, value: values[index] })
    }
}

/// A `config.json` is a page of text.
const LARGEST_CONFIG: u64 = 1 << 20;

fn config_beside(path: &Path) -> Option<Value> {
    use std::io::Read;
    let file = std::fs::File::open(path.with_file_name("config.json")).ok()?;
    let mut text = String::new();
    file.take(LARGEST_CONFIG).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Number of elements of a shape, if it fits.
fn elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length))
}

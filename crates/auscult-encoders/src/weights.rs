//! Weights by their canonical names, fingerprinted as they are read.

use crate::{Checkpoint, Error, Precision, Result};

/// Reads an encoder's tensors and remembers which.
///
/// The fingerprint covers names, shapes and values as f32, not the file: a converted checkpoint is
/// the same encoder.
#[derive(Debug)]
pub(crate) struct Weights<'a> {
    checkpoint: &'a Checkpoint,
    /// Other names a tensor has in other files.
    aliases: fn(&str) -> Vec<String>,
    precision: Precision,
    hasher: blake3::Hasher,
    read: Vec<Tensor>,
}

/// A tensor an encoder uses.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    /// Its canonical name.
    pub(crate) name: String,
    /// Its name in the file.
    pub(crate) stored: String,
    pub(crate) shape: Vec<usize>,
}

/// No encoder is deeper.
const MOST_BLOCKS: usize = 1024;

/// No other names.
pub(crate) fn no_aliases(_: &str) -> Vec<String> {
    Vec::new()
}

impl<'a> Weights<'a> {
    pub(crate) fn new(
        checkpoint: &'a Checkpoint,
        aliases: fn(&str) -> Vec<String>,
        precision: Precision,
    ) -> Self {
        Self { checkpoint, aliases, precision, hasher: blake3::Hasher::new(), read: Vec::new() }
    }

    /// What the linear layers of blocks are computed in.
    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// The name a tensor has in this file, if it is there.
    fn stored(&self, name: &str) -> Option<String> {
        let names = std::iter::once(name.to_owned()).chain((self.aliases)(name));
        names.into_iter().find(|name| self.checkpoint.shape(name).is_some())
    }

    /// The shape of a tensor, if it is there.
    pub(crate) fn shape(&self, name: &str) -> Option<&'a [usize]> {
        self.checkpoint.shape(&self.stored(name)?)
    }

    /// The shape of a tensor that must be there with this many axes.
    pub(crate) fn shape_of<const N: usize>(&self, name: &str) -> Result<[usize; N]> {
        let missing = || Error::Missing { tensor: name.to_owned(), expected: vec![0; N] };
        let shape = self.shape(name).ok_or_else(missing)?;
        shape.try_into().map_err(|_| Error::Shape {
            tensor: name.to_owned(),
            found: shape.to_vec(),
            expected: vec![0; N],
        })
    }

    /// How many blocks are numbered below a prefix: `prefix.0.suffix`, `prefix.1.suffix`, ...
    pub(crate) fn count(&self, prefix: &str, suffix: &str) -> usize {
        (0..MOST_BLOCKS)
            .take_while(|index| self.shape(&format!("{prefix}.{index}.{suffix}")).is_some())
            .count()
    }

    /// The values of a tensor.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let stored = self.stored(name).unwrap_or_else(|| name.to_owned());
        let values = self.checkpoint.read(&stored, shape)?;
        self.hasher.update(&(name.len() as u64).to_le_bytes());
        self.hasher.update(name.as_bytes());
        self.hasher.update(format!("{shape:?}").as_bytes());
        let mut bytes = Vec::with_capacity(values.len().min(1 << 16) * 4);
        for part in values.chunks(1 << 16) {
            bytes.clear();
            bytes.extend(part.iter().flat_map(|value| value.to_le_bytes()));
            self.hasher.update(&bytes);
        }
        self.read.push(Tensor { name: name.to_owned(), stored, shape: shape.to_vec() });
        Ok(values)
    }

    /// The values of a tensor, if it is there.
    pub(crate) fn take_if_present(
        &mut self,
        name: &str,
        shape: &[usize],
    ) -> Result<Option<Vec<f32>>> {
        if self.stored(name).is_none() {
            return Ok(None);
        }
        self.take(name, shape).map(Some)
    }

    /// The fingerprint of everything read, and what that was.
    pub(crate) fn finish(self) -> (String, Vec<Tensor>) {
        (self.hasher.finalize().to_hex()[..32].to_owned(), self.read)
    }
}

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
    fingerprint: Fingerprint,
    /// Blocks that are read, from the first on.
    most_blocks: usize,
    read: Vec<Tensor>,
}

/// The fingerprint of an encoder: known before, or under way.
#[derive(Debug)]
enum Fingerprint {
    Known(&'static str),
    Hashed(Box<blake3::Hasher>),
}

/// Files that are part of programs: length, BLAKE3 of their bytes, and the fingerprint of the values
/// in them. The values of CED-tiny are four times as long as its file, and a third of them is not
/// used by default.
const RECOGNISED: &[(usize, &str, &str)] = &[(
    5_484_540,
    "c612befce88e2d0c7bb67c7edfa7e1103c97b3e99293c7d9a7874bb176969a82",
    "a765b270756a6102f4ec913f92067bec",
)];

/// The fingerprint of the values in a file that was fingerprinted before.
fn recognise(checkpoint: &Checkpoint) -> Option<&'static str> {
    let bytes = checkpoint.static_contents()?;
    let found = RECOGNISED.iter().find(|(length, hash, _)| {
        *length == bytes.len() && blake3::hash(bytes).to_hex().as_str() == *hash
    });
    found.map(|(.., fingerprint)| *fingerprint)
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
        let fingerprint = Fingerprint::Hashed(Box::default());
        let most_blocks = usize::MAX;
        Self { checkpoint, aliases, precision, fingerprint, most_blocks, read: Vec::new() }
    }

    /// These weights without the blocks above layer `last`, if their values need not be seen for the
    /// fingerprint: with weights that are part of the program.
    #[must_use]
    pub(crate) fn up_to(mut self, last: usize) -> Self {
        if let Some(known) = recognise(self.checkpoint) {
            self.fingerprint = Fingerprint::Known(known);
            self.most_blocks = last;
        }
        self
    }

    /// How many of `depth` blocks are read.
    pub(crate) fn blocks(&self, depth: usize) -> usize {
        depth.min(self.most_blocks)
    }

    /// Notes the tensors below a prefix without reading them.
    pub(crate) fn skip(&mut self, prefix: &str) {
        let below = self.checkpoint.names().filter(|name| name.starts_with(prefix));
        self.read.extend(below.map(|name| Tensor {
            name: name.to_owned(),
            stored: name.to_owned(),
            shape: self.checkpoint.shape(name).unwrap_or_default().to_vec(),
        }));
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
        if let Fingerprint::Hashed(hasher) = &mut self.fingerprint {
            hash(hasher, name, shape, &values);
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

    /// The fingerprint of everything, and what that is.
    pub(crate) fn finish(self) -> (String, Vec<Tensor>) {
        let fingerprint = match self.fingerprint {
            Fingerprint::Known(known) => known.to_owned(),
            Fingerprint::Hashed(hasher) => hasher.finalize().to_hex()[..32].to_owned(),
        };
        (fingerprint, self.read)
    }
}

/// Adds a tensor to a fingerprint.
fn hash(hasher: &mut blake3::Hasher, name: &str, shape: &[usize], values: &[f32]) {
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    hasher.update(format!("{shape:?}").as_bytes());
    let mut bytes = Vec::with_capacity(values.len().min(1 << 16) * 4);
    for part in values.chunks(1 << 16) {
        bytes.clear();
        bytes.extend(part.iter().flat_map(|value| value.to_le_bytes()));
        hasher.update(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;

    #[test]
    fn bundled_weights_have_the_fingerprint_of_their_values() {
        let checkpoint = Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
        let hashed = Encoder::load(&checkpoint).unwrap();
        assert_eq!(recognise(&checkpoint), Some(hashed.fingerprint()));
        let copied = Checkpoint::from_bytes(auscult_ced_tiny::WEIGHTS.to_vec()).unwrap();
        assert_eq!(recognise(&copied), None, "only what is part of the program");
    }
}

//! An encoder, whole: samples in, tokens of any layer out.

use std::fmt;

use auscult_core::{ClipLength, Extractor, features::NetworkSize};
use auscult_kernels::{Isa, layer_norm_rows, row_stride};
use serde_json::Value;

use crate::{
    Architecture, Checkpoint, Description, Error, NamedTensor, Precision, Result, Threads,
    checkpoint::described_safetensors,
    embedding::{Embedding, TokenOrder},
    patches::FeatureMap,
    transformer::{Block, Linear, Scratch, Transformer},
    weights::{Tensor, Weights},
};

/// A pretrained encoder, ready to run; shared and immutable.
#[derive(Debug)]
pub struct Encoder {
    architecture: Architecture,
    embedding: Box<dyn Embedding>,
    transformer: Transformer,
    precision: Precision,
    fingerprint: String,
    tensors: Vec<Tensor>,
    config: Option<Value>,
}

/// All encoders here were trained on sound at this rate.
const SAMPLE_RATE: u32 = 16_000;

/// Shortest and longest clip in seconds.
const SECONDS: std::ops::RangeInclusive<f64> = 1.0..=30.0;

impl Encoder {
    /// Reads the weights of an encoder, whichever it is.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`] if it is none of ours; otherwise the first tensor or setting that does
    /// not fit, by name.
    pub fn load(checkpoint: &Checkpoint) -> Result<Self> {
        Self::load_for(checkpoint, Isa::best(), Precision::F32)
    }

    /// Reads the weights to be run with chosen instructions and precision.
    ///
    /// # Errors
    ///
    /// Those of [`Encoder::load`].
    pub fn load_for(checkpoint: &Checkpoint, isa: Isa, precision: Precision) -> Result<Self> {
        Self::load_with(checkpoint, isa, precision, |weights| weights)
    }

    /// Reads the weights to be run up to layer `last`: of weights that are part of the program the
    /// blocks above it are left out.
    ///
    /// # Errors
    ///
    /// Those of [`Encoder::load`].
    pub(crate) fn load_up_to(
        checkpoint: &Checkpoint,
        isa: Isa,
        precision: Precision,
        last: usize,
    ) -> Result<Self> {
        Self::load_with(checkpoint, isa, precision, |weights| weights.up_to(last))
    }

    fn load_with<'a>(
        checkpoint: &'a Checkpoint,
        isa: Isa,
        precision: Precision,
        limit: impl FnOnce(Weights<'a>) -> Weights<'a>,
    ) -> Result<Self> {
        let Some(architecture) = Architecture::of(checkpoint) else {
            let names: Vec<&str> = checkpoint.names().take(3).collect();
            let reason = format!("its tensors begin with {}", names.join(", "));
            return Err(Error::Foreign { reason });
        };
        let said = checkpoint.description().architecture.as_deref();
        if let Some(said) = said.filter(|said| *said != architecture.name()) {
            let reason = format!("its header says {said}, its tensors are those of {architecture}");
            return Err(Error::Foreign { reason });
        }
        let mut weights = limit(Weights::new(checkpoint, architecture.aliases(), precision));
        let config = checkpoint.config();
        let (embedding, transformer) = architecture.load(&mut weights, config, isa)?;
        let (fingerprint, tensors) = weights.finish();
        let config = config.cloned();
        Ok(Self { architecture, embedding, transformer, precision, fingerprint, tensors, config })
    }

    /// The kind of encoder.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Kind and size, such as `ced-tiny`.
    pub fn name(&self) -> String {
        self.architecture.size_name(self.depth(), self.width())
    }

    /// A fingerprint of names, shapes and values of every tensor used: the same encoder has the
    /// same one whatever file it came from.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Name and the first digits of the fingerprint, for people.
    pub fn label(&self) -> String {
        format!("{} ({})", self.name(), &self.fingerprint[..12])
    }

    /// What happens to samples before the first weight.
    pub fn preprocessing(&self) -> &'static str {
        self.architecture.preprocessing()
    }

    /// Blocks there are.
    pub fn depth(&self) -> usize {
        self.transformer.depth
    }

    /// Whether it can run up to layer `last`: the blocks up to there were read.
    pub(crate) fn reaches(&self, last: usize) -> bool {
        self.transformer.blocks.len() >= last.min(self.depth())
    }

    /// The highest layer: the last block or, of CED, the normalisation after it.
    pub fn last_layer(&self) -> usize {
        self.architecture.last_layer(self.depth())
    }

    /// The layer that is taken by default: the last block, of CED block 8.
    pub fn default_layer(&self) -> usize {
        self.architecture.default_layer(self.depth())
    }

    /// Values in a token.
    pub fn width(&self) -> usize {
        self.transformer.width
    }

    /// Attention heads.
    pub fn heads(&self) -> usize {
        self.transformer.heads
    }

    /// Rows of tokens along frequency.
    pub fn rows(&self) -> usize {
        self.architecture.rows()
    }

    /// Whether there is a class token.
    pub fn has_class_token(&self) -> bool {
        self.architecture.has_class_token()
    }

    /// Number of weights.
    pub fn parameters(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum()
    }

    /// How large it is, for clips of one length up to layer `last`.
    ///
    /// # Errors
    ///
    /// Those of [`Encoder::buffers`].
    pub fn size(&self, length: ClipLength, last: usize) -> Result<NetworkSize> {
        let mut buffers = self.buffers(length)?;
        // Frames depend on the clip's length alone.
        self.compute_input(&[0.0], &mut buffers)?;
        let columns = buffers.map.len() / self.architecture.bins() / crate::patches::SIDE;
        let most = self.most_columns().unwrap_or(columns).max(1);
        let class_token = usize::from(self.has_class_token());
        let of_block = |block: &Block| -> usize {
            [&block.qkv, &block.out, &block.fc1, &block.fc2].map(Linear::weights).iter().sum()
        };
        let blocks = self.transformer.blocks.iter().take(last);
        let (depth, weights) = (blocks.len(), blocks.map(of_block).sum::<usize>());
        let of_part = |first: usize| {
            let tokens = (columns - first).min(most) * self.rows() + class_token;
            let attention = 2 * tokens * tokens * self.width() * depth;
            (tokens * (weights + self.embedding.multiplications()) + attention) as u64
        };
        let multiply_accumulates = (0..columns).step_by(most).map(of_part).sum();
        Ok(NetworkSize { parameters: self.parameters(), multiply_accumulates })
    }

    /// Bytes the packed weights take in memory.
    pub fn weight_bytes(&self) -> usize {
        let blocks = self.transformer.blocks.iter().map(|block| {
            [&block.qkv, &block.out, &block.fc1, &block.fc2]
                .map(Linear::bytes)
                .iter()
                .sum::<usize>()
        });
        self.embedding.bytes() + blocks.sum::<usize>()
    }

    /// What the linear layers of its blocks are computed in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The instructions it runs with.
    pub fn isa(&self) -> Isa {
        self.transformer.isa
    }

    /// Buffers for clips of one length; one a thread.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if clips are not at 16 kHz or not 1 to 30 s long.
    pub fn buffers(&self, length: ClipLength) -> Result<Buffers> {
        if length.sample_rate() != SAMPLE_RATE {
            let allowed = format!("{SAMPLE_RATE} Hz for {}", self.name());
            return Err(Error::setting("sample rate", allowed, length.sample_rate()));
        }
        let seconds = length.samples() as f64 / f64::from(SAMPLE_RATE);
        if !SECONDS.contains(&seconds) {
            let allowed = format!("1 to 30 seconds for {}", self.name());
            return Err(Error::setting("clip length", allowed, seconds));
        }
        let input = self.embedding.input(length)?;
        let architecture = self.architecture;
        Ok(Buffers { architecture, input, map: Vec::new(), scratch: Scratch::default() })
    }

    /// Runs a clip up to the highest of `layers` and calls `sink` with each of them, in ascending
    /// order. CED takes at most 10 s at once: longer clips come in several parts.
    ///
    /// The clip is padded with zeros or cut to the length `buffers` were made for.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a layer does not exist, there are no samples, or one is not finite.
    pub fn run(
        &self,
        samples: &[f32],
        buffers: &mut Buffers,
        threads: Threads,
        layers: &[usize],
        sink: &mut dyn FnMut(LayerTokens<'_>),
    ) -> Result<()> {
        self.check_layers(layers)?;
        if samples.is_empty() {
            return Err(Error::setting("clip", "at least one sample", "none"));
        }
        if let Some(at) = samples.iter().position(|sample| !sample.is_finite()) {
            let got = format!("{} at {at}", samples[at]);
            return Err(Error::setting("samples", "finite numbers", got));
        }
        let bins = self.architecture.bins();
        self.compute_input(samples, buffers)?;
        let Buffers { map: values, scratch, .. } = buffers;
        let columns = values.len() / bins / crate::patches::SIDE;
        let most = self.most_columns().unwrap_or(columns);
        let part = most.max(1) * crate::patches::SIDE * bins;
        for part in values.chunks(part) {
            let map = FeatureMap { values: part, bins };
            if map.columns() > 0 {
                self.run_part(map, scratch, threads, layers, sink);
            }
        }
        Ok(())
    }

    pub(crate) fn check_layers(&self, layers: &[usize]) -> Result<()> {
        let (depth, last) = (self.depth(), self.last_layer());
        if let Some(layer) = layers.iter().find(|&&layer| layer > last) {
            let blocks = format!("0 (the input of the first block) to {depth}");
            let all = if last > depth {
                format!("{blocks} or {last} (the normalised output)")
            } else {
                blocks
            };
            let allowed = format!("{all} for {}", self.name());
            return Err(Error::setting("layer", allowed, layer));
        }
        if let Some(layer) = layers.iter().find(|&&layer| !self.reaches(layer)) {
            let read = self.transformer.blocks.len();
            let allowed = format!("at most {read}: the blocks above were not read");
            return Err(Error::setting("layer", allowed, layer));
        }
        if layers.is_empty() || layers.windows(2).any(|pair| pair[0] >= pair[1]) {
            let allowed = "at least one, in ascending order, each once";
            return Err(Error::setting("layers", allowed, format!("{layers:?}")));
        }
        Ok(())
    }

    fn run_part(
        &self,
        map: FeatureMap<'_>,
        scratch: &mut Scratch,
        threads: Threads,
        layers: &[usize],
        sink: &mut dyn FnMut(LayerTokens<'_>),
    ) {
        let order = self.embedding.embed(map, scratch, threads);
        let stride = row_stride(self.width());
        let mut show = |layer, values: &[f32]| {
            sink(LayerTokens {
                layer,
                columns: map.columns(),
                rows: map.rows(),
                values,
                stride,
                width: self.width(),
                order,
            });
        };
        let last = layers.last().copied().unwrap_or(0);
        self.transformer.run(scratch, threads, last, |layer, values| {
            if layers.contains(&layer) {
                show(layer, values);
            }
        });
        if let Some(norm) = self.embedding.last_normalisation().filter(|_| last > self.depth()) {
            let Scratch { tokens, work, .. } = scratch;
            work.normed.resize(tokens.len(), 0.0);
            layer_norm_rows(self.isa(), norm.get(), tokens, stride, &mut work.normed, stride);
            show(last, &work.normed);
        }
    }

    /// This encoder as safetensors bytes with canonical names. The metadata hold its kind, its
    /// configuration, and the SHA-256 of the file it came from, if that is given.
    ///
    /// # Errors
    ///
    /// Those of reading the tensors again.
    pub fn convert(
        &self,
        checkpoint: &Checkpoint,
        source_sha256: Option<String>,
    ) -> Result<Vec<u8>> {
        let description = Description {
            architecture: Some(self.architecture.name().to_owned()),
            config: Some(self.config.clone().unwrap_or_else(|| self.plain_config())),
            source_sha256,
        };
        described_safetensors(&self.tensors(checkpoint)?, &description)
    }

    /// The configuration that follows from the tensors, under the authors' names; BEATs never lacks its own.
    fn plain_config(&self) -> Value {
        let mut config = serde_json::json!({
            "embed_dim": self.width(), "depth": self.depth(), "num_heads": self.heads(),
            "patch_size": crate::patches::SIDE,
        });
        let (name, value) = self.embedding.config_entry();
        config[name] = value;
        config
    }

    /// Canonical name, shape and values of every tensor it uses, from the checkpoint it was loaded
    /// from: what [`crate::to_safetensors`] writes.
    ///
    /// # Errors
    ///
    /// Those of reading the tensors again.
    pub fn tensors(&self, checkpoint: &Checkpoint) -> Result<Vec<NamedTensor>> {
        let read = |Tensor { name, stored, shape }: &Tensor| {
            Ok((name.clone(), shape.clone(), checkpoint.read(stored, shape)?))
        };
        self.tensors.iter().map(read).collect()
    }

    /// The configuration that came with the weights.
    pub fn config(&self) -> Option<&Value> {
        self.config.as_ref()
    }

    /// Mel bins of its input.
    pub fn bins(&self) -> usize {
        self.architecture.bins()
    }

    /// The input of the first weight: a map of frames x bins, standardised as the encoder wants it.
    ///
    /// The clip is padded with zeros or cut to the length `buffers` were made for.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if the buffers are another encoder's.
    pub fn input_map<'a>(&self, samples: &[f32], buffers: &'a mut Buffers) -> Result<&'a [f32]> {
        self.compute_input(samples, buffers)?;
        Ok(&buffers.map)
    }

    fn compute_input(&self, samples: &[f32], buffers: &mut Buffers) -> Result<()> {
        let Buffers { architecture, input, map, .. } = buffers;
        if *architecture != self.architecture {
            let allowed = format!("those of {}", self.architecture);
            return Err(Error::setting("buffers", allowed, format!("those of {architecture}")));
        }
        map.clear();
        Ok(input.for_each_frame(samples, &mut |frame| map.extend_from_slice(frame))?)
    }

    /// Cuts a map of frames x bins into the patches of its tokens, 256 values each, in the order of
    /// the tokens; the class token has none.
    pub fn patches(&self, map: &[f32]) -> Vec<f32> {
        let map = FeatureMap { values: map, bins: self.architecture.bins() };
        let mut patches = Vec::new();
        self.embedding.patches(map, &mut patches);
        patches
    }

    /// Patches along time it has positions for; `None` if there is no limit.
    pub fn most_columns(&self) -> Option<usize> {
        self.embedding.most_columns()
    }
}

/// Buffers for one clip at a time.
pub struct Buffers {
    architecture: Architecture,
    input: Box<dyn Extractor>,
    /// The input of the first weight, frames x bins.
    map: Vec<f32>,
    scratch: Scratch,
}

impl fmt::Debug for Buffers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Buffers").finish_non_exhaustive()
    }
}

/// The tokens of a layer.
#[derive(Debug, Clone, Copy)]
pub struct LayerTokens<'a> {
    /// The layer; 0 is the input of the first block.
    pub layer: usize,
    /// Patches along time.
    pub columns: usize,
    /// Patches along frequency.
    pub rows: usize,
    values: &'a [f32],
    stride: usize,
    width: usize,
    order: TokenOrder,
}

impl<'a> LayerTokens<'a> {
    /// The token of the patch at `column` in time and `row` in frequency.
    ///
    /// # Panics
    ///
    /// If there is no such patch.
    pub fn token(&self, column: usize, row: usize) -> &'a [f32] {
        assert!(column < self.columns && row < self.rows, "no patch at {column}, {row}");
        let TokenOrder { first, time, frequency } = self.order;
        self.numbered(first + column * time + row * frequency)
    }

    /// The class token, if there is one.
    pub fn class_token(&self) -> Option<&'a [f32]> {
        (self.order.first > 0).then(|| self.numbered(0))
    }

    /// Number of tokens, class token included.
    pub fn count(&self) -> usize {
        self.order.first + self.columns * self.rows
    }

    /// A token by its number in the encoder's own order.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn numbered(&self, index: usize) -> &'a [f32] {
        &self.values[index * self.stride..index * self.stride + self.width]
    }
}

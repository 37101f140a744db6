//! EAT (Chen et al. 2024): patches with fixed positions and a class token, then blocks with
//! normalisation after them.

use auscult_core::{ClipLength, Extractor, FrontEnd, features::LogMelConvention};
use auscult_kernels::{
    Epilogue, IntegerRows, Isa, Rows, RowsMut, add_rows, layer_norm_rows, row_stride,
};
use serde::Deserialize;

use crate::{
    Architecture, Error, Result, Threads,
    architecture::log_mel,
    embedding::{Embedding, TokenOrder},
    patches::{FeatureMap, PATCH},
    transformer::{Block, Linear, Norm, Order, Scratch, Transformer},
    weights::Weights,
};

/// What a configuration says that the tensors do not.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    num_heads: Option<usize>,
    norm_eps: Option<f32>,
    layer_norm_first: Option<bool>,
}

/// Both released sizes have heads of this width.
const HEAD_WIDTH: usize = 64;

/// The part of EAT before its blocks.
#[derive(Debug)]
pub(crate) struct EatEmbedding {
    patch: Linear,
    /// One row a patch, in the order of patches.
    positions: Vec<f32>,
    class_token: Vec<f32>,
    pre_norm: Norm,
    isa: Isa,
}

/// The names tensors have in fairseq files.
pub(crate) fn aliases(name: &str) -> Vec<String> {
    let Some(rest) = name.strip_prefix("model.") else { return Vec::new() };
    let part = match rest.strip_prefix("pre_norm.") {
        Some(rest) => format!("context_encoder.norm.{rest}"),
        None => rest.to_owned(),
    };
    vec![format!("modality_encoders.IMAGE.{part}"), rest.to_owned()]
}

/// Reads embedding and blocks.
pub(crate) fn load(
    weights: &mut Weights<'_>,
    config: Option<&serde_json::Value>,
    isa: Isa,
) -> Result<(Box<dyn Embedding>, Transformer)> {
    let sizes = config;
    let config: Config = match config {
        None => Config::default(),
        Some(config) => serde_json::from_value(config.clone()).map_err(|error| {
            Error::setting("EAT configuration", "the config.json of an EAT checkpoint", error)
        })?,
    };
    if config.layer_norm_first == Some(true) {
        return Err(Error::setting("layer_norm_first", "false", true));
    }
    let epsilon = config.norm_eps.unwrap_or(1e-6);
    let [width, ..] = weights.shape_of::<4>("model.local_encoder.proj.weight")?;
    let heads = config.num_heads.unwrap_or(width / HEAD_WIDTH);
    if heads == 0 || !width.is_multiple_of(heads) {
        return Err(Error::setting("num_heads", format!("a divisor of {width}"), heads));
    }
    let patch = weights.take("model.local_encoder.proj.weight", &[width, 1, 16, 16])?;
    let bias = weights.take("model.local_encoder.proj.bias", &[width])?;
    let positions_name = "model.fixed_positional_encoder.positions";
    let [_, places, _] = weights.shape_of::<3>(positions_name)?;
    let embedding = EatEmbedding {
        patch: Linear::new(&patch, bias, PATCH),
        positions: weights.take(positions_name, &[1, places, width])?,
        class_token: weights.take("model.extra_tokens", &[1, 1, width])?,
        pre_norm: Norm::read(weights, "model.pre_norm", width, epsilon)?,
        isa,
    };
    let depth = weights.count("model.blocks", "attn.qkv.weight");
    if depth == 0 {
        let (tensor, expected) =
            ("model.blocks.0.attn.qkv.weight".to_owned(), vec![3 * width, width]);
        return Err(Error::Missing { tensor, expected });
    }
    Sizes { width, depth, heads }.check(sizes, "EAT")?;
    let blocks: Result<Vec<Block>> = (0..depth)
        .map(|index| vision_block(weights, &format!("model.blocks.{index}"), width, epsilon))
        .collect();
    let order = Order::After { residual_factor: 1.0 };
    let transformer =
        Transformer { isa, width, heads, depth, order, blocks: blocks?, relative_bias: None };
    Ok((Box::new(embedding), transformer))
}

/// The sizes the tensors have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) width: usize,
    pub(crate) depth: usize,
    pub(crate) heads: usize,
}

impl Sizes {
    /// Refuses a configuration that says others; it may say nothing.
    pub(crate) fn check(self, config: Option<&serde_json::Value>, kind: &str) -> Result<()> {
        let names = ["embed_dim", "depth", "num_heads", "patch_size"];
        let sizes = [self.width, self.depth, self.heads, crate::patches::SIDE];
        for (name, size) in names.into_iter().zip(sizes) {
            let said = config.and_then(|config| config.get(name)?.as_u64());
            if let Some(said) = said.filter(|&said| said != size as u64) {
                let allowed = format!("{size}, as the tensors of {kind} have it");
                return Err(Error::setting(name, allowed, said));
            }
        }
        Ok(())
    }
}

/// A block as vision transformers name its parts.
pub(crate) fn vision_block(
    weights: &mut Weights<'_>,
    name: &str,
    width: usize,
    epsilon: f32,
) -> Result<Block> {
    let [hidden, _] = weights.shape_of::<2>(&format!("{name}.mlp.fc1.weight"))?;
    Ok(Block {
        qkv: Linear::read(weights, &format!("{name}.attn.qkv"), 3 * width, width)?,
        out: Linear::read(weights, &format!("{name}.attn.proj"), width, width)?,
        norm1: Norm::read(weights, &format!("{name}.norm1"), width, epsilon)?,
        fc1: Linear::read(weights, &format!("{name}.mlp.fc1"), hidden, width)?,
        fc2: Linear::read(weights, &format!("{name}.mlp.fc2"), width, hidden)?,
        norm2: Norm::read(weights, &format!("{name}.norm2"), width, epsilon)?,
        gate: None,
    })
}

impl Embedding for EatEmbedding {
    fn input(&self, length: ClipLength) -> Result<Box<dyn Extractor>> {
        Ok(log_mel(LogMelConvention::EatInput, length)?.extractor())
    }

    /// Its last columns have no position beyond the table, which is longer than any clip.
    fn most_columns(&self) -> Option<usize> {
        Some(self.positions.len() / self.class_token.len() / Architecture::Eat.rows())
    }

    fn embed(&self, map: FeatureMap<'_>, scratch: &mut Scratch, _: Threads) -> TokenOrder {
        self.patches(map, &mut scratch.patches);
        let count = map.columns() * map.rows();
        let width = self.class_token.len();
        let stride = row_stride(width);
        scratch.count = count + 1;
        let mut embedded = std::mem::take(&mut scratch.embedding);
        embedded.resize((count + 1) * stride, 0.0);
        embedded[..width].copy_from_slice(&self.class_token);
        let left = Rows { values: &scratch.patches, stride: PATCH, count };
        let out = &mut RowsMut { values: &mut embedded[stride..], stride };
        self.patch.apply(self.isa, left, Epilogue::Bias, out, &mut IntegerRows::default());
        let tokens = embedded[stride..].chunks_exact_mut(stride);
        for (token, position) in tokens.zip(self.positions.chunks_exact(width)) {
            add_rows(self.isa, &mut token[..width], position);
        }
        scratch.tokens.resize(embedded.len(), 0.0);
        let (norm, tokens) = (self.pre_norm.get(), &mut scratch.tokens);
        layer_norm_rows(self.isa, norm, &embedded, stride, tokens, stride);
        scratch.embedding = embedded;
        // The class token comes before the patches.
        TokenOrder { first: 1, ..TokenOrder::by_time(map) }
    }

    fn multiplications(&self) -> usize {
        self.patch.weights()
    }

    fn bytes(&self) -> usize {
        self.patch.bytes() + size_of_val(self.positions.as_slice())
    }
}

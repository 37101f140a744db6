//! BEATs (Chen et al. 2022): patches, a convolution for position, then blocks with normalisation
//! after them (`DeepNorm`) and a gated relative position bias.

mod position;

use auscult_core::{ClipLength, Extractor, FrontEnd, features::LogMelConvention};
use auscult_kernels::{Epilogue, IntegerRows, Isa, Rows, RowsMut, layer_norm_rows, row_stride};
use serde::Deserialize;

use self::position::PositionConvolution;
use crate::{
    Error, Result,
    architecture::log_mel,
    embedding::{Embedding, TokenOrder},
    patches::{FeatureMap, PATCH},
    transformer::{Block, Gate, Linear, Norm, Order, RelativeBias, Scratch, Threads, Transformer},
    weights::Weights,
};

const EPSILON: f32 = 1e-5;

/// The part of a checkpoint's `cfg` that changes the numbers.
#[derive(Debug, Clone, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the file's own")]
struct Config {
    encoder_layers: usize,
    encoder_embed_dim: usize,
    encoder_ffn_embed_dim: usize,
    encoder_attention_heads: usize,
    activation_fn: String,
    layer_norm_first: bool,
    conv_pos: usize,
    conv_pos_groups: usize,
    relative_position_embedding: bool,
    num_buckets: usize,
    max_distance: usize,
    gru_rel_pos: bool,
    deep_norm: bool,
    input_patch_size: usize,
    embed_dim: usize,
}

impl Config {
    fn read(config: Option<&serde_json::Value>) -> Result<Self> {
        let allowed = "the cfg of a BEATs checkpoint";
        let Some(config) = config else {
            let got = "none; convert the .pt file, which has it, or put it into config.json";
            return Err(Error::setting("BEATs configuration", allowed, got));
        };
        let config: Self = serde_json::from_value(config.clone())
            .map_err(|error| Error::setting("BEATs configuration", allowed, error))?;
        let require = |name: &'static str, allowed: &str, got: String, holds: bool| {
            if holds { Ok(()) } else { Err(Error::setting(name, allowed, got)) }
        };
        let Self { encoder_embed_dim: width, encoder_attention_heads: heads, .. } = config;
        let size = |value: usize| (1..=1 << 16).contains(&value);
        let sizes = [
            config.encoder_layers,
            width,
            config.encoder_ffn_embed_dim,
            heads,
            config.conv_pos,
            config.conv_pos_groups,
            config.max_distance,
            config.embed_dim,
        ];
        require("sizes of BEATs", "1 to 65536", format!("{sizes:?}"), sizes.into_iter().all(size))?;
        let (groups, buckets) = (config.conv_pos_groups, config.num_buckets);
        require("encoder_attention_heads", "a divisor of the width", heads.to_string(), {
            width.is_multiple_of(heads)
        })?;
        require("conv_pos_groups", "a divisor of the width", groups.to_string(), {
            width.is_multiple_of(groups)
        })?;
        require(
            "num_buckets",
            "4 to 65536",
            buckets.to_string(),
            (4..=1 << 16).contains(&buckets),
        )?;
        require("activation_fn", "gelu", config.activation_fn.clone(), {
            config.activation_fn == "gelu"
        })?;
        let is = |holds: bool| holds.to_string();
        require(
            "layer_norm_first",
            "false",
            is(config.layer_norm_first),
            !config.layer_norm_first,
        )?;
        require("gru_rel_pos", "true with relative_position_embedding", is(config.gru_rel_pos), {
            config.gru_rel_pos && config.relative_position_embedding
        })?;
        let patch = config.input_patch_size;
        require("input_patch_size", "16", patch.to_string(), patch == crate::patches::SIDE)?;
        Ok(config)
    }
}

/// The part of BEATs before its blocks.
#[derive(Debug)]
pub(crate) struct BeatsEmbedding {
    patch: Linear,
    norm: Norm,
    projection: Option<Linear>,
    position: PositionConvolution,
    encoder_norm: Norm,
    isa: Isa,
}

/// Reads embedding and blocks.
pub(crate) fn load(
    weights: &mut Weights<'_>,
    config: Option<&serde_json::Value>,
    isa: Isa,
) -> Result<(Box<dyn Embedding>, Transformer)> {
    let config = Config::read(config)?;
    let (width, patch_width) = (config.encoder_embed_dim, config.embed_dim);
    let patch = weights.take("patch_embedding.weight", &[patch_width, 1, 16, 16])?;
    let bias = weights.take_if_present("patch_embedding.bias", &[patch_width])?;
    let patch = Linear::new(&patch, bias.unwrap_or_else(|| vec![0.0; patch_width]), PATCH);
    let norm = Norm::read(weights, "layer_norm", patch_width, EPSILON)?;
    let projection = if patch_width == width {
        None
    } else {
        let matrix = weights.take("post_extract_proj.weight", &[width, patch_width])?;
        let bias = weights.take("post_extract_proj.bias", &[width])?;
        Some(Linear::new(&matrix, bias, patch_width))
    };
    let position = PositionConvolution::read(
        weights,
        "encoder.pos_conv.0",
        width,
        config.conv_pos,
        config.conv_pos_groups,
    )?;
    let encoder_norm = Norm::read(weights, "encoder.layer_norm", width, EPSILON)?;
    let embedding = BeatsEmbedding { patch, norm, projection, position, encoder_norm, isa };
    let layers: Result<Vec<Block>> =
        (0..config.encoder_layers).map(|index| block(weights, index, &config)).collect();
    let heads = config.encoder_attention_heads;
    // One table, stored with every layer.
    let name = "encoder.layers.0.self_attn.relative_attention_bias.weight";
    let table = weights.take(name, &[config.num_buckets, heads])?;
    let (buckets, max_distance) = (config.num_buckets, config.max_distance);
    let residual_factor =
        if config.deep_norm { (2.0 * config.encoder_layers as f64).powf(0.25) as f32 } else { 1.0 };
    let layers = layers?;
    let transformer = Transformer {
        isa,
        width,
        heads,
        depth: layers.len(),
        order: Order::After { residual_factor },
        blocks: layers,
        relative_bias: Some(RelativeBias { table, heads, buckets, max_distance }),
    };
    Ok((Box::new(embedding), transformer))
}

fn block(weights: &mut Weights<'_>, index: usize, config: &Config) -> Result<Block> {
    let name = format!("encoder.layers.{index}");
    let (width, hidden) = (config.encoder_embed_dim, config.encoder_ffn_embed_dim);
    let attention = format!("{name}.self_attn");
    let (mut matrix, mut bias) = (Vec::with_capacity(3 * width * width), Vec::new());
    for part in ["q_proj", "k_proj", "v_proj"] {
        matrix.extend(weights.take(&format!("{attention}.{part}.weight"), &[width, width])?);
        bias.extend(weights.take(&format!("{attention}.{part}.bias"), &[width])?);
    }
    let heads = config.encoder_attention_heads;
    Ok(Block {
        qkv: Linear::with(weights.precision(), &matrix, bias, width),
        out: Linear::read(weights, &format!("{attention}.out_proj"), width, width)?,
        norm1: Norm::read(weights, &format!("{name}.self_attn_layer_norm"), width, EPSILON)?,
        fc1: Linear::read(weights, &format!("{name}.fc1"), hidden, width)?,
        fc2: Linear::read(weights, &format!("{name}.fc2"), width, hidden)?,
        norm2: Norm::read(weights, &format!("{name}.final_layer_norm"), width, EPSILON)?,
        gate: Some(Gate::read(weights, &attention, heads, width / heads)?),
    })
}

impl Embedding for BeatsEmbedding {
    fn input(&self, length: ClipLength) -> Result<Box<dyn Extractor>> {
        Ok(log_mel(LogMelConvention::BeatsInput, length)?.extractor())
    }

    fn embed(&self, map: FeatureMap<'_>, scratch: &mut Scratch, threads: Threads) -> TokenOrder {
        self.patches(map, &mut scratch.patches);
        let count = map.columns() * map.rows();
        scratch.count = count;
        let width = self.encoder_norm.weight.len();
        let stride = row_stride(width);
        scratch.tokens.resize(count * stride, 0.0);
        let left = Rows { values: &scratch.patches, stride: PATCH, count };
        let patch_width = self.patch.outputs();
        let patch_stride = row_stride(patch_width);
        let mut embedded = std::mem::take(&mut scratch.embedding);
        embedded.resize(count * patch_stride, 0.0);
        let integers = &mut IntegerRows::default();
        let out = &mut RowsMut { values: &mut embedded, stride: patch_stride };
        self.patch.apply(self.isa, left, Epilogue::Bias, out, integers);
        let normed = &mut scratch.work.normed;
        normed.resize(count * patch_stride, 0.0);
        layer_norm_rows(self.isa, self.norm.get(), &embedded, patch_stride, normed, patch_stride);
        match &self.projection {
            None => scratch.tokens.copy_from_slice(normed),
            Some(projection) => {
                let left = Rows { values: normed, stride: patch_stride, count };
                let out = &mut RowsMut { values: &mut scratch.tokens, stride };
                projection.apply(self.isa, left, Epilogue::Bias, out, integers);
            }
        }
        scratch.embedding = embedded;
        self.position.add(self.isa, &self.encoder_norm, scratch, stride, threads);
        TokenOrder::by_time(map)
    }

    fn multiplications(&self) -> usize {
        let projection = self.projection.as_ref().map_or(0, Linear::weights);
        self.patch.weights() + projection + self.position.multiplications()
    }

    fn bytes(&self) -> usize {
        let projection = self.projection.as_ref().map_or(0, Linear::bytes);
        self.patch.bytes() + projection + self.position.bytes()
    }
}

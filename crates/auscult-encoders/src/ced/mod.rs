//! CED (Dinkel et al. 2023): a vision transformer on a 64-bin mel map, with normalisation before
//! its blocks.

mod input;

use std::sync::Arc;

use auscult_core::{ClipLength, Extractor};
use auscult_kernels::{Epilogue, IntegerRows, Isa, Rows, RowsMut, row_stride};
use serde_json::Value;

pub(crate) use self::input::edges;
use self::input::{CedExtractor, CedInput};
use crate::{
    Error, Result, Threads,
    eat::{Sizes, vision_block},
    embedding::{Embedding, TokenOrder},
    patches::{FeatureMap, PATCH},
    transformer::{Block, Linear, Norm, Order, Scratch, Transformer},
    weights::Weights,
};

const EPSILON: f32 = 1e-6;

/// Every released size has heads of this width.
const HEAD_WIDTH: usize = 64;

/// The part of CED before its blocks, and the normalisation after them.
#[derive(Debug)]
pub(crate) struct CedEmbedding {
    input: Arc<CedInput>,
    patch: Linear,
    /// One row a column of patches.
    time_positions: Vec<f32>,
    /// One row a row of patches.
    frequency_positions: Vec<f32>,
    final_norm: Norm,
    width: usize,
    isa: Isa,
}

/// Names without the prefix of Hugging Face files.
pub(crate) fn aliases(name: &str) -> Vec<String> {
    name.strip_prefix("encoder.").map(str::to_owned).into_iter().collect()
}

/// Reads input, embedding and blocks.
pub(crate) fn load(
    weights: &mut Weights<'_>,
    config: Option<&Value>,
    isa: Isa,
) -> Result<(Box<dyn Embedding>, Transformer)> {
    let input = CedInput::read(weights)?;
    let [width, ..] = weights.shape_of::<4>("encoder.patch_embed.proj.weight")?;
    if width == 0 || !width.is_multiple_of(HEAD_WIDTH) {
        return Err(Error::setting("width of CED", "a multiple of 64", width));
    }
    let patch = weights.take("encoder.patch_embed.proj.weight", &[width, 1, 16, 16])?;
    let bias = weights.take("encoder.patch_embed.proj.bias", &[width])?;
    let [_, _, _, columns] = weights.shape_of::<4>("encoder.time_pos_embed")?;
    let time = weights.take("encoder.time_pos_embed", &[1, width, 1, columns])?;
    let rows = input::BINS / crate::patches::SIDE;
    let frequency = weights.take("encoder.freq_pos_embed", &[1, width, rows, 1])?;
    let depth = weights.count("encoder.blocks", "attn.qkv.weight");
    if depth == 0 {
        let tensor = "encoder.blocks.0.attn.qkv.weight".to_owned();
        return Err(Error::Missing { tensor, expected: vec![3 * width, width] });
    }
    let read = weights.blocks(depth);
    let blocks: Result<Vec<Block>> = (0..read)
        .map(|index| vision_block(weights, &format!("encoder.blocks.{index}"), width, EPSILON))
        .collect();
    (read..depth).for_each(|index| weights.skip(&format!("encoder.blocks.{index}.")));
    let heads = width / HEAD_WIDTH;
    Sizes { width, depth, heads }.check(config, "CED")?;
    let embedding = CedEmbedding {
        input: Arc::new(input),
        patch: Linear::new(&patch, bias, PATCH),
        time_positions: turned(&time, columns),
        frequency_positions: turned(&frequency, rows),
        final_norm: Norm::read(weights, "encoder.norm", width, EPSILON)?,
        width,
        isa,
    };
    let order = Order::Before;
    let transformer =
        Transformer { isa, width, heads, depth, order, blocks: blocks?, relative_bias: None };
    Ok((Box::new(embedding), transformer))
}

/// From width x places to places x width.
fn turned(values: &[f32], places: usize) -> Vec<f32> {
    (0..places)
        .flat_map(|place| values.iter().skip(place).step_by(places.max(1)).copied())
        .collect()
}

impl Embedding for CedEmbedding {
    fn input(&self, length: ClipLength) -> Result<Box<dyn Extractor>> {
        Ok(Box::new(CedExtractor::new(Arc::clone(&self.input), length)))
    }

    fn most_columns(&self) -> Option<usize> {
        Some(self.time_positions.len() / self.width)
    }

    fn patches(&self, map: FeatureMap<'_>, patches: &mut Vec<f32>) {
        map.patches_by_frequency(patches);
    }

    fn embed(&self, map: FeatureMap<'_>, scratch: &mut Scratch, _: Threads) -> TokenOrder {
        self.patches(map, &mut scratch.patches);
        let (width, stride) = (self.width, row_stride(self.width));
        let count = map.columns() * map.rows();
        scratch.count = count;
        scratch.tokens.resize(count * stride, 0.0);
        let left = Rows { values: &scratch.patches, stride: PATCH, count };
        let out = &mut RowsMut { values: &mut scratch.tokens, stride };
        self.patch.apply(self.isa, left, Epilogue::Bias, out, &mut IntegerRows::default());
        for (index, token) in scratch.tokens.chunks_exact_mut(stride).enumerate() {
            let (row, column) = (index / map.columns(), index % map.columns());
            let time = &self.time_positions[column * width..(column + 1) * width];
            let frequency = &self.frequency_positions[row * width..(row + 1) * width];
            for ((value, time), frequency) in token.iter_mut().zip(time).zip(frequency) {
                *value = *value + time + frequency;
            }
        }
        TokenOrder::by_frequency(map)
    }

    fn last_normalisation(&self) -> Option<&Norm> {
        Some(&self.final_norm)
    }

    fn multiplications(&self) -> usize {
        self.patch.weights()
    }

    fn bytes(&self) -> usize {
        self.patch.bytes()
    }

    fn config_entry(&self) -> (&'static str, Value) {
        ("n_mels", input::BINS.into())
    }
}

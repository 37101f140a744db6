//! What an encoder is made of, as far as its weights do not say it.

use auscult_encoders::{Architecture, Encoder, NamedTensor};
use serde::Deserialize;

use super::{
    Adaptation, FinetuneSettings, LoraTarget,
    parameters::{LORA, Parameters},
};
use crate::{Error, Result};

/// The shape of an encoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) architecture: Architecture,
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) depth: usize,
    pub(super) hidden: usize,
    /// Rows of patches along frequency.
    pub(super) rows: usize,
    pub(super) epsilon: f64,
    /// Factor on what passes by a block; blocks that normalise first have none.
    pub(super) residual_factor: f64,
    /// Only BEATs has relative positions.
    pub(super) relative: Option<RelativePlan>,
    /// The factor on low-rank additions and the layers that have them.
    pub(super) lora: Option<(f64, Vec<LoraTarget>)>,
}

/// BEATs' positions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RelativePlan {
    pub(super) kernel: usize,
    pub(super) groups: usize,
    pub(super) buckets: usize,
    pub(super) max_distance: usize,
}

#[derive(Deserialize)]
struct BeatsConfig {
    conv_pos: usize,
    conv_pos_groups: usize,
    num_buckets: usize,
    max_distance: usize,
    deep_norm: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EatConfig {
    norm_eps: Option<f64>,
}

impl Plan {
    pub(super) fn of(
        encoder: &Encoder,
        tensors: &[NamedTensor],
        settings: &FinetuneSettings,
    ) -> Result<Self> {
        let architecture = encoder.architecture();
        let config = encoder.config().cloned().unwrap_or_default();
        let wrong = |error: serde_json::Error| {
            Error::setting("encoder configuration", "that of its checkpoint", error)
        };
        let (epsilon, residual_factor, relative) = match architecture {
            Architecture::Beats => {
                let config: BeatsConfig = serde_json::from_value(config).map_err(wrong)?;
                let depth = encoder.depth() as f64;
                let factor = if config.deep_norm { (2.0 * depth).powf(0.25) } else { 1.0 };
                let relative = RelativePlan {
                    kernel: config.conv_pos,
                    groups: config.conv_pos_groups,
                    buckets: config.num_buckets,
                    max_distance: config.max_distance,
                };
                (1e-5, factor, Some(relative))
            }
            Architecture::Eat => {
                let config: EatConfig = match config {
                    serde_json::Value::Null => EatConfig::default(),
                    config => serde_json::from_value(config).map_err(wrong)?,
                };
                (config.norm_eps.unwrap_or(1e-6), 1.0, None)
            }
            Architecture::Ced => (1e-6, 1.0, None),
            other => {
                return Err(Error::setting("encoder", "beats, eat or ced", other));
            }
        };
        let lora = match &settings.adaptation {
            Adaptation::Full => None,
            Adaptation::Lora { rank, alpha, targets } => {
                Some((alpha / *rank as f64, targets.clone()))
            }
        };
        let mut plan = Self {
            architecture,
            width: encoder.width(),
            heads: encoder.heads(),
            depth: encoder.depth(),
            hidden: 0,
            rows: encoder.rows(),
            epsilon,
            residual_factor,
            relative,
            lora,
        };
        let name = format!("{}.bias", plan.layer(0, LoraTarget::Up));
        plan.hidden =
            tensors.iter().find(|(found, ..)| *found == name).map_or(0, |(_, shape, _)| shape[0]);
        Ok(plan)
    }

    /// Whether a tensor is learnt: not the fixed positions of EAT, nor what CED's input is made of.
    pub(super) fn is_weight(&self, name: &str) -> bool {
        match self.architecture {
            Architecture::Eat => name != "model.fixed_positional_encoder.positions",
            Architecture::Ced => !["window", "mel_fb"].contains(&name) && !name.contains("init_bn"),
            _ => true,
        }
    }

    /// What the names of a block's tensors begin with.
    pub(super) fn block(&self, block: usize) -> String {
        match self.architecture {
            Architecture::Beats => format!("encoder.layers.{block}"),
            Architecture::Eat => format!("model.blocks.{block}"),
            _ => format!("encoder.blocks.{block}"),
        }
    }

    /// Whether queries, keys and values are one tensor.
    pub(super) fn has_one_projection(&self) -> bool {
        self.architecture != Architecture::Beats
    }

    /// The name of a linear layer, without `.weight`; that of all three projections where they are
    /// one.
    pub(super) fn layer(&self, block: usize, target: LoraTarget) -> String {
        let (block, is_beats) = (self.block(block), self.architecture == Architecture::Beats);
        let name = match (target, is_beats) {
            (LoraTarget::Query, true) => "self_attn.q_proj",
            (LoraTarget::Key, true) => "self_attn.k_proj",
            (LoraTarget::Value, true) => "self_attn.v_proj",
            (LoraTarget::Output, true) => "self_attn.out_proj",
            (LoraTarget::Up, true) => "fc1",
            (LoraTarget::Down, true) => "fc2",
            (LoraTarget::Query | LoraTarget::Key | LoraTarget::Value, false) => "attn.qkv",
            (LoraTarget::Output, false) => "attn.proj",
            (LoraTarget::Up, false) => "mlp.fc1",
            (LoraTarget::Down, false) => "mlp.fc2",
        };
        format!("{block}.{name}")
    }

    /// The names of the two normalisations of a block.
    pub(super) fn norms(&self, block: usize) -> [String; 2] {
        let (block, is_beats) = (self.block(block), self.architecture == Architecture::Beats);
        let names = if is_beats {
            ["self_attn_layer_norm", "final_layer_norm"]
        } else {
            ["norm1", "norm2"]
        };
        names.map(|name| format!("{block}.{name}"))
    }

    /// Outputs and inputs of a linear layer.
    pub(super) fn size_of(&self, target: LoraTarget) -> [usize; 2] {
        match target {
            LoraTarget::Up => [self.hidden, self.width],
            LoraTarget::Down => [self.width, self.hidden],
            _ => [self.width, self.width],
        }
    }

    pub(super) fn lora_name(block: usize, target: LoraTarget) -> String {
        format!("{LORA}{block}.{target:?}").to_lowercase()
    }

    /// The rows of a layer's weights that a target is.
    fn first_row(&self, target: LoraTarget) -> usize {
        match target {
            LoraTarget::Key if self.has_one_projection() => self.width,
            LoraTarget::Value if self.has_one_projection() => 2 * self.width,
            _ => 0,
        }
    }

    /// The encoder's tensors as they are after training, additions added.
    pub(super) fn merged(&self, parameters: &Parameters) -> Vec<NamedTensor> {
        let own = |name: &str| name.starts_with(super::parameters::HEAD) || name.starts_with(LORA);
        let mut tensors: Vec<NamedTensor> = parameters
            .list
            .iter()
            .filter(|parameter| !own(&parameter.name))
            .map(|it| (it.name.clone(), it.shape.clone(), it.values.clone()))
            .collect();
        let Some((factor, targets)) = &self.lora else { return tensors };
        for block in 0..self.depth {
            for &target in targets {
                let name = Self::lora_name(block, target);
                let factors = ["down", "up"].map(|part| parameters.get(&format!("{name}.{part}")));
                let [Some(down), Some(up)] = factors else { continue };
                let stored = format!("{}.weight", self.layer(block, target));
                let found = tensors.iter_mut().find(|(name, ..)| *name == stored);
                let Some((_, shape, values)) = found else { continue };
                let (inputs, rank) = (shape[1], down.shape[0]);
                let start = self.first_row(target) * inputs;
                let rows = values[start..].chunks_exact_mut(inputs);
                for (row, up) in rows.zip(up.values.chunks_exact(rank)) {
                    for (column, value) in row.iter_mut().enumerate() {
                        let products =
                            up.iter().zip(down.values.iter().skip(column).step_by(inputs));
                        let sum: f64 = products.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                        *value = (f64::from(*value) + factor * sum) as f32;
                    }
                }
            }
        }
        tensors
    }
}

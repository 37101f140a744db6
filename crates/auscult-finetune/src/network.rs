//! The forward pass of an encoder on tensors that remember how they were made.

use auscult_encoders::{Architecture, relative_bucket};
use burn_tensor::{
    Int, Tensor, TensorData,
    activation::{gelu, sigmoid},
    module::{conv1d, layer_norm},
    ops::ConvOptions,
};

use super::{
    LoraTarget,
    parameters::Leaves,
    plan::{Plan, RelativePlan},
};

/// An encoder's weights and shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Network<'a> {
    pub(super) plan: &'a Plan,
    pub(super) leaves: &'a Leaves<'a>,
}

impl Network<'_> {
    /// The tokens of every layer (clips x tokens x width): the input of the first block, after each
    /// block and, of CED, normalised.
    pub(super) fn layers(&self, patches: Tensor<3>) -> Vec<Tensor<3>> {
        let mut tokens = self.embed(patches);
        let bias = self.plan.relative.as_ref().map(|plan| self.relative_bias(plan, &tokens));
        let mut layers = vec![tokens.clone()];
        for block in 0..self.plan.depth {
            tokens = self.block(block, tokens, bias.clone());
            layers.push(tokens.clone());
        }
        if self.plan.architecture == Architecture::Ced {
            layers.push(self.norm("encoder.norm", tokens));
        }
        layers
    }

    fn embed(&self, patches: Tensor<3>) -> Tensor<3> {
        match self.plan.architecture {
            Architecture::Beats => self.embed_beats(patches),
            Architecture::Eat => self.embed_eat(patches),
            _ => self.embed_ced(patches),
        }
    }

    fn embed_beats(&self, patches: Tensor<3>) -> Tensor<3> {
        let bias = "patch_embedding.bias";
        let bias = self.leaves.has(bias).then(|| self.leaves.get(bias));
        let tokens = linear(patches, self.leaves.get("patch_embedding.weight"), bias);
        let mut tokens = self.norm("layer_norm", tokens);
        if self.leaves.has("post_extract_proj.weight") {
            tokens = self.linear("post_extract_proj", tokens);
        }
        let convolved = match &self.plan.relative {
            Some(plan) => self.position_convolution(plan, tokens.clone()),
            None => tokens.zeros_like(),
        };
        self.norm("encoder.layer_norm", tokens + convolved)
    }

    /// A grouped convolution over tokens whose weights are normalised at each place of the kernel.
    fn position_convolution(&self, plan: &RelativePlan, tokens: Tensor<3>) -> Tensor<3> {
        let [_, count, _] = tokens.dims();
        let direction: Tensor<3> = self.leaves.get("encoder.pos_conv.0.weight_v");
        let magnitude: Tensor<3> = self.leaves.get("encoder.pos_conv.0.weight_g");
        let length = direction.clone().square().sum_dims(&[0, 1]).sqrt();
        let weight = direction * (magnitude / length);
        let bias = Some(self.leaves.get("encoder.pos_conv.0.bias"));
        let options = ConvOptions::new([1], [plan.kernel / 2], [1], plan.groups);
        let convolved = conv1d(tokens.swap_dims(1, 2), weight, bias, options);
        // An even kernel gives one place too many.
        gelu(convolved.swap_dims(1, 2).narrow(1, 0, count))
    }

    fn embed_eat(&self, patches: Tensor<3>) -> Tensor<3> {
        let [clips, count, _] = patches.dims();
        let tokens = self.linear("model.local_encoder.proj", patches);
        let positions: Tensor<3> = self.leaves.get("model.fixed_positional_encoder.positions");
        let tokens = tokens + positions.narrow(1, 0, count);
        let class: Tensor<3> = self.leaves.get("model.extra_tokens");
        let class = class.expand([clips, 1, self.plan.width]);
        self.norm("model.pre_norm", Tensor::cat(vec![class, tokens], 1))
    }

    fn embed_ced(&self, patches: Tensor<3>) -> Tensor<3> {
        let [clips, count, _] = patches.dims();
        let (rows, width) = (self.plan.rows, self.plan.width);
        let columns = count / rows;
        let tokens = self.linear("encoder.patch_embed.proj", patches);
        let time: Tensor<4> = self.leaves.get("encoder.time_pos_embed");
        let time = time.narrow(3, 0, columns).permute([0, 2, 3, 1]);
        let frequency: Tensor<4> = self.leaves.get("encoder.freq_pos_embed");
        let frequency = frequency.permute([0, 2, 3, 1]);
        let tokens = tokens.reshape([clips, rows, columns, width]) + time + frequency;
        tokens.reshape([clips, count, width])
    }

    /// The bias of each head, query and key (1 x heads x tokens x tokens).
    fn relative_bias(&self, plan: &RelativePlan, tokens: &Tensor<3>) -> Tensor<4> {
        let [_, count, _] = tokens.dims();
        let bucket = |query: usize, key: usize| {
            let distance = key.cast_signed() - query.cast_signed();
            relative_bucket(distance, plan.buckets, plan.max_distance).cast_signed() as i64
        };
        let buckets: Vec<i64> =
            (0..count).flat_map(|query| (0..count).map(move |key| bucket(query, key))).collect();
        let indices = TensorData::new(buckets, [count * count]);
        let indices = Tensor::<1, Int>::from_data(indices, &tokens.device());
        let name = "encoder.layers.0.self_attn.relative_attention_bias.weight";
        let table: Tensor<2> = self.leaves.get(name);
        let bias = table.select(0, indices).reshape([1, count, count, self.plan.heads]);
        bias.permute([0, 3, 1, 2])
    }

    fn block(&self, block: usize, tokens: Tensor<3>, bias: Option<Tensor<4>>) -> Tensor<3> {
        let norms = self.plan.norms(block);
        if self.plan.architecture == Architecture::Ced {
            let attended = self.attention(block, self.norm(&norms[0], tokens.clone()), bias);
            let tokens = tokens + attended;
            let changed = self.feed_forward(block, self.norm(&norms[1], tokens.clone()));
            return tokens + changed;
        }
        let factor = self.plan.residual_factor;
        let attended = self.attention(block, tokens.clone(), bias);
        let tokens = self.norm(&norms[0], tokens.mul_scalar(factor) + attended);
        let changed = self.feed_forward(block, tokens.clone());
        self.norm(&norms[1], tokens.mul_scalar(factor) + changed)
    }

    fn attention(&self, block: usize, input: Tensor<3>, bias: Option<Tensor<4>>) -> Tensor<3> {
        let (width, heads) = (self.plan.width, self.plan.heads);
        let [clips, count, _] = input.dims();
        let head = width / heads;
        let (weight, weight_bias) = self.projection(block);
        let projected = linear(input, weight, Some(weight_bias));
        let part = |at: usize| {
            let part = projected.clone().narrow(2, at * width, width);
            part.reshape([clips, count, heads, head]).swap_dims(1, 2)
        };
        let [query, key, value] = [0, 1, 2].map(part);
        let factor = 1.0 / (head as f64).sqrt();
        let mut weights = query.clone().matmul(key.transpose()).mul_scalar(factor);
        if let Some(bias) = bias {
            weights = weights + self.gate(block, query) * bias;
        }
        let gathered = softmax_without_traces(weights).matmul(value);
        let gathered = gathered.swap_dims(1, 2).reshape([clips, count, width]);
        self.target(block, LoraTarget::Output, gathered)
    }

    /// How far the bias is opened for each query: a (b w - 1) + 2.
    fn gate(&self, block: usize, query: Tensor<4>) -> Tensor<4> {
        let [clips, heads, count, head] = query.dims();
        let name = format!("{}.self_attn", self.plan.block(block));
        let rows = query.reshape([1, clips * heads * count, head]);
        let opened = self.linear(&format!("{name}.grep_linear"), rows);
        let sums = opened.reshape([clips, heads, count, 8]);
        let half = |at: usize| sigmoid(sums.clone().narrow(3, at * 4, 4).sum_dim(3));
        let factor: Tensor<4> = self.leaves.get(&format!("{name}.grep_a"));
        half(0) * (half(1) * factor).sub_scalar(1.0) + 2.0
    }

    /// Weights and bias of queries, keys and values.
    fn projection(&self, block: usize) -> (Tensor<2>, Tensor<1>) {
        const PARTS: [LoraTarget; 3] = [LoraTarget::Query, LoraTarget::Key, LoraTarget::Value];
        if !self.plan.has_one_projection() {
            let weights = PARTS.map(|part| self.weight(block, part));
            let biases = PARTS.map(|part| {
                self.leaves.get::<1>(&format!("{}.bias", self.plan.layer(block, part)))
            });
            return (Tensor::cat(weights.into(), 0), Tensor::cat(biases.into(), 0));
        }
        let name = self.plan.layer(block, LoraTarget::Query);
        let mut weight: Tensor<2> = self.leaves.get(&format!("{name}.weight"));
        if PARTS.iter().any(|&part| self.addition(block, part).is_some()) {
            let zeros = Tensor::<2>::zeros_like(&weight.clone().narrow(0, 0, self.plan.width));
            let additions =
                PARTS.map(|part| self.addition(block, part).unwrap_or_else(|| zeros.clone()));
            weight = weight + Tensor::cat(additions.into(), 0);
        }
        (weight, self.leaves.get(&format!("{name}.bias")))
    }

    fn feed_forward(&self, block: usize, tokens: Tensor<3>) -> Tensor<3> {
        let hidden = self.target(block, LoraTarget::Up, tokens);
        let hidden = gelu(hidden.clamp_min(LEAST_HIDDEN));
        self.target(block, LoraTarget::Down, hidden)
    }

    /// A linear layer of a block, with its addition.
    fn target(&self, block: usize, target: LoraTarget, input: Tensor<3>) -> Tensor<3> {
        let bias = self.leaves.get(&format!("{}.bias", self.plan.layer(block, target)));
        linear(input, self.weight(block, target), Some(bias))
    }

    fn weight(&self, block: usize, target: LoraTarget) -> Tensor<2> {
        let weight = self.leaves.get(&format!("{}.weight", self.plan.layer(block, target)));
        match self.addition(block, target) {
            Some(addition) => weight + addition,
            None => weight,
        }
    }

    /// What is added to a layer's weights: the product of two narrow matrices.
    fn addition(&self, block: usize, target: LoraTarget) -> Option<Tensor<2>> {
        let (factor, targets) = self.plan.lora.as_ref()?;
        if !targets.contains(&target) {
            return None;
        }
        let name = Plan::lora_name(block, target);
        let up: Tensor<2> = self.leaves.get(&format!("{name}.up"));
        let down: Tensor<2> = self.leaves.get(&format!("{name}.down"));
        Some(up.matmul(down).mul_scalar(*factor))
    }

    fn linear(&self, name: &str, input: Tensor<3>) -> Tensor<3> {
        let bias = self.leaves.get(&format!("{name}.bias"));
        linear(input, self.leaves.get(&format!("{name}.weight")), Some(bias))
    }

    fn norm(&self, name: &str, tokens: Tensor<3>) -> Tensor<3> {
        let weight = self.leaves.get(&format!("{name}.weight"));
        let bias = self.leaves.get(&format!("{name}.bias"));
        layer_norm(tokens, weight, Some(bias), self.plan.epsilon)
    }
}

/// Below it GELU is nothing (1e-18), but its slope goes on to numbers so small that a processor takes a
/// hundred times as long to multiply them: half of a step was spent on them.
const LEAST_HIDDEN: f32 = -9.0;

/// Weights of attention below e to the power of this are nothing, for the same reason.
const LEAST_WEIGHT: f32 = -46.0;

/// Softmax along the last axis, with zeros instead of traces.
fn softmax_without_traces(logits: Tensor<4>) -> Tensor<4> {
    let below = logits.clone() - logits.detach().max_dim(3);
    let is_trace = below.clone().lower_elem(LEAST_WEIGHT);
    let powers = below.mask_fill(is_trace, f32::NEG_INFINITY).exp();
    powers.clone() / powers.sum_dim(3)
}

/// Rows times weights (outputs x inputs) plus bias, as one product over all clips.
pub(super) fn linear(input: Tensor<3>, weight: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<3> {
    let [clips, count, inputs] = input.dims();
    let [outputs, _] = weight.dims();
    let rows = input.reshape([clips * count, inputs]).matmul(weight.transpose());
    let rows = match bias {
        Some(bias) => rows + bias.reshape([1, outputs]),
        None => rows,
    };
    rows.reshape([clips, count, outputs])
}

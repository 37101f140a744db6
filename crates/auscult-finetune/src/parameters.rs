//! Named arrays: the encoder's weights, the head's, and low-rank additions.

use std::collections::BTreeMap;

use auscult_encoders::NamedTensor;
use burn_tensor::{DType, Device, Tensor, TensorData};

use super::{Adaptation, FinetuneSettings, plan::Plan};
use auscult_core::random::Random;

/// One array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
    pub(super) is_trained: bool,
}

/// Every array of a run, always in the same order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    pub(super) list: Vec<Parameter>,
    places: BTreeMap<String, usize>,
}

/// What the names of the head's arrays begin with.
pub(super) const HEAD: &str = "head.";

/// What the names of low-rank additions begin with.
pub(super) const LORA: &str = "lora.";

/// How many times fewer values the head sees of tokens.
const BOTTLENECK: usize = 16;

impl Parameters {
    /// The encoder's tensors, then first weights of everything else.
    pub(super) fn new(
        tensors: Vec<NamedTensor>,
        plan: &Plan,
        classes: usize,
        settings: &FinetuneSettings,
    ) -> Self {
        let is_full = settings.adaptation == Adaptation::Full;
        let mut list: Vec<Parameter> = tensors
            .into_iter()
            .map(|(name, shape, values)| {
                let is_trained = is_full && plan.is_weight(&name);
                Parameter { name, shape, values, is_trained }
            })
            .collect();
        list.extend(additions(plan, settings));
        list.extend(head(plan.width, classes, settings.seed));
        let names = list.iter().enumerate();
        let places = names.map(|(at, parameter)| (parameter.name.clone(), at)).collect();
        Self { list, places }
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Parameter> {
        self.list.get_mut(*self.places.get(name)?)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Parameter> {
        self.list.get(*self.places.get(name)?)
    }

    pub(super) fn trained(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter().filter(|parameter| parameter.is_trained)
    }

    pub(super) fn trained_mut(&mut self) -> impl Iterator<Item = &mut Parameter> {
        self.list.iter_mut().filter(|parameter| parameter.is_trained)
    }

    /// The arrays on a device, ready for a forward pass.
    pub(super) fn leaves(&self, device: &Device, precision: DType) -> Leaves<'_> {
        let tensor = |parameter: &Parameter| {
            let data = TensorData::new(parameter.values.clone(), [parameter.values.len()]);
            let tensor = Tensor::<1>::from_data(data.convert_dtype(precision), (device, precision));
            if parameter.is_trained { tensor.require_grad() } else { tensor }
        };
        let tensors = self.list.iter().map(tensor).collect();
        Leaves { parameters: self, tensors }
    }
}

/// Arrays on a device.
#[derive(Debug)]
pub(super) struct Leaves<'a> {
    parameters: &'a Parameters,
    tensors: Vec<Tensor<1>>,
}

impl Leaves<'_> {
    /// An array in its shape.
    ///
    /// Plans only name arrays of the encoder they were made of: a missing one is a mistake here.
    pub(super) fn get<const D: usize>(&self, name: &str) -> Tensor<D> {
        let parameter = &self.parameters.list[self.parameters.places[name]];
        let size = parameter.values.len();
        // A convolution over patches is a linear layer of their values.
        let flat = || {
            let mut shape = [1; D];
            shape[0] = parameter.shape[0];
            shape[D - 1] = size / parameter.shape[0];
            shape
        };
        let shape = <[usize; D]>::try_from(parameter.shape.as_slice()).unwrap_or_else(|_| flat());
        self.tensors[self.parameters.places[name]].clone().reshape(shape)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.parameters.places.contains_key(name)
    }

    /// The tensors of trained arrays, in their order.
    pub(super) fn trained(&self) -> impl Iterator<Item = &Tensor<1>> {
        let pairs = self.parameters.list.iter().zip(&self.tensors);
        pairs.filter(|(parameter, _)| parameter.is_trained).map(|(_, tensor)| tensor)
    }
}

/// Uniform up to one over the root of the inputs, as PyTorch has it.
fn uniform(random: &mut Random, count: usize, limit: f64) -> Vec<f32> {
    (0..count).map(|_| random.symmetric(limit)).collect()
}

/// Low-rank additions: the second factor starts at 0, so that training starts at the encoder.
fn additions(plan: &Plan, settings: &FinetuneSettings) -> Vec<Parameter> {
    let Adaptation::Lora { rank, targets, .. } = &settings.adaptation else { return Vec::new() };
    let mut random = Random::of(settings.seed, &[21]);
    let mut made = Vec::new();
    for block in 0..plan.depth {
        for &target in targets {
            let [outputs, inputs] = plan.size_of(target);
            let name = Plan::lora_name(block, target);
            let limit = 1.0 / (inputs as f64).sqrt();
            made.push(Parameter {
                name: format!("{name}.down"),
                shape: vec![*rank, inputs],
                values: uniform(&mut random, rank * inputs, limit),
                is_trained: true,
            });
            made.push(Parameter {
                name: format!("{name}.up"),
                shape: vec![outputs, *rank],
                values: vec![0.0; outputs * rank],
                is_trained: true,
            });
        }
    }
    made
}

/// Attentive statistics pooling and one direction a class.
fn head(width: usize, classes: usize, seed: u64) -> Vec<Parameter> {
    let mut random = Random::of(seed, &[22]);
    let narrow = (width / BOTTLENECK).max(1);
    let mut made: Vec<Parameter> = Vec::new();
    let mut add = |name: &str, shape: Vec<usize>, values: Vec<f32>, is_trained: bool| {
        made.push(Parameter { name: format!("{HEAD}{name}"), shape, values, is_trained });
    };
    let linear = [
        ("attention.in", narrow, 3 * width),
        ("attention.out", width, narrow),
        ("linear", width, 2 * width),
    ];
    for (name, outputs, inputs) in linear {
        let limit = 1.0 / (inputs as f64).sqrt();
        let weight = uniform(&mut random, outputs * inputs, limit);
        add(&format!("{name}.weight"), vec![outputs, inputs], weight, true);
        add(&format!("{name}.bias"), vec![outputs], uniform(&mut random, outputs, limit), true);
    }
    for (name, size) in
        [("attention.norm", narrow), ("statistics.norm", 2 * width), ("norm", width)]
    {
        add(&format!("{name}.weight"), vec![size], vec![1.0; size], true);
        add(&format!("{name}.bias"), vec![size], vec![0.0; size], true);
        add(&format!("{name}.mean"), vec![size], vec![0.0; size], false);
        add(&format!("{name}.variance"), vec![size], vec![1.0; size], false);
    }
    let limit = (6.0 / (classes + width) as f64).sqrt();
    add("classes", vec![classes, width], uniform(&mut random, classes * width, limit), true);
    made
}

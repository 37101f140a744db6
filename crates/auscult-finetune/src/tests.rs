//! Forward passes against the encoders' own, gradients against differences, steps against PyTorch.

use auscult_core::ClipSettings;
use auscult_encoders::{Checkpoint, Encoder, NamedTensor, Threads, to_safetensors};
use burn_tensor::{DType, Device};
use serde_json::Value;

use super::{
    Adaptation, FinetuneSettings, LoraTarget,
    network::Network,
    optimiser::{self, AdamW},
    parameters::Parameters,
    plan::Plan,
    step::{Batch, evaluate, pass},
};

/// A small encoder with deterministic weights, and everything a step needs.
struct Case {
    golden: Value,
    encoder: Encoder,
    plan: Plan,
    parameters: Parameters,
    settings: FinetuneSettings,
    batch: Batch,
}

fn usize_of(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn cases() -> Vec<Case> {
    let golden: Value = serde_json::from_str(include_str!("../testdata/steps.json")).unwrap();
    golden["cases"].as_array().unwrap().iter().map(Case::new).collect()
}

impl Case {
    fn new(golden: &Value) -> Self {
        let tensors: Vec<NamedTensor> = golden["tensors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tensor| {
                let name = tensor["name"].as_str().unwrap();
                let shape: Vec<usize> =
                    tensor["shape"].as_array().unwrap().iter().map(usize_of).collect();
                // A variance is not negative; what CED's input is made of is not in the steps.
                let values = if name.ends_with("running_var") {
                    vec![400.0; 64]
                } else {
                    auscult_testing::weights::tensor(name, &shape)
                };
                (name.to_owned(), shape, values)
            })
            .collect();
        let config = (!golden["config"].is_null()).then(|| &golden["config"]);
        let bytes = to_safetensors(&tensors, config).unwrap();
        let checkpoint = Checkpoint::from_bytes(bytes).unwrap();
        let encoder = Encoder::load(&checkpoint).unwrap();
        let adaptation = if golden["lora"].as_bool().unwrap() {
            Adaptation::Lora {
                rank: usize_of(&golden["rank"]),
                alpha: golden["alpha"].as_f64().unwrap(),
                targets: vec![LoraTarget::Query, LoraTarget::Value],
            }
        } else {
            Adaptation::Full
        };
        let settings = FinetuneSettings {
            steps: usize_of(&golden["total_steps"]),
            warm_up: usize_of(&golden["warm_up"]),
            learning_rate: golden["learning_rate"].as_f64().unwrap(),
            adaptation,
            ..FinetuneSettings::default()
        };
        let plan = Plan::of(&encoder, &tensors, &settings).unwrap();
        let classes = usize_of(&golden["classes"]);
        let mut parameters = Parameters::new(tensors, &plan, classes, &settings);
        for parameter in &mut parameters.list {
            if parameter.name.starts_with("head.") {
                parameter.values =
                    auscult_testing::weights::tensor(&parameter.name, &parameter.shape);
            } else if parameter.name.starts_with("lora.") {
                let count = parameter.values.len();
                parameter.values =
                    auscult_testing::weights::values(&parameter.name, count, 0.0, 0.2);
            }
        }
        let clips = usize_of(&golden["clips"]);
        let count = clips * usize_of(&golden["rows"]) * usize_of(&golden["columns"]) * 256;
        let name = format!("patches.{}", golden["model"].as_str().unwrap());
        let patches = auscult_testing::weights::values(&name, count, 0.0, 1.5);
        let batch = Batch { patches, classes: (0..clips).map(|clip| clip % classes).collect() };
        Self { golden: golden.clone(), encoder, plan, parameters, settings, batch }
    }

    fn name(&self) -> String {
        let kind = if self.golden["lora"].as_bool().unwrap() { "LoRA" } else { "full" };
        format!("{} {kind}", self.golden["model"].as_str().unwrap())
    }

    fn loss(&self, parameters: &Parameters, precision: DType) -> f64 {
        let device = device();
        let leaves = parameters.leaves(&device, precision);
        pass(&self.plan, &leaves, &self.batch, &self.settings, (&device, precision)).unwrap().loss
    }
}

fn device() -> Device {
    Device::flex().autodiff()
}

fn is_close(got: f64, want: f64, relative: f64, absolute: f64, what: &str) {
    let error = (got - want).abs();
    assert!(error <= relative * want.abs() + absolute, "{what}: {got} for {want}");
}

#[test]
fn steps_are_those_of_the_reference_framework() {
    compare_steps(&device());
}

#[cfg(feature = "gpu")]
#[test]
fn steps_on_a_gpu_are_those_of_the_reference_framework() {
    match super::Compute::Gpu.open() {
        Ok(device) => compare_steps(&device),
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
}

fn compare_steps(device: &Device) {
    for mut case in cases() {
        let name = case.name();
        let mut optimiser = AdamW::new(&case.parameters, case.settings.moments);
        let losses = case.golden["losses"].as_array().unwrap();
        for (step, want) in losses.iter().enumerate() {
            let found = {
                let leaves = case.parameters.leaves(device, DType::F32);
                let place = (device, DType::F32);
                pass(&case.plan, &leaves, &case.batch, &case.settings, place).unwrap()
            };
            is_close(found.loss, want.as_f64().unwrap(), 3e-4, 1e-3, &format!("{name} {step}"));
            let want = case.golden["gradient_lengths"][step].as_f64().unwrap();
            let length = optimiser::length(&found.gradients);
            is_close(length, want, 2e-3, 0.0, &format!("{name} gradient of step {step}"));
            if step == 0 {
                for (parameter, gradient) in case.parameters.trained().zip(&found.gradients) {
                    let want = case.golden["first_gradients"][&parameter.name].as_f64();
                    let length = optimiser::length(std::slice::from_ref(gradient));
                    let what = format!("{name} gradient of {}", parameter.name);
                    is_close(length, want.expect(&what), 1e-3, 1e-3, &what);
                }
            }
            let gradients = found.gradients;
            optimiser.update(&mut case.parameters, &gradients, &case.settings, step);
        }
        for parameter in case.parameters.trained() {
            let want = &case.golden["updated"][&parameter.name];
            let places = want["places"].as_array().unwrap().iter().map(usize_of);
            for (place, value) in places.zip(want["values"].as_array().unwrap()) {
                if changes_nothing(&parameter.name, place, case.plan.width) {
                    continue;
                }
                let what = format!("{name} {}[{place}]", parameter.name);
                let got = f64::from(parameter.values[place]);
                // Where a gradient is next to nothing, its sign decides a whole step.
                is_close(got, value.as_f64().unwrap(), 1e-3, 3e-4, &what);
            }
        }
        let trained = case.parameters.trained().count();
        assert_eq!(trained, case.golden["updated"].as_object().unwrap().len(), "{name}");
    }
}

/// Softmax takes away what is the same for all it compares, such as the biases of keys: their
/// gradients are rounding, and AdamW takes whole steps by their sign.
fn changes_nothing(name: &str, place: usize, width: usize) -> bool {
    name.ends_with("k_proj.bias")
        || name == "head.attention.out.bias"
        // Taken away by the normalisation after them.
        || ["head.linear.bias", "head.statistics.norm.bias"].contains(&name)
        || (name.ends_with("qkv.bias") && (width..2 * width).contains(&place))
}

/// In f64: the slope along the gradient of every array is its squared length.
#[test]
fn gradients_are_those_of_finite_differences() {
    for case in cases() {
        let device = device();
        let place = (&device, DType::F64);
        let leaves = case.parameters.leaves(&device, DType::F64);
        let found = pass(&case.plan, &leaves, &case.batch, &case.settings, place).unwrap();
        let names: Vec<String> = case.parameters.trained().map(|it| it.name.clone()).collect();
        for (name, gradient) in names.iter().zip(&found.gradients) {
            let squared = optimiser::length(std::slice::from_ref(gradient)).powi(2);
            if squared < 1e-10 {
                // Keys' biases change nothing: softmax takes them away.
                continue;
            }
            // Arrays are f32, so what was really added is measured.
            let length = 2e-4 / squared.sqrt();
            let mut along = 0.0;
            let [up, down] = [1.0, -1.0].map(|sign| {
                let mut moved = case.parameters.clone();
                let values = &mut moved.get_mut(name).unwrap().values;
                for (value, &gradient) in values.iter_mut().zip(gradient) {
                    let before = *value;
                    *value = (f64::from(before) + sign * length * f64::from(gradient)) as f32;
                    along += sign * f64::from(gradient) * f64::from(*value - before);
                }
                case.loss(&moved, DType::F64)
            });
            let what = format!("{} {name}", case.name());
            is_close((up - down) / along, 1.0, 0.02, 0.0, &what);
        }
    }
}

#[test]
fn layers_are_those_of_inference() {
    for case in cases() {
        let name = case.name();
        let seconds = if name.starts_with("ced") { 1.2 } else { 1.0 };
        let length = ClipSettings { seconds, ..Default::default() }.check().unwrap();
        let mut buffers = case.encoder.buffers(length).unwrap();
        let sound: Vec<f32> = (0..length.samples())
            .map(|at| 0.1 * (at as f32 * 0.3).sin() + 0.05 * (at as f32 * 1.7).cos())
            .collect();
        let map = case.encoder.input_map(&sound, &mut buffers).unwrap().to_vec();
        let patches = case.encoder.patches(&map);
        // Additions are in neither: they are tested by what is saved.
        let plan = Plan { lora: None, ..case.plan.clone() };
        let device = device();
        let leaves = case.parameters.leaves(&device, DType::F32);
        let batch = Batch { patches, classes: vec![0] };
        let layers =
            Network { plan: &plan, leaves: &leaves }.layers(batch.tensor(&device, DType::F32));
        let wanted: Vec<usize> = (0..=case.encoder.last_layer()).collect();
        assert_eq!(layers.len(), wanted.len(), "{name}");
        let layers: Vec<Vec<f32>> =
            layers.into_iter().map(|layer| layer.try_into_vec_as().unwrap()).collect();
        let mut seen = 0;
        let mut compare = |tokens: auscult_encoders::LayerTokens<'_>| {
            let width = case.encoder.width();
            for (index, got) in layers[tokens.layer].chunks_exact(width).enumerate() {
                for (got, want) in got.iter().zip(tokens.numbered(index)) {
                    let what = format!("{name} layer {} token {index}", tokens.layer);
                    is_close(f64::from(*got), f64::from(*want), 1e-4, 1e-4, &what);
                }
                seen += 1;
            }
        };
        case.encoder.run(&sound, &mut buffers, Threads::One, &wanted, &mut compare).unwrap();
        assert!(seen > wanted.len() * 8, "{name}: every token was compared");
    }
}

/// What is saved gives, by inference, what training computed with its additions.
#[test]
fn saved_encoders_hold_their_additions() {
    for case in cases().into_iter().filter(|case| case.golden["lora"].as_bool().unwrap()) {
        let merged = case.plan.merged(&case.parameters);
        let config = case.encoder.config();
        let checkpoint = Checkpoint::from_bytes(to_safetensors(&merged, config).unwrap()).unwrap();
        let saved = Encoder::load(&checkpoint).unwrap();
        assert_ne!(saved.fingerprint(), case.encoder.fingerprint());
        let full = FinetuneSettings { adaptation: Adaptation::Full, ..case.settings.clone() };
        let plan = Plan::of(&saved, &merged, &full).unwrap();
        let mut parameters = Parameters::new(merged, &plan, 3, &full);
        for parameter in &mut parameters.list {
            if parameter.name.starts_with("head.") {
                parameter.values = case.parameters.get(&parameter.name).unwrap().values.clone();
            }
        }
        let device = device();
        let leaves = parameters.leaves(&device, DType::F32);
        let place = (&device, DType::F32);
        let found = pass(&plan, &leaves, &case.batch, &full, place).unwrap();
        is_close(found.loss, case.loss(&case.parameters, DType::F32), 1e-4, 0.0, &case.name());
    }
}

#[test]
fn moments_of_half_the_memory_take_nearly_the_same_steps() {
    let Some(case) = cases().into_iter().next() else { panic!("no case") };
    let gradients = {
        let device = device();
        let leaves = case.parameters.leaves(&device, DType::F32);
        let place = (&device, DType::F32);
        pass(&case.plan, &leaves, &case.batch, &case.settings, place).unwrap().gradients
    };
    let step = |storage| {
        let mut parameters = case.parameters.clone();
        let mut optimiser = AdamW::new(&parameters, storage);
        for step in 0..3 {
            optimiser.update(&mut parameters, &gradients, &case.settings, step);
        }
        parameters
    };
    let [full, half] = [super::MomentStorage::F32, super::MomentStorage::Bf16].map(step);
    assert_ne!(full, half);
    for (full, half) in full.trained().zip(half.trained()) {
        for (full, half) in full.values.iter().zip(&half.values) {
            assert!((full - half).abs() < 2e-4, "{full} {half}");
        }
    }
}

#[test]
fn evaluation_uses_what_batches_taught() {
    let Some(mut case) = cases().into_iter().next() else { panic!("no case") };
    let device = device();
    let before =
        evaluate(&case.plan, &case.parameters, &case.batch, &case.settings, &device).unwrap();
    for _ in 0..60 {
        let statistics = {
            let leaves = case.parameters.leaves(&device, DType::F32);
            let place = (&device, DType::F32);
            pass(&case.plan, &leaves, &case.batch, &case.settings, place).unwrap().statistics
        };
        super::head::learn_statistics(&mut case.parameters, statistics);
    }
    let (after, _) =
        evaluate(&case.plan, &case.parameters, &case.batch, &case.settings, &device).unwrap();
    let batch = case.loss(&case.parameters, DType::F32);
    assert!((after - batch).abs() < (before.0 - batch).abs(), "{after} nearer to {batch}");
}

//! Training: windows in an order by chance, Adam, and how well unseen clips are reconstructed.

use std::ops::ControlFlow;

use auscult_core::random::Random;
use serde::Serialize;

use super::{
    Form, Reconstruction, TrainingSettings,
    matrix::Matrix,
    network::{Network, Step},
    settings::FRAMES,
};

use crate::{Error, Result};

/// The mean squared errors of one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EpochErrors {
    /// Of the windows trained on, each as it was seen.
    pub training: f64,
    /// Of the clips held back, after the epoch; `None` without any.
    pub validation: Option<f64>,
}

/// What has just been done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainingEvent {
    /// A batch of windows was learnt from.
    Batch,
    /// Every window was, once more.
    Epoch(EpochErrors),
}

/// What training gives.
#[derive(Debug, Clone)]
pub(super) struct Trained {
    pub(super) network: Network,
    pub(super) curve: Vec<EpochErrors>,
    /// Clips that were not trained on, ascending.
    pub(super) held_back: Vec<usize>,
    /// Clips that were.
    pub(super) used: Vec<usize>,
}

/// A window: its clip and its first frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) clip: u32,
    pub(super) frame: u32,
}

/// Every window of some clips.
pub(super) fn windows(maps: &[&[f32]], clips: &[usize], bins: usize) -> Vec<Window> {
    let of_clip = |&clip: &usize| {
        let count = (maps[clip].len() / bins + 1).saturating_sub(FRAMES);
        (0..count).map(move |frame| Window { clip: clip as u32, frame: frame as u32 })
    };
    clips.iter().flat_map(of_clip).collect()
}

/// Windows as the network sees them, and what it should make of them.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    form: Form,
    seen: Matrix,
    /// None where it should make what it sees.
    made: Option<Matrix>,
}

impl Batch {
    pub(super) fn new(form: Form) -> Self {
        let matrix = |frames: &[usize]| Matrix::zeros(0, frames.len() * form.bins());
        let made = (form.seen() != form.made()).then(|| matrix(form.made()));
        Self { form, seen: matrix(form.seen()), made }
    }

    /// Takes windows, five frames each, in place of those it had.
    pub(super) fn set<'a>(&mut self, windows: impl ExactSizeIterator<Item = &'a [f32]>) {
        let (bins, seen, made) = (self.form.bins(), self.form.seen(), self.form.made());
        self.seen.set_rows(windows.len());
        if let Some(matrix) = &mut self.made {
            matrix.set_rows(windows.len());
        }
        for (at, window) in windows.enumerate() {
            copy_frames(window, seen, bins, self.seen.row_mut(at));
            if let Some(matrix) = &mut self.made {
                copy_frames(window, made, bins, matrix.row_mut(at));
            }
        }
    }

    /// What the network sees.
    pub(super) fn seen(&self) -> &Matrix {
        &self.seen
    }

    /// What it should make.
    pub(super) fn made(&self) -> &Matrix {
        self.made.as_ref().unwrap_or(&self.seen)
    }
}

fn copy_frames(window: &[f32], frames: &[usize], bins: usize, row: &mut [f32]) {
    for (to, frame) in row.chunks_exact_mut(bins).zip(frames) {
        to.copy_from_slice(&window[frame * bins..(frame + 1) * bins]);
    }
}

/// The frames of a window lie beside each other.
fn window_of<'a>(maps: &[&'a [f32]], window: Window, bins: usize) -> &'a [f32] {
    let start = window.frame as usize * bins;
    &maps[window.clip as usize][start..start + FRAMES * bins]
}

/// Is called after each batch and epoch, and may stop the work.
pub type Watch<'a> = dyn Fn(TrainingEvent) -> ControlFlow<()> + Sync + 'a;

/// Trains on spectrograms (frames x bins, one a clip).
pub(super) fn train(
    maps: &[&[f32]],
    settings: &TrainingSettings,
    watch: &Watch<'_>,
) -> Result<Trained> {
    settings.check()?;
    let bins = settings.form.bins();
    let (used, held_back) = split(maps.len(), settings);
    let mut order = windows(maps, &used, bins);
    if order.len() < 2 {
        let got = format!("{} of {} clips", order.len(), used.len());
        return Err(Error::setting(
            "windows to train on",
            "at least 2 of 5 frames (more or longer clips)",
            got,
        ));
    }
    let mut network = Network::new(settings.form, settings.seed);
    let mut step = network.step();
    let mut adam = Adam::new(&mut network, &step, settings.learning_rate);
    let mut batch = Batch::new(settings.form);
    let mut curve = Vec::with_capacity(settings.epochs);
    for epoch in 0..settings.epochs {
        Random::of(settings.seed, &[1, epoch as u64]).shuffle(&mut order);
        let (mut sum, mut seen) = (0.0, 0);
        for windows in order.chunks(settings.batch) {
            // One window has no variance to be normalised by.
            if windows.len() < 2 {
                continue;
            }
            batch.set(windows.iter().map(|&window| window_of(maps, window, bins)));
            sum += network.forward_backward(&batch, &mut step) * windows.len() as f64;
            seen += windows.len();
            adam.update(&mut network, &step);
            if watch(TrainingEvent::Batch).is_break() {
                return Err(Error::Stopped);
            }
        }
        let errors = EpochErrors {
            training: sum / seen as f64,
            validation: validation_error(maps, &held_back, &network, settings),
        };
        if !errors.training.is_finite() {
            return Err(Error::Diverged { step: epoch, learning_rate: settings.learning_rate });
        }
        curve.push(errors);
        if watch(TrainingEvent::Epoch(errors)).is_break() {
            return Err(Error::Stopped);
        }
    }
    Ok(Trained { network, curve, held_back, used })
}

/// Which clips are trained on and which are held back; whole clips, because windows of one clip
/// are nearly the same.
fn split(count: usize, settings: &TrainingSettings) -> (Vec<usize>, Vec<usize>) {
    let held = (count as f64 * settings.validation_share).round() as usize;
    let held = held.min(count.saturating_sub(1));
    let mut clips: Vec<usize> = (0..count).collect();
    Random::of(settings.seed, &[2]).shuffle(&mut clips);
    let mut used = clips.split_off(held);
    used.sort_unstable();
    clips.sort_unstable();
    (used, clips)
}

fn validation_error(
    maps: &[&[f32]],
    held_back: &[usize],
    network: &Network,
    settings: &TrainingSettings,
) -> Option<f64> {
    if held_back.is_empty() {
        return None;
    }
    let reconstruction = Reconstruction::of(settings.form, network);
    let sum: f64 = held_back.iter().map(|&clip| reconstruction.squared_error(maps[clip])).sum();
    Some(sum / held_back.len() as f64)
}

/// Adam (Kingma and Ba 2015) with PyTorch's values.
#[derive(Debug)]
struct Adam {
    learning_rate: f64,
    steps: i32,
    /// First and second moments of each array.
    moments: Vec<(Vec<f32>, Vec<f32>)>,
}

const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;

impl Adam {
    fn new(network: &mut Network, step: &Step, learning_rate: f64) -> Self {
        let zeros =
            |(values, _): (&mut [f32], &[f32])| (vec![0.0; values.len()], vec![0.0; values.len()]);
        Self { learning_rate, steps: 0, moments: network.parameters(step).map(zeros).collect() }
    }

    fn update(&mut self, network: &mut Network, step: &Step) {
        self.steps += 1;
        let [first, second] = BETAS.map(|beta| 1.0 - beta.powi(self.steps));
        let rate = (self.learning_rate / first) as f32;
        let root = (1.0 / second.sqrt()) as f32;
        let [keep_first, keep_second] = BETAS.map(|beta| beta as f32);
        for ((values, gradient), (first, second)) in network.parameters(step).zip(&mut self.moments)
        {
            let moments = first.iter_mut().zip(second);
            for ((value, &gradient), (first, second)) in
                values.iter_mut().zip(gradient).zip(moments)
            {
                *first += (1.0 - keep_first) * (gradient - *first);
                *second = keep_second * *second + (1.0 - keep_second) * gradient * gradient;
                *value -= rate * *first / (second.sqrt() * root + EPSILON);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Form;

    fn maps(count: usize, frames: usize, bins: usize) -> Vec<Vec<f32>> {
        (0..count)
            .map(|clip| {
                let mut random = Random::of(7, &[clip as u64]);
                let value = |at: usize| -30.0 + 10.0 * ((at % bins) as f32 * 0.2).sin();
                (0..frames * bins).map(|at| value(at) + random.symmetric(1.0)).collect()
            })
            .collect()
    }

    fn quick(form: Form) -> TrainingSettings {
        TrainingSettings { epochs: 3, batch: 32, ..TrainingSettings::of(form) }
    }

    #[test]
    fn errors_fall_and_a_seed_decides_every_bit() {
        let maps = maps(12, 20, 64);
        let maps: Vec<&[f32]> = maps.iter().map(Vec::as_slice).collect();
        let settings = quick(Form::Mimii);
        let train = |settings: &TrainingSettings| {
            train(&maps, settings, &|_| ControlFlow::Continue(())).unwrap()
        };
        let (first, again) = (train(&settings), train(&settings));
        assert_eq!(first.curve, again.curve);
        assert_eq!(first.network.layers[0].weight, again.network.layers[0].weight);
        assert!(first.curve[2].training < first.curve[0].training);
        assert_eq!((first.held_back.len(), first.used.len()), (1, 11));
        let other = train(&TrainingSettings { seed: 1, ..settings });
        assert_ne!(first.curve, other.curve);
    }

    /// Four steps and the errors after them, as PyTorch computes them.
    #[test]
    fn steps_are_those_of_the_reference_framework() {
        let golden = include_str!("../testdata/autoencoder.json");
        let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
        // Of the two that reproduce what they see; gradients of the third are those of finite differences.
        for case in golden["forms"].as_array().unwrap() {
            let form: Form = case["form"].as_str().unwrap().parse().unwrap();
            let mut network = Network::new(form, 0);
            for (at, layer) in network.layers.iter_mut().enumerate() {
                let shape = [layer.bias.len(), layer.inputs];
                layer.weight =
                    auscult_testing::weights::tensor(&format!("{form}.{at}.weight"), &shape);
                layer.bias =
                    auscult_testing::weights::tensor(&format!("{form}.{at}.bias"), &shape[..1]);
            }
            let batch = |step: usize, rows: usize| {
                let columns = form.widths()[0];
                let name = format!("{form}.batch.{step}");
                let values = auscult_testing::weights::values(&name, rows * columns, -20.0, 10.0);
                let values: Vec<f32> = values.into_iter().collect();
                let mut batch = Batch::new(form);
                batch.set(values.chunks_exact(columns));
                batch
            };
            let mut step = network.step();
            let mut adam = Adam::new(&mut network, &step, 1e-3);
            let is_close = |got: f64, want: &serde_json::Value, what: &str| {
                let want = want.as_f64().unwrap();
                assert!((got / want - 1.0).abs() < 1e-4, "{form} {what}: {got} for {want}");
            };
            for (at, want) in case["losses"].as_array().unwrap().iter().enumerate() {
                let loss = network.forward_backward(&batch(at, 32), &mut step);
                is_close(loss, want, &format!("step {at}"));
                adam.update(&mut network, &step);
            }
            let reconstruction = Reconstruction::of(form, &network);
            let unseen = batch(9, 8);
            for (row, want) in unseen.seen().iter().zip(case["errors_after"].as_array().unwrap()) {
                is_close(reconstruction.squared_error(row), want, "unseen");
            }
        }
    }

    /// A middle frame that its neighbours do not tell cannot be made, one that they do tell can.
    #[test]
    fn what_neighbours_tell_is_learnt_and_what_they_do_not_is_not() {
        let map = |clip: u64, is_told: bool| -> Vec<f32> {
            let mut random = Random::of(11, &[clip]);
            let level = random.symmetric(3.0);
            let frame = |_| if is_told { level } else { random.symmetric(3.0) };
            let levels: Vec<f32> = (0..30).map(frame).collect();
            levels
                .iter()
                .flat_map(|level| (0..128).map(move |bin| level + bin as f32 * 0.01))
                .collect()
        };
        let error = |is_told: bool| {
            let maps: Vec<Vec<f32>> = (0..20).map(|clip| map(clip, is_told)).collect();
            let maps: Vec<&[f32]> = maps.iter().map(Vec::as_slice).collect();
            let settings =
                TrainingSettings { epochs: 60, batch: 32, ..TrainingSettings::of(Form::Idnn) };
            let trained = train(&maps, &settings, &|_| ControlFlow::Continue(())).unwrap();
            Reconstruction::of(Form::Idnn, &trained.network)
                .squared_error(maps[trained.held_back[0]])
        };
        let (told, untold) = (error(true), error(false));
        assert!(told < 0.3 && untold > 2.0, "{told} {untold}");
    }

    #[test]
    fn threads_change_no_bit() {
        let maps = maps(6, 70, 128);
        let maps: Vec<&[f32]> = maps.iter().map(Vec::as_slice).collect();
        let settings = TrainingSettings { epochs: 1, batch: 256, ..quick(Form::Dcase) };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&maps, &settings, &|_| ControlFlow::Continue(())).unwrap().curve)
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn clips_shorter_than_a_window_are_refused() {
        let maps = maps(3, 4, 128);
        let maps: Vec<&[f32]> = maps.iter().map(Vec::as_slice).collect();
        let error = train(&maps, &quick(Form::Dcase), &|_| ControlFlow::Continue(())).unwrap_err();
        assert!(error.to_string().contains("5 frames"), "{error}");
    }

    #[test]
    fn a_stop_is_obeyed_within_an_epoch() {
        let maps = maps(6, 20, 64);
        let maps: Vec<&[f32]> = maps.iter().map(Vec::as_slice).collect();
        let events = std::sync::Mutex::new(Vec::new());
        let stop_after = |wanted: usize| {
            events.lock().unwrap().clear();
            let watch = |event| {
                let mut events = events.lock().unwrap();
                events.push(event);
                if events.len() < wanted {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let stopped = train(&maps, &quick(Form::Mimii), &watch).unwrap_err();
            assert!(matches!(stopped, Error::Stopped));
            events.lock().unwrap().clone()
        };
        assert_eq!(stop_after(1), [TrainingEvent::Batch], "not only after an epoch");
        // 5 clips with 16 windows each, in batches of 32.
        let events = stop_after(4);
        assert!(matches!(events[3], TrainingEvent::Epoch(_)), "{events:?}");
    }
}

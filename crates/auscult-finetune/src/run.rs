//! A run: clips in an order by chance, updates, checkpoints, and the encoder that comes of it.

use std::{
    fs::{self, File},
    ops::ControlFlow,
    path::PathBuf,
    time::Instant,
};

use auscult_encoders::{Checkpoint, Encoder, to_safetensors};
use burn_tensor::{DType, Device};
use rayon::prelude::*;

use super::{
    Classes, FinetuneSettings, LabelledClips, RunPlace, StepFacts,
    augment::mask,
    checkpoint::{self, RunIdentity},
    clips::fingerprint,
    curve,
    head::learn_statistics,
    optimiser::{self, AdamW},
    parameters::Parameters,
    place::{check_length, file_error, lock},
    plan::Plan,
    step::{self, Batch},
    survey,
};
use auscult_core::random::Random;

use crate::{Error, Result};

/// What has just been done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunEvent<'a> {
    /// Clips were read and can be trained on; all of them are before the first step.
    Checked {
        /// Clips read so far.
        clips: usize,
        /// Clips there are.
        of: usize,
    },
    /// The run goes on from a checkpoint.
    Continued {
        /// Steps that were done before.
        step: usize,
    },
    /// A step was done.
    Step(&'a StepFacts),
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Finetuned {
    /// Every step, those before a continuation included.
    pub curve: Vec<StepFacts>,
    /// The encoder as it is now, in the layout the loaders read.
    pub encoder: PathBuf,
    /// Whether all steps were done.
    pub is_complete: bool,
    /// The step a continued run began at.
    pub continued_from: usize,
}

/// Files of a run's folder.
const CHECKPOINT: &str = "checkpoint.safetensors";
const CURVE: &str = "curve.csv";
const PICTURE: &str = "curve.svg";
const ENCODER: &str = "encoder.safetensors";
const SETTINGS: &str = "settings.json";

/// Fine-tunes an encoder to distinguish the labels of clips.
///
/// The folder gets `settings.json`, `curve.csv`, `curve.svg`, `checkpoint.safetensors` every few
/// steps, and at the end `encoder.safetensors`. If it has a checkpoint of the same run, the run goes
/// on from there, with the same numbers as if it had never been stopped: what is drawn by chance
/// depends on the seed and the step only. Every clip is read before the first step. `watch` may stop the run, which
/// then writes a checkpoint.
///
/// # Errors
///
/// If a setting is out of range, labels cannot be learnt, the device is not there, clips cannot be
/// trained on, the loss is not a number, or the folder cannot be written, is in use or holds another
/// run. The last checkpoint stays.
pub fn finetune(
    checkpoint: &Checkpoint,
    clips: &dyn LabelledClips,
    settings: &FinetuneSettings,
    place: &RunPlace,
    watch: &mut dyn FnMut(RunEvent<'_>) -> ControlFlow<()>,
) -> Result<Finetuned> {
    let mut run = Run::new(checkpoint, clips, settings, place, watch)?;
    let continued_from = run.continue_from_checkpoint()?;
    let mut is_stopped =
        continued_from > 0 && watch(RunEvent::Continued { step: continued_from }).is_break();
    let started = Instant::now();
    while run.step < settings.steps && !is_stopped {
        let facts = run.update(started)?;
        run.curve.push(facts);
        let is_late = place.at_most.is_some_and(|most| started.elapsed() >= most);
        is_stopped = watch(RunEvent::Step(&facts)).is_break() || is_late;
        if is_stopped || run.step.is_multiple_of(settings.checkpoint_every) {
            run.save()?;
        }
    }
    // A run that was finished before is left as it is: its state is three times as large as the encoder.
    if run.step > continued_from || continued_from == 0 {
        run.save()?;
    }
    let encoder = run.save_encoder()?;
    let is_complete = run.step >= settings.steps;
    Ok(Finetuned { curve: run.curve, encoder, is_complete, continued_from })
}

struct Run<'a> {
    encoder: Encoder,
    clips: &'a dyn LabelledClips,
    classes: Classes,
    settings: &'a FinetuneSettings,
    place: &'a RunPlace,
    identity: RunIdentity,
    plan: Plan,
    parameters: Parameters,
    optimiser: AdamW,
    device: Device,
    step: usize,
    curve: Vec<StepFacts>,
    /// Seconds of the run before it was continued.
    seconds_before: f64,
    /// Held as long as the run is at work.
    _lock: File,
    /// The order of clips in one round through them.
    order: (usize, Vec<usize>),
}

impl<'a> Run<'a> {
    fn new(
        checkpoint: &Checkpoint,
        clips: &'a dyn LabelledClips,
        settings: &'a FinetuneSettings,
        place: &'a RunPlace,
        watch: &mut dyn FnMut(RunEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Self> {
        settings.check()?;
        let classes = Classes::of(clips.labels(), settings.least_clips)?;
        let encoder = Encoder::load(checkpoint)?;
        check_length(&encoder, place.clip)?;
        let device = place.compute.open()?;
        let class_list = survey::survey(clips, watch)?;
        let tensors = encoder.tensors(checkpoint)?;
        let plan = Plan::of(&encoder, &tensors, settings)?;
        let parameters = Parameters::new(tensors, &plan, classes.names().len(), settings);
        let optimiser = AdamW::new(&parameters, settings.moments);
        let identity = RunIdentity::new(
            encoder.name(),
            encoder.fingerprint().to_owned(),
            (fingerprint(clips), class_list, clips.origin()),
            place.clip.seconds,
            settings.clone(),
        );
        let folder = &place.folder;
        fs::create_dir_all(folder).map_err(file_error(folder))?;
        Ok(Self {
            encoder,
            clips,
            classes,
            settings,
            place,
            identity,
            plan,
            parameters,
            optimiser,
            device,
            step: 0,
            curve: Vec::new(),
            seconds_before: 0.0,
            _lock: lock(folder)?,
            order: (0, Vec::new()),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.folder.join(name)
    }

    /// The step to resume at; 0 if there is no checkpoint.
    fn continue_from_checkpoint(&mut self) -> Result<usize> {
        let path = self.path(CHECKPOINT);
        if path.exists() {
            let Self { identity, parameters, optimiser, .. } = self;
            self.step = checkpoint::load(&path, identity, parameters, optimiser)?;
            self.curve = curve::read(&self.path(CURVE), self.step)?;
            self.seconds_before = self.curve.last().map_or(0.0, |facts| facts.seconds);
        }
        let settings = serde_json::to_string_pretty(&self.identity).unwrap_or_default();
        // Somebody may have removed them; a full disk is met where it matters.
        if fs::read(self.path(SETTINGS)).ok().as_deref() != Some(settings.as_bytes()) {
            self.write(SETTINGS, settings.as_bytes())?;
        }
        Ok(self.step)
    }

    /// One update: some passes, their mean gradient, and a step against it.
    fn update(&mut self, started: Instant) -> Result<StepFacts> {
        let FinetuneSettings { accumulation, batch, learning_rate, .. } = *self.settings;
        let mut sums: Vec<Vec<f32>> = Vec::new();
        let (mut loss, mut right) = (0.0, 0);
        let mut statistics = Vec::new();
        {
            let batches: Result<Vec<Batch>> =
                (0..accumulation).map(|part| self.batch(part)).collect();
            let leaves = self.parameters.leaves(&self.device, DType::F32);
            for batch in batches? {
                let pass = step::pass(
                    &self.plan,
                    &leaves,
                    &batch,
                    self.settings,
                    (&self.device, DType::F32),
                )?;
                loss += pass.loss / accumulation as f64;
                right += pass.right;
                statistics.extend(pass.statistics);
                if sums.is_empty() {
                    sums = pass.gradients;
                } else {
                    sums.par_iter_mut().zip(pass.gradients).for_each(|(sum, gradient)| {
                        sum.iter_mut().zip(gradient).for_each(|(sum, more)| *sum += more);
                    });
                }
            }
        }
        if accumulation > 1 {
            optimiser::scale(&mut sums, 1.0 / accumulation as f64);
        }
        let gradient = optimiser::length(&sums);
        if !loss.is_finite() || !gradient.is_finite() {
            return Err(Error::Diverged { step: self.step + 1, learning_rate });
        }
        if let Some(most) = self.settings.largest_gradient.filter(|&most| gradient > most) {
            optimiser::scale(&mut sums, most / gradient);
        }
        learn_statistics(&mut self.parameters, statistics);
        self.optimiser.update(&mut self.parameters, &sums, self.settings, self.step);
        let rate = self.settings.learning_rate_at(self.step);
        self.step += 1;
        Ok(StepFacts {
            step: self.step,
            loss,
            accuracy: right as f64 / (batch * accumulation) as f64,
            learning_rate: rate,
            gradient,
            seconds: self.seconds_before + started.elapsed().as_secs_f64(),
        })
    }

    /// The clips of one pass of the current step, masked and cut into patches.
    fn batch(&mut self, part: usize) -> Result<Batch> {
        let FinetuneSettings { batch, accumulation, .. } = *self.settings;
        let first = (self.step * accumulation + part) * batch;
        let chosen: Vec<usize> = (first..first + batch).map(|place| self.clip_at(place)).collect();
        let (step, seat) = (self.step as u64, part * batch);
        let patches = self.patches(&chosen, |at| Some([step, (seat + at) as u64]))?;
        let classes = chosen.iter().map(|&clip| self.classes.members()[clip]).collect();
        Ok(Batch { patches, classes })
    }

    /// The clip at a place in the endless order of rounds.
    fn clip_at(&mut self, place: usize) -> usize {
        let count = self.clips.labels().len();
        let round = place / count;
        if self.order.0 != round || self.order.1.len() != count {
            let mut order: Vec<usize> = (0..count).collect();
            Random::of(self.settings.seed, &[ORDER, round as u64]).shuffle(&mut order);
            self.order = (round, order);
        }
        self.order.1[place % count]
    }

    /// The patches of clips, one after the other; `draw` names the masks of each.
    fn patches(
        &self,
        chosen: &[usize],
        draw: impl Fn(usize) -> Option<[u64; 2]> + Sync,
    ) -> Result<Vec<f32>> {
        let length = self.place.clip.check()?;
        let of_clip = |buffers: &mut Option<auscult_encoders::Buffers>, at: usize| {
            let clip = chosen[at];
            let wrong = |reason: String| Error::Clip { clip: self.clips.name(clip), reason };
            let samples = self.clips.samples(clip).map_err(wrong)?;
            survey::check(&samples).map_err(wrong)?;
            let buffers = match buffers {
                Some(buffers) => buffers,
                empty => empty.insert(self.encoder.buffers(length)?),
            };
            let mut map = self.encoder.input_map(&samples, buffers)?.to_vec();
            if let Some(draw) = draw(at) {
                mask(&mut map, self.encoder.bins(), self.settings, draw);
            }
            Ok(self.encoder.patches(&map))
        };
        let parts: Result<Vec<Vec<f32>>> =
            (0..chosen.len()).into_par_iter().map_init(|| None, of_clip).collect();
        Ok(parts?.concat())
    }

    /// The curve first: a checkpoint never stands beyond it.
    fn save(&self) -> Result<()> {
        self.write(CURVE, curve::to_csv(&self.curve).as_bytes())?;
        self.write(PICTURE, curve::to_svg(&self.curve).as_bytes())?;
        let path = self.path(CHECKPOINT);
        checkpoint::save(&path, self.step, &self.identity, &self.parameters, &self.optimiser)
    }

    fn save_encoder(&self) -> Result<PathBuf> {
        let bytes = to_safetensors(&self.plan.merged(&self.parameters), self.encoder.config())?;
        self.write(ENCODER, &bytes)?;
        Ok(self.path(ENCODER))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name);
        auscult_files::write_atomically(&path, bytes)
            .map_err(|error| Error::File { path, reason: error.to_string() })
    }
}

/// Tells the order of clips from other draws.
const ORDER: u64 = 12;

//! `auscult fit --method autoencoder`: a network learns to reproduce normal recordings.

use std::{ops::ControlFlow, sync::Arc};

use auscult_autoencoder::Error;
use auscult_autoencoder::{
    AutoencoderModelSettings, FittedAutoencoder, SpectrogramFrontEnd, TrainingEvent, TrainingPlan,
    TrainingSettings, fit_model,
};
use auscult_core::{BeamSettings, ClipSettings, FrontEnd, ModelSettings};

use super::{fit, gathering::Gathered, unused};
use crate::{
    Outcome,
    args::{AutoencoderArguments, FitArguments, FrontEndArguments, Typed},
    files, front_ends, interrupt,
    printer::Printer,
    progress,
};

pub(super) fn run(arguments: &FitArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    refuse_unused(arguments)?;
    files::check_model_target(&arguments.output)?;
    let asked = &arguments.front_end;
    let clip = ClipSettings { sample_rate: asked.sample_rate, seconds: asked.clip_seconds };
    let autoencoder = settings(arguments);
    autoencoder.training.check()?;
    let spectrogram = SpectrogramFrontEnd::new(autoencoder.training.form, clip.check()?)?;
    let settings = model_settings(arguments, clip, &spectrogram);
    let reading = fit::reading(&arguments.input, &asked.channel, clip, Arc::new(spectrogram))?;
    let Gathered { references, counts, quality, .. } =
        fit::read_normal(arguments, &reading, printer)?;
    let plan = TrainingPlan::new(&settings, &references, &autoencoder)?;
    if let Some(note) = few_steps(&autoencoder.training, plan.fewest_steps()) {
        printer.note(note);
    }
    let bar = progress::bar(plan.epochs(), "epochs");
    let fitted = fit_model(settings, &references, &autoencoder, &|event| {
        bar.inc(u64::from(matches!(event, TrainingEvent::Epoch(_))));
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let fitted = fitted.map_err(|error| match error {
        Error::Stopped => fit::stopped(arguments),
        error => error.into(),
    });
    let fitted = fitted?;
    let note = doubt(&fitted);
    let outcome = fit::finish(fitted.model, (counts, quality), arguments, printer)?;
    if let Some(note) = note {
        printer.note(note);
    }
    Ok(outcome)
}

/// Why the threshold may not be what it seems.
fn doubt(fitted: &FittedAutoencoder) -> Option<String> {
    if fitted.is_tight() {
        let above = 100.0 * fitted.training_above;
        return Some(format!(
            "the threshold is tight: {above:.0} % of the clips the model's own network was trained on are above it, \
             because short trainings end differently by chance; give more --epochs"
        ));
    }
    fitted.is_loose().then(|| {
        let ratio = fitted.left_out_ratio;
        format!(
            "the threshold is loose: clips a network never heard score {ratio:.1} times as high as those the \
             model's own was trained on; give more recordings or visits, or more --epochs"
        )
    })
}

/// Options that say how to compare say nothing to a network.
fn refuse_unused(arguments: &FitArguments) -> anyhow::Result<()> {
    refuse_comparing(&arguments.typed, &arguments.front_end, unused::SETTINGS)
}

/// The same for every command; `others` are options that only it has.
pub(super) fn refuse_comparing(
    typed: &Typed,
    front_end: &FrontEndArguments,
    others: &'static [(&'static str, &'static str)],
) -> anyhow::Result<()> {
    front_end.encoder.refuse_for("an autoencoder")?;
    front_ends::refuse_unused_file("an autoencoder", "", front_ends::NAME_AN_ENCODER)?;
    let why = "says what sound is turned into, and an autoencoder takes its own spectrogram; leave it out";
    unused::refuse(typed, &[unused::FRONT_END], why)?;
    let why = "says how references are compared, and an autoencoder compares nothing; leave it out";
    unused::refuse(typed, &[unused::COMPARING, others], why)
}

/// Options of a network say nothing to what compares; `choice` is the option that chooses one.
pub(super) fn refuse_without(typed: &Typed, choice: &str) -> anyhow::Result<()> {
    let why = format!("says how an autoencoder is trained; give {choice} too, or leave it out");
    unused::refuse(typed, &[unused::NETWORK], &why)
}

/// What to say of a training that is too short to mean something.
pub(super) fn few_steps(training: &TrainingSettings, steps: usize) -> Option<String> {
    (steps < TrainingSettings::FEWEST_USEFUL_STEPS).then(|| {
        format!(
            "{steps} training steps are few, and below {} scores say little; give more recordings, or more \
             --epochs than {}",
            TrainingSettings::FEWEST_USEFUL_STEPS,
            training.epochs
        )
    })
}

/// The training that the options ask for.
pub(super) fn training(arguments: &AutoencoderArguments) -> TrainingSettings {
    let baseline = TrainingSettings::of(arguments.network);
    let epochs = arguments.epochs.unwrap_or(baseline.epochs);
    TrainingSettings { epochs, seed: arguments.seed, ..baseline }
}

fn settings(arguments: &FitArguments) -> AutoencoderModelSettings {
    AutoencoderModelSettings {
        training: training(&arguments.autoencoder),
        score: arguments.autoencoder.error_score,
        folds: arguments.folds,
    }
}

/// Everything but the front end and the detector, which come with the trained network.
fn model_settings(
    arguments: &FitArguments,
    clip: ClipSettings,
    spectrogram: &SpectrogramFrontEnd,
) -> ModelSettings {
    let memory = &arguments.memory;
    let detector = BeamSettings::new(spectrogram.default_bands(), spectrogram.views().to_vec());
    ModelSettings {
        channel: arguments.front_end.channel.clone(),
        max_references: memory.max_references,
        storage: memory.storage,
        false_alarm_rate: memory.false_alarm_rate,
        confidence: memory.confidence,
        calibration: memory.calibration,
        ..ModelSettings::new(clip, spectrogram, detector)
    }
}

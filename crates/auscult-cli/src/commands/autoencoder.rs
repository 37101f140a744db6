//! `auscult fit --method autoencoder`: a network learns to reproduce normal recordings.

use std::sync::Arc;

use auscult_core::{BeamSettings, ClipSettings, FrontEnd, ModelSettings};
use auscult_training::Error;
use auscult_training::autoencoder::{
    AutoencoderModelSettings, SpectrogramFrontEnd, TrainingEvent, TrainingSettings, fit_model,
};

use super::{fit, gathering::Gathered};
use crate::{
    Outcome,
    args::{AutoencoderArguments, FitArguments},
    files, interrupt,
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
    let training = &autoencoder.training;
    let frames = references.axis_len() / training.form.bins();
    let steps = training.steps(references.len(), frames);
    if steps < TrainingSettings::FEWEST_USEFUL_STEPS {
        printer.note(format!(
            "{steps} training steps are few, and below {} scores say little; give more recordings, or \
             more --epochs than {}",
            TrainingSettings::FEWEST_USEFUL_STEPS,
            training.epochs
        ));
    }
    let bar = progress::bar(autoencoder.trainings() * autoencoder.training.epochs, "epochs");
    let model = fit_model(settings, &references, &autoencoder, &|event| {
        bar.inc(u64::from(matches!(event, TrainingEvent::Epoch(_))));
        !interrupt::is_asked()
    });
    bar.finish_and_clear();
    let model = model.map_err(|error| match error {
        Error::Stopped => fit::stopped(arguments),
        error => error.into(),
    });
    fit::finish(model?, (counts, quality), arguments, printer)
}

/// Options that say how to compare say nothing to a network.
fn refuse_unused(arguments: &FitArguments) -> anyhow::Result<()> {
    arguments.front_end.encoder.refuse_for("an autoencoder")?;
    let unused = [
        ("front_end", "--front-end"),
        ("convention", "--convention"),
        ("band_width", "--band-width"),
        ("band_stride", "--band-stride"),
        ("neighbours", "--neighbours"),
        ("density_exponent", "--density-exponent"),
        ("density_rule", "--density-rule"),
        ("metric", "--metric"),
        ("aggregate", "--aggregate"),
        ("fuse", "--fuse"),
        ("combine_members", "--combine-members"),
        ("settings", "--settings"),
    ];
    let typed = unused.iter().find(|(name, _)| arguments.typed.has(name));
    if let Some((_, option)) = typed {
        anyhow::bail!(
            "{option} says how references are compared, and an autoencoder compares nothing; \
             leave it out"
        );
    }
    Ok(())
}

/// Options of a network say nothing to what compares.
pub(super) fn refuse_without(arguments: &FitArguments) -> anyhow::Result<()> {
    let unused = [
        ("network", "--network"),
        ("error_score", "--error-score"),
        ("epochs", "--epochs"),
        ("seed", "--seed"),
        ("folds", "--folds"),
    ];
    match unused.iter().find(|(name, _)| arguments.typed.has(name)) {
        None => Ok(()),
        Some((_, option)) => anyhow::bail!(
            "{option} says how an autoencoder is trained; give --method autoencoder too, or leave it out"
        ),
    }
}

fn settings(arguments: &FitArguments) -> AutoencoderModelSettings {
    let AutoencoderArguments { network, error_score, epochs, seed } = arguments.autoencoder;
    let baseline = TrainingSettings::of(network);
    let epochs = epochs.unwrap_or(baseline.epochs);
    AutoencoderModelSettings {
        training: TrainingSettings { epochs, seed, ..baseline },
        score: error_score,
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

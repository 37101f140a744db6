//! A training run, by options.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use auscult::ClipSettings;
use auscult_finetune::{Adaptation, Compute, FinetuneSettings, MomentStorage, RunPlace};

use crate::{
    args::{DeviceName, TrainArguments},
    context::Context,
    printer::count,
};

/// Refuses a file, and a folder with recordings: a run's files are not for their company.
pub(crate) fn check_target(arguments: &TrainArguments) -> anyhow::Result<()> {
    let (out, name) = (&arguments.out, arguments.out.display());
    anyhow::ensure!(!out.is_file(), "{name} is a file; give a folder after --out");
    let is_data = arguments.data.iter().any(|root| {
        matches!((root.canonicalize(), out.canonicalize()), (Ok(root), Ok(out)) if root == out)
    });
    anyhow::ensure!(!is_data, "{name} is the data themselves; give another folder after --out");
    if let Some(recording) = recording_in(out, FOLDERS_DEEP) {
        anyhow::bail!(
            "{name} holds recordings ({}); give another folder after --out",
            recording.display()
        );
    }
    Ok(())
}

/// Layouts of data sets have recordings this many folders below a machine.
const FOLDERS_DEEP: usize = 2;

/// A recording in a folder, or in one at most `deep` folders below it.
fn recording_in(folder: &Path, deep: usize) -> Option<PathBuf> {
    folder.read_dir().ok()?.flatten().map(|entry| entry.path()).find_map(|path| {
        if auscult::audio::is_sound_file(&path) {
            Some(path)
        } else {
            deep.checked_sub(1).and_then(|deep| recording_in(&path, deep))
        }
    })
}

/// The recipe's warm-up is for its 10,000 steps.
fn warm_up(steps: usize) -> usize {
    FinetuneSettings::default().warm_up.min(steps / 10)
}

/// Every number of the recipe.
pub(crate) fn settings(arguments: &TrainArguments) -> anyhow::Result<FinetuneSettings> {
    let numbers = &arguments.numbers;
    let adaptation = match numbers.lora {
        None => Adaptation::Full,
        Some(rank) => Adaptation::Lora {
            rank,
            alpha: numbers.lora_alpha.unwrap_or(rank as f64),
            targets: numbers
                .lora_targets
                .iter()
                .map(|name| name.parse())
                .collect::<Result<_, auscult_finetune::Error>>()?,
        },
    };
    let &[first, second] = numbers.betas.as_slice() else {
        anyhow::bail!("--betas takes two numbers, got {:?}", numbers.betas)
    };
    Ok(FinetuneSettings {
        steps: numbers.steps,
        batch: numbers.batch,
        accumulation: numbers.accumulation,
        learning_rate: numbers.learning_rate,
        warm_up: numbers.warm_up.unwrap_or_else(|| warm_up(numbers.steps)),
        weight_decay: numbers.weight_decay,
        betas: [first, second],
        epsilon: numbers.epsilon,
        largest_gradient: numbers.largest_gradient,
        margin: numbers.margin,
        scale: numbers.scale,
        time_mask: numbers.time_mask,
        frequency_mask: numbers.frequency_mask,
        mask_share: numbers.mask_share,
        adaptation,
        moments: if numbers.half_moments { MomentStorage::Bf16 } else { MomentStorage::F32 },
        least_clips: numbers.least_clips,
        seed: numbers.seed,
        checkpoint_every: numbers.checkpoint_every,
    })
}

/// Where the run is kept, and what computes.
pub(crate) fn place(arguments: &TrainArguments) -> anyhow::Result<RunPlace> {
    let at_most = arguments.at_most_minutes.map(|minutes| {
        Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| {
            anyhow::anyhow!("--at-most-minutes must be at least 0, got {minutes} ({error})")
        })
    });
    Ok(RunPlace {
        folder: arguments.out.clone(),
        clip: ClipSettings { seconds: arguments.clip_seconds, ..ClipSettings::default() },
        at_most: at_most.transpose()?,
        compute: match arguments.device {
            DeviceName::Cpu => Compute::Cpu,
            DeviceName::Gpu => Compute::Gpu,
        },
    })
}

/// Says that the warm-up is shorter than the recipe's.
pub(crate) fn note_warm_up(
    settings: &FinetuneSettings,
    arguments: &TrainArguments,
    context: &Context,
) {
    let (warm_up, recipe) = (settings.warm_up, FinetuneSettings::default().warm_up);
    if arguments.numbers.warm_up.is_none() && warm_up != recipe {
        context.printer.note(format!(
            "warm-up of {}, a tenth of --steps instead of the recipe's {recipe}; --warm-up gives another",
            count(warm_up, "step")
        ));
    }
}

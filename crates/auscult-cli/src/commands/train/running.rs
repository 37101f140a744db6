//! A run from its options to what is told at the end.

use std::{
    ffi::OsStr,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use auscult_core::ClipSettings;
use auscult_finetune::{
    Adaptation, Compute, Error, FinetuneSettings, Finetuned, LabelledClips, MomentStorage,
    RunEvent, RunPlace, StepFacts, finetune,
};
use serde_json::json;

use super::clips::Labelled;
use crate::{
    Outcome,
    args::{DeviceName, TrainArguments},
    front_ends, interrupt,
    printer::{Printer, count},
    progress,
};

pub(in crate::commands) fn run(
    arguments: &TrainArguments,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    check_target(arguments)?;
    let seconds = arguments.clip_seconds;
    anyhow::ensure!(
        (1.0..=30.0).contains(&seconds),
        "--clip-seconds must be 1 to 30, for ced 1 to 10.08, got {seconds}"
    );
    let settings = settings(arguments)?;
    settings.check()?;
    tell_warm_up(&settings, arguments, printer);
    let clips = Labelled::open(arguments, printer)?;
    let checkpoint = front_ends::library().checkpoint(&arguments.front_end)?;
    let place = place(arguments)?;
    let hearing = progress::bar(clips.labels().len(), "clips heard");
    let mut steps = None;
    let done = finetune(&checkpoint, &clips, &settings, &place, &mut |event| {
        match event {
            RunEvent::Checked { clips, of } => {
                hearing.set_position(clips as u64);
                if clips == of {
                    hearing.finish_and_clear();
                }
            }
            RunEvent::Continued { step } => tell_continued(step, &settings, arguments, printer),
            RunEvent::Step(facts) => {
                let bar = steps.get_or_insert_with(|| progress::bar(settings.steps, "steps"));
                bar.set_position(facts.step as u64);
                let (loss, accuracy) = (facts.loss, 100.0 * facts.accuracy);
                bar.set_message(format!("loss {loss:.3}, {accuracy:.0} % right"));
            }
        }
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    hearing.finish_and_clear();
    if let Some(bar) = steps {
        bar.finish_and_clear();
    }
    match done {
        Ok(done) => tell(&done, &clips, arguments, printer),
        Err(Error::Clips { problems, of }) => Err(unusable(&problems, of, printer)),
        Err(error) => Err(error.into()),
    }
}

/// Problems that are told one by one.
const MOST_TOLD: usize = 10;

fn unusable(problems: &[(String, String)], of: usize, printer: &Printer) -> anyhow::Error {
    for (clip, reason) in problems.iter().take(MOST_TOLD) {
        printer.problem(format!("{clip}: {reason}"));
    }
    let more = match problems.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!(" (and {more} more like these)"),
    };
    anyhow::anyhow!(
        "{} of {of} clips cannot be trained on{more}; record them again, or take them out of the data; nothing \
         was trained",
        problems.len()
    )
}

/// Refuses a file, and a folder with recordings: a run's files are not for their company.
fn check_target(arguments: &TrainArguments) -> anyhow::Result<()> {
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

/// Layouts of data sets have recordings so many folders below a machine.
const FOLDERS_DEEP: usize = 2;

/// A recording in a folder or so many folders below it.
fn recording_in(folder: &Path, deep: usize) -> Option<PathBuf> {
    let is_sound = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        SOUND.iter().any(|known| known.eq_ignore_ascii_case(extension))
    };
    folder.read_dir().ok()?.flatten().map(|entry| entry.path()).find_map(|path| {
        if is_sound(&path) {
            Some(path)
        } else {
            deep.checked_sub(1).and_then(|deep| recording_in(&path, deep))
        }
    })
}

/// Files that hold recordings, by the end of their names.
const SOUND: [&str; 7] = ["wav", "flac", "ogg", "mp3", "aif", "aiff", "m4a"];

/// The recipe's warm-up is for its 10,000 steps.
fn warm_up(steps: usize) -> usize {
    FinetuneSettings::default().warm_up.min(steps / 10)
}

fn tell_warm_up(settings: &FinetuneSettings, arguments: &TrainArguments, printer: &Printer) {
    let (warm_up, recipe) = (settings.warm_up, FinetuneSettings::default().warm_up);
    if arguments.numbers.warm_up.is_none() && warm_up != recipe {
        printer.note(format!(
            "warm-up of {}, a tenth of --steps instead of the recipe's {recipe}; --warm-up gives another",
            count(warm_up, "step")
        ));
    }
}

fn tell_continued(
    step: usize,
    settings: &FinetuneSettings,
    arguments: &TrainArguments,
    printer: &Printer,
) {
    let out = arguments.out.display();
    if step >= settings.steps {
        printer.note(format!("{out}: the run is finished already, all {step} steps are done"));
    } else {
        let all = settings.steps;
        printer.note(format!("{out}: the run goes on after step {step} of {all}"));
    }
}

fn settings(arguments: &TrainArguments) -> anyhow::Result<FinetuneSettings> {
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

fn place(arguments: &TrainArguments) -> anyhow::Result<RunPlace> {
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

/// One step has few clips: the mean of some says how it stands.
const LAST_STEPS: usize = 50;

/// Steps, and their mean loss and accuracy.
fn last_steps(done: &Finetuned) -> Option<(usize, f64, f64)> {
    let last = &done.curve[done.curve.len().saturating_sub(LAST_STEPS)..];
    let count = last.len() as f64;
    let mean = |of: fn(&StepFacts) -> f64| last.iter().map(of).sum::<f64>() / count;
    (!last.is_empty()).then(|| (last.len(), mean(|it| it.loss), mean(|it| it.accuracy)))
}

fn tell(
    done: &Finetuned,
    clips: &Labelled,
    arguments: &TrainArguments,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let mut names = clips.labels().to_vec();
    names.sort();
    names.dedup();
    let last = last_steps(done);
    if arguments.json {
        let facts = json!({
            "encoder": done.encoder,
            "steps": done.curve.len(),
            "continued_from": done.continued_from,
            "complete": done.is_complete,
            "clips": clips.labels().len(),
            "classes": names.len(),
            "mean_of_last_steps": last.map(|(steps, ..)| steps),
            "loss": last.map(|(_, loss, _)| loss),
            "accuracy": last.map(|(.., accuracy)| accuracy),
        });
        printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        let (steps, classes) = (count(done.curve.len(), "step"), names.len());
        let clips = count(clips.labels().len(), "clip");
        printer.line(format!("trained    {steps} on {clips} of {classes} classes"))?;
        if let Some((steps, loss, accuracy)) = last {
            let (steps, accuracy) = (count(steps, "step"), 100.0 * accuracy);
            printer.line(format!(
                "at the end loss {loss:.4}, {accuracy:.1} % right, the mean of the last {steps}"
            ))?;
        }
        let (encoder, name) = (done.encoder.display(), &arguments.front_end);
        printer.line(format!("use it     --front-end {name} --encoder {encoder}"))?;
    }
    if !done.is_complete {
        printer.problem("stopped before all steps; the same command goes on from here");
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Done)
}

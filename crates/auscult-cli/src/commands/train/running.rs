//! A run from its options to what is printed at the end.

use std::ops::ControlFlow;

use auscult_finetune::{
    Error, FinetuneSettings, Finetuned, LabelledClips, RunEvent, StepFacts, finetune,
};
use serde_json::json;

use crate::{
    Outcome, args::TrainArguments, context::Context, options::training as options, printer::count,
    training::Labelled,
};

pub(in crate::commands) fn run(
    arguments: &TrainArguments,
    context: &Context,
) -> anyhow::Result<Outcome> {
    options::check_target(arguments)?;
    let seconds = arguments.clip_seconds;
    anyhow::ensure!(
        (1.0..=30.0).contains(&seconds),
        "--clip-seconds must be 1 to 30, for ced 1 to 10.08, got {seconds}"
    );
    let settings = options::settings(arguments)?;
    settings.check()?;
    options::note_warm_up(&settings, arguments, context);
    let clips = Labelled::open(arguments, context)?;
    let checkpoint = context.front_ends.encoders().checkpoint(&arguments.front_end)?;
    let place = options::place(arguments)?;
    let (printer, steps) = (&context.printer, settings.steps);
    printer.start_bar(clips.labels().len(), "clips checked", "");
    let done = finetune(&checkpoint, &clips, &settings, &place, &mut |event| {
        match event {
            RunEvent::Checked { clips, of } => {
                printer.move_bar(clips, String::new());
                if clips == of {
                    printer.start_bar(steps, "steps", "");
                }
            }
            RunEvent::Continued { step } => note_continued(step, &settings, arguments, context),
            RunEvent::Step(facts) => {
                let (loss, accuracy) = (facts.loss, 100.0 * facts.accuracy);
                printer.move_bar(facts.step, format!("loss {loss:.3}, {accuracy:.0} % right"));
            }
        }
        flow(context)
    });
    printer.end_bar();
    match done {
        Ok(done) => print(&done, &clips, arguments, context),
        Err(Error::Clips { problems, of }) => Err(unusable(&problems, of, context)),
        Err(error) => Err(error.into()),
    }
}

fn flow(context: &Context) -> ControlFlow<()> {
    context.control().flow()
}

/// Problems that are printed one by one.
const MOST_PRINTED: usize = 10;

fn unusable(problems: &[(String, String)], of: usize, context: &Context) -> anyhow::Error {
    for (clip, reason) in problems.iter().take(MOST_PRINTED) {
        context.printer.problem(format!("{clip}: {reason}"));
    }
    let more = match problems.len().saturating_sub(MOST_PRINTED) {
        0 => String::new(),
        more => format!(" (and {more} more like these)"),
    };
    anyhow::anyhow!(
        "{} of {of} clips cannot be trained on{more}; record them again, or take them out of the data; nothing \
         was trained",
        problems.len()
    )
}

fn note_continued(
    step: usize,
    settings: &FinetuneSettings,
    arguments: &TrainArguments,
    context: &Context,
) {
    let out = arguments.out.display();
    if step >= settings.steps {
        context
            .printer
            .note(format!("{out}: the run is finished already, all {step} steps are done"));
    } else {
        let all = settings.steps;
        context.printer.note(format!("{out}: the run goes on after step {step} of {all}"));
    }
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

fn print(
    done: &Finetuned,
    clips: &Labelled,
    arguments: &TrainArguments,
    context: &Context,
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
        context.printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        let (steps, classes) = (count(done.curve.len(), "step"), names.len());
        let clips = count(clips.labels().len(), "clip");
        context.printer.line(format!("trained    {steps} on {clips} of {classes} classes"))?;
        if let Some((steps, loss, accuracy)) = last {
            let (steps, accuracy) = (count(steps, "step"), 100.0 * accuracy);
            context.printer.line(format!(
                "at the end loss {loss:.4}, {accuracy:.1} % right, the mean of the last {steps}"
            ))?;
        }
        let (encoder, name) = (done.encoder.display(), &arguments.front_end);
        context.printer.line(format!("use it     --front-end {name} --encoder {encoder}"))?;
    }
    if !done.is_complete {
        context.printer.problem("stopped before all steps; the same command goes on from here");
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Done)
}

//! `auscult bench eval`: one system on one data set.

use std::{path::Path, sync::Arc};

use anyhow::Context as _;
use auscult_eval::{
    metrics::{Domain, Label},
    protocol::Protocol,
    run::{
        FrontEndName, RunFacts, RunResults, RunSettings, SectionResult, evaluate,
        too_many_neighbours,
    },
    systems::{BackEnd, SystemSettings, several_front_ends},
};
use serde_json::json;

use super::opening;
use crate::{
    Outcome, args::EvalArguments, context::Context, options::evaluation as options,
    tables::evaluation,
};

/// Draws for the interval of the headline score.
const SAMPLES: usize = 1000;

pub(super) fn run(arguments: &EvalArguments, context: &Context) -> anyhow::Result<Outcome> {
    if let Some(path) = &arguments.scores {
        auscult::files::check_target(path)?;
        auscult::check_result_target(path, &arguments.data.data)?;
    }
    let context = &context.keeping(&arguments.data.keeping)?;
    options::refuse_unused(arguments, context)?;
    let (data, judging) = (&arguments.data, options::judging(arguments));
    let open = || opening::open(arguments.dataset, &data.data, data, &[], judging, context);
    let is_early = options::wants_native_rate(arguments) || arguments.features_from.is_some();
    let early = is_early.then(&open).transpose()?;
    let arguments = &match &early {
        Some(dataset) if options::wants_native_rate(arguments) => {
            options::at_native_rate(arguments, dataset)?
        }
        _ => arguments.clone(),
    };
    let (spec, short_clips) = options::spec(arguments)?;
    let (table, datasets) = (arguments.features_from.as_deref(), early.as_slice());
    let (clip, channel) = (arguments.front_end.clip(), arguments.front_end.channel());
    let width = arguments.comparing.others.band_width;
    let front_end = match opening::own(table, width, datasets, clip, channel)? {
        Some(own) => Arc::new(own),
        None => options::front_end(arguments, &spec, context)?,
    };
    let system = options::system(arguments, &spec, &*front_end, context)?;
    let compares = matches!(system.back_end, BackEnd::Nearest | BackEnd::GenRep);
    if !compares && !front_end.members().is_empty() {
        return Err(several_front_ends(&system.front_end).into());
    }
    let dataset = early.map_or_else(open, Ok)?;
    options::warn_of_few_steps(arguments, &dataset, &*front_end, context);
    let few_neighbours = too_many_neighbours(&dataset, std::slice::from_ref(&system));
    let notes: Vec<String> = short_clips.into_iter().chain(few_neighbours).collect();
    for note in &notes {
        context.printer.note(note);
    }
    let control = context.control();
    let maker = |_: &FrontEndName, _| Ok(Arc::clone(&front_end));
    let settings = RunSettings { clip, channel, out: None, front_ends: &maker, control: &control };
    let found = evaluate(&dataset, std::slice::from_ref(&system), &[], &settings)?;
    context.printer.end_bar();
    let sections = found.context("stopped before the end; nothing was judged")?.sections;
    anyhow::ensure!(
        !sections.is_empty(),
        "no section has test clips; auscult data check says what is there"
    );
    let results = gather(arguments, &system, &sections);
    if let Some(path) = &arguments.scores {
        write_scores(path, &sections)?;
    }
    if arguments.json {
        let mut value =
            evaluation::as_json(arguments, &dataset, &system, &front_end, &sections, &results);
        let remarks: Vec<String> = dataset.remarks().into_iter().chain(notes).collect();
        value["remarks"] = json!(remarks);
        context.printer.line(serde_json::to_string_pretty(&value)?)?;
    } else {
        context.printer.text(&evaluation::describe(&results, judging))?;
    }
    for problem in &results.problems {
        context.printer.problem(problem);
    }
    for problem in results.rows.iter().filter_map(|row| row.problem.as_ref()) {
        context.printer.problem(problem);
    }
    let untested = opening::untested(&dataset);
    if let Some(problem) = &untested {
        context.printer.problem(problem);
    }
    let complete = results.problems.is_empty()
        && untested.is_none()
        && results.rows.iter().all(|row| row.problem.is_none());
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

fn gather(
    arguments: &EvalArguments,
    system: &SystemSettings,
    sections: &[SectionResult],
) -> RunResults {
    let clip = arguments.front_end.clip();
    let protocol = Protocol {
        name: "eval".to_owned(),
        title: String::new(),
        paper: String::new(),
        about: String::new(),
        datasets: vec![arguments.dataset],
        sets: Vec::new(),
        clip_seconds: clip.seconds,
        sample_rate: clip.sample_rate,
        channel: arguments.front_end.channel().to_string(),
        systems: vec![system.clone()],
        sweep: None,
        diagnostics: Vec::new(),
        fine_tuning: None,
        cited: Vec::new(),
        counts: Vec::new(),
        windows: Vec::new(),
    };
    RunResults::new(protocol, RunFacts::default(), sections, SAMPLES)
}

/// Scores in the form `auscult metrics` reads.
fn write_scores(path: &Path, sections: &[SectionResult]) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["path", "label", "score", "domain", "machine", "section", "set"])?;
    for section in sections {
        let scores = section.systems.iter().flat_map(|found| &found.scores);
        for (clip, score) in section.clips.iter().zip(scores) {
            writer.write_record([
                clip.name.as_str(),
                clip.label.map_or("", Label::name),
                &score.to_string(),
                clip.domain.map_or("", Domain::name),
                &section.machine,
                &section.section,
                &section.set,
            ])?;
        }
    }
    Ok(auscult::files::write_atomically(path, &writer.into_inner()?)?)
}

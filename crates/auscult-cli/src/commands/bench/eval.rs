//! `auscult bench eval`: one system on one data set.

use std::{collections::BTreeMap, fmt::Write, path::Path, sync::Arc};

use anyhow::Context;
use auscult_autoencoder::SpectrogramFrontEnd;
use auscult_core::{BeamSettings, ClipSettings, FrontEnd, baselines::genrep::Standardisation};
use auscult_eval::{
    datasets::Dataset,
    metrics::{
        Domain, Figures, Label, OfficialScores, ScoreSet, SectionFigures, arithmetic_mean,
        mean_over_sections,
    },
    protocol::Protocol,
    run::{
        FrontEndName, ResultRow, RunFacts, RunResults, RunSettings, SectionResult, evaluate,
        too_many_neighbours,
    },
    systems::{BackEnd, SystemSettings, several_front_ends},
};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::opening::{self, Bars};
use crate::{
    Outcome,
    args::{AutoencoderArguments, BackEndName, EvalArguments, FrontEndArguments},
    commands::{autoencoder as network, fit, metrics, unused},
    files,
    printer::{Printer, count},
    reading,
};

/// The one system's name.
const SYSTEM: &str = "system";

/// Draws for the interval of the headline score.
const SAMPLES: usize = 1000;

pub(super) fn run(arguments: &EvalArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    if let Some(path) = &arguments.scores {
        files::check_result_target(path, &arguments.data.data)?;
    }
    refuse_unused(arguments)?;
    let (clip, front_end) = front_end(arguments)?;
    let system = system(arguments, &*front_end)?;
    let compares = matches!(system.back_end, BackEnd::Nearest | BackEnd::GenRep);
    if !compares && !front_end.members().is_empty() {
        return Err(several_front_ends(&system.front_end).into());
    }
    let channel = reading::channel(&arguments.front_end.channel)?;
    let dataset =
        opening::open(arguments.dataset, &arguments.data.data, &arguments.data, &[], printer)?;
    warn_of_few_steps(arguments, &dataset, &*front_end, printer);
    let few_neighbours = too_many_neighbours(&dataset, std::slice::from_ref(&system));
    if let Some(note) = &few_neighbours {
        printer.note(note);
    }
    let cache = opening::cache(&arguments.data);
    let bars = Bars::default();
    let maker = |_: &FrontEndName, _| Ok(Arc::clone(&front_end));
    let settings = RunSettings {
        clip,
        channel,
        cache: cache.as_deref(),
        out: None,
        front_ends: &maker,
        progress: &bars,
    };
    let found = evaluate(&dataset, std::slice::from_ref(&system), &[], &settings)?;
    bars.finish();
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
        let mut value = as_json(arguments, &dataset, &system, &front_end, &sections, &results);
        let remarks: Vec<String> = dataset.remarks().into_iter().chain(few_neighbours).collect();
        value["remarks"] = json!(remarks);
        printer.line(serde_json::to_string_pretty(&value)?)?;
    } else {
        printer.text(&words(&results))?;
    }
    for problem in &results.problems {
        printer.problem(problem);
    }
    for problem in results.rows.iter().filter_map(|row| row.problem.as_ref()) {
        printer.problem(problem);
    }
    let untested = opening::untested(&dataset);
    if let Some(problem) = &untested {
        printer.problem(problem);
    }
    let complete = results.problems.is_empty()
        && untested.is_none()
        && results.rows.iter().all(|row| row.problem.is_none());
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Options that the back end does not look at.
fn refuse_unused(arguments: &EvalArguments) -> anyhow::Result<()> {
    let (typed, back_end) = (&arguments.typed, arguments.back_end);
    if back_end == BackEndName::Autoencoder {
        return network::refuse_comparing(typed, &arguments.front_end, unused::METHOD);
    }
    network::refuse_without(typed, "--back-end autoencoder")?;
    if back_end.compares() {
        return Ok(());
    }
    let name = back_end.to_possible_value().map(|value| value.get_name().to_owned());
    let why = format!(
        "says how references are compared, and --back-end {} compares with none; leave it out, or choose \
         --back-end nearest",
        name.unwrap_or_default()
    );
    unused::refuse(typed, &[unused::METHOD, unused::COMPARING], &why)
}

fn front_end(arguments: &EvalArguments) -> anyhow::Result<(ClipSettings, Arc<dyn FrontEnd>)> {
    if arguments.back_end != BackEndName::Autoencoder {
        return fit::front_end(&arguments.front_end);
    }
    let FrontEndArguments { sample_rate, clip_seconds, .. } = arguments.front_end;
    let clip = ClipSettings { sample_rate, seconds: clip_seconds };
    let form = arguments.autoencoder.network;
    Ok((clip, Arc::new(SpectrogramFrontEnd::new(form, clip.check()?)?)))
}

/// A network of a section is trained on the section's clips alone.
fn warn_of_few_steps(
    arguments: &EvalArguments,
    dataset: &Dataset,
    front_end: &dyn FrontEnd,
    printer: &Printer,
) {
    if arguments.back_end != BackEndName::Autoencoder {
        return;
    }
    let training = network::training(&arguments.autoencoder);
    let frames = front_end.axis().len() / training.form.bins();
    let mut groups = dataset.groups();
    groups.retain(|group| {
        let steps = training.steps(group.train.len(), frames);
        !group.test.is_empty() && network::few_steps(&training, steps).is_some()
    });
    let Some(least) = groups.iter().min_by_key(|group| group.train.len()) else { return };
    let steps = training.steps(least.train.len(), frames);
    if let Some(note) = network::few_steps(&training, steps) {
        let where_else = match groups.len() - 1 {
            0 => String::new(),
            others => format!(" (and few in {})", count(others, "other section")),
        };
        printer.note(format!("{}{where_else}: {note}", least.name()));
    }
}

fn system(arguments: &EvalArguments, front_end: &dyn FrontEnd) -> anyhow::Result<SystemSettings> {
    let name = &arguments.front_end.front_end;
    let detector = || -> anyhow::Result<BeamSettings> {
        let detector = fit::detector_settings(&arguments.comparing, name, front_end)?;
        detector.clone().check(front_end.axis().len())?;
        Ok(detector)
    };
    Ok(SystemSettings {
        name: SYSTEM.to_owned(),
        back_end: match arguments.back_end {
            BackEndName::Nearest => BackEnd::Nearest,
            BackEndName::Genrep => BackEnd::GenRep,
            BackEndName::Mahalanobis => BackEnd::Mahalanobis,
            BackEndName::PcaResidual => BackEnd::PcaResidual,
            BackEndName::Gmm => BackEnd::Mixture,
            BackEndName::KMeans => BackEnd::KMeans,
            BackEndName::Autoencoder => return Ok(autoencoder(arguments)),
        },
        front_end: name.clone(),
        convention: arguments.front_end.convention.clone(),
        detector: arguments.back_end.compares().then(detector).transpose()?,
        standardisation: Standardisation::LeftOut,
        ..SystemSettings::default()
    })
}

fn autoencoder(arguments: &EvalArguments) -> SystemSettings {
    let AutoencoderArguments { network, error_score, epochs, seed } = arguments.autoencoder;
    SystemSettings {
        name: SYSTEM.to_owned(),
        back_end: BackEnd::Autoencoder,
        front_end: SpectrogramFrontEnd::NAME.to_owned(),
        convention: Some(network.name().to_owned()),
        error_score,
        epochs,
        seed: Some(seed),
        ..SystemSettings::default()
    }
}

fn gather(
    arguments: &EvalArguments,
    system: &SystemSettings,
    sections: &[SectionResult],
) -> RunResults {
    let protocol = Protocol {
        name: "eval".to_owned(),
        title: String::new(),
        paper: String::new(),
        about: String::new(),
        datasets: vec![arguments.dataset],
        sets: Vec::new(),
        clip_seconds: arguments.front_end.clip_seconds,
        sample_rate: arguments.front_end.sample_rate,
        channel: arguments.front_end.channel.clone(),
        systems: vec![system.clone()],
        sweep: None,
        diagnostics: Vec::new(),
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
    Ok(auscult_files::write_atomically(path, &writer.into_inner()?)?)
}

fn words(results: &RunResults) -> String {
    let mut text = String::new();
    for row in &results.rows {
        let set = if row.set.is_empty() { String::new() } else { format!(" {}", row.set) };
        let _ = write!(text, "{}{set}\n\n", row.dataset);
        text += &metrics::section_table(&row.sections).render();
        text += "\n";
        let Some(score) = row.score else { continue };
        let score = metrics::percent(Some(score));
        let interval = row.interval.map_or_else(String::new, |interval| {
            let (low, high) =
                (metrics::percent(Some(interval.low)), metrics::percent(Some(interval.high)));
            format!(" (95 %: {low} to {high})")
        });
        let _ = writeln!(text, "{}: {score} %{interval}", row.measure);
        if let Some(partial) = &row.partial {
            let _ = writeln!(text, "{partial}");
        }
        text += "\n";
        text += &metrics::official_table(&row.official_scores).render();
        text += "\n";
    }
    text
}

fn as_json(
    arguments: &EvalArguments,
    dataset: &Dataset,
    system: &SystemSettings,
    front_end: &Arc<dyn FrontEnd>,
    sections: &[SectionResult],
    results: &RunResults,
) -> Value {
    let sets: Vec<ScoreSet> = sections.iter().map(|section| section.scores_of(SYSTEM)).collect();
    let sets: Vec<&ScoreSet> = sets.iter().collect();
    let figures: Vec<SectionFigures> =
        results.rows.iter().flat_map(|row| row.sections.iter().cloned()).collect();
    let over_all = OfficialScores::of(&figures, &sets);
    let only = match results.rows.as_slice() {
        [row] => row.score,
        _ => None,
    };
    let overall: Vec<Value> = results.rows.iter().map(overall).collect();
    json!({
        "dataset": dataset.kind,
        "fingerprint": dataset.fingerprint(),
        "front_end": front_end.identity(),
        "back_end": system.back_end,
        "detector": system.detector,
        "clip_seconds": arguments.front_end.clip_seconds,
        "channel": arguments.front_end.channel,
        "official_score": only.or_else(|| headline_over_all(results, &over_all)),
        "mean_over_sections": mean_over_sections(&figures),
        "auc": mean(&figures, |found| found.auc),
        "pauc": mean(&figures, |found| found.pauc),
        "auc_source": mean(&figures, |found| found.auc_source),
        "auc_target": mean(&figures, |found| found.auc_target),
        "measure": results.rows.first().map(|row| row.measure),
        "overall": overall,
        "official_scores_over_all": over_all,
        "machines": machines(results, sections),
        "problems": results.problems,
    })
}

/// The mean over sections; `None` if one has no such figure.
fn mean(sections: &[SectionFigures], figure: fn(&Figures) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = sections.iter().map(|found| figure(&found.figures)).collect();
    arithmetic_mean(values?)
}

/// The headline's convention over all parts.
fn headline_over_all(results: &RunResults, scores: &OfficialScores) -> Option<f64> {
    let first = results.rows.first()?;
    let is = |of: fn(&OfficialScores) -> Option<f64>| {
        first.score.is_some() && first.score == of(&first.official_scores)
    };
    let conventions: [fn(&OfficialScores) -> Option<f64>; 3] =
        [|scores| scores.dcase2022, |scores| scores.dcase2021, |scores| scores.dcase2020];
    conventions.into_iter().find(|of| is(*of)).and_then(|of| of(scores))
}

fn overall(row: &ResultRow) -> Value {
    json!({
        "set": row.set,
        "measure": row.measure,
        "official_score": row.score,
        "interval": row.interval,
        "partial": row.partial,
        "official_scores": row.official_scores,
        "problem": row.problem,
    })
}

fn machines(results: &RunResults, sections: &[SectionResult]) -> Vec<Value> {
    let trained: BTreeMap<(&str, &str, &str), usize> = sections
        .iter()
        .map(|section| ((&*section.set, &*section.machine, &*section.section), section.train))
        .collect();
    let rows =
        results.rows.iter().flat_map(|row| row.sections.iter().map(move |found| (row, found)));
    rows.map(|(row, found)| {
        let mut value = serde_json::to_value(found).unwrap_or_default();
        let train = trained.get(&(&*row.set, &*found.machine, &*found.section)).copied();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("set".to_owned(), json!(row.set));
            fields.insert("train".to_owned(), json!(train));
        }
        value
    })
    .collect()
}

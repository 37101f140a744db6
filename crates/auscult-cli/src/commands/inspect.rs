//! `auscult inspect`: what a model holds.

use std::collections::BTreeMap;

use auscult_core::{FrontEnd, Model, ScoreOf, alarm::AlarmSettings};
use serde_json::{Value, json};

use super::summary::{promise_words, shortcoming};
use crate::{
    Outcome,
    args::InspectArguments,
    files, front_ends,
    printer::{Printer, count, strong},
    table::{Align, Table},
};

pub(crate) fn run(arguments: &InspectArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let model = files::load(&arguments.model)?;
    let front_end = front_ends::of_model(&model)?;
    if arguments.json {
        let facts = facts(&model, &*front_end, arguments.references);
        printer.line(serde_json::to_string_pretty(&facts)?)?;
    } else {
        printer.text(&describe(&model, &*front_end))?;
        if arguments.references {
            printer.text(&format!("\n{}", references(&model)))?;
        }
    }
    Ok(Outcome::Done)
}

/// Number of references of each visit; those of none under "".
fn visits(model: &Model) -> BTreeMap<&str, usize> {
    let mut visits = BTreeMap::new();
    for from in model.references().provenance() {
        *visits.entry(from.visit.as_deref().unwrap_or("")).or_default() += 1;
    }
    visits
}

fn facts(model: &Model, front_end: &dyn FrontEnd, references: bool) -> Value {
    let beam = model.detector().beam();
    let bands: Vec<Value> = beam
        .layout()
        .bands()
        .iter()
        .enumerate()
        .map(|(band, positions)| {
            let views: BTreeMap<String, Value> = beam
                .settings()
                .views
                .iter()
                .map(|&view| {
                    let facts = json!({
                        "typical_score": model.detector().typical_band_score(view, band),
                        "density_exponent": model.detector().band_exponent(view, band),
                    });
                    (view.to_string(), facts)
                })
                .collect();
            json!({ "positions": positions, "hertz": front_end.axis().hertz(positions.clone()), "views": views })
        })
        .collect();
    let calibration = model.calibration();
    let mut facts = json!({
        "model_file_version": model.file_version(),
        "settings": model.settings(),
        "axis": { "length": front_end.axis().len(), "meaning": front_end.axis().meaning() },
        "bands": bands,
        "references": model.references().len(),
        "visits": visits(model),
        "calibration": {
            "basis": calibration.basis(),
            "clips": calibration.scores().len(),
            "effective_clips": calibration.effective_count(),
            "threshold": model.threshold(),
            "promised": model.standing().is_promised(),
        },
    });
    if references {
        facts["reference_list"] = json!(model.references().provenance());
    }
    facts
}

fn describe(model: &Model, front_end: &dyn FrontEnd) -> String {
    let settings = model.settings();
    let detector = &settings.detector;
    let views: Vec<&str> = detector.views.iter().map(|view| view.name()).collect();
    let visits = visits(model);
    let list: Vec<String> = visits
        .iter()
        .map(|(visit, count)| {
            let visit = if visit.is_empty() { "(no visit)" } else { visit };
            format!("{visit}: {count}")
        })
        .collect();
    let threshold = match model.threshold() {
        Some(threshold) if model.standing().is_promised() => format!("{threshold:.4}"),
        Some(threshold) => format!("{threshold:.4}, provisional"),
        None => "none yet".to_owned(),
    };
    let rows = [
        (
            "clips",
            format!(
                "{} s at {} Hz, channel {}",
                settings.clip.seconds, settings.clip.sample_rate, settings.channel
            ),
        ),
        ("front end", format!("{}, {} positions", settings.front_end, front_end.axis().len())),
        ("views", views.join(" and ")),
        (
            "distance",
            match detector.score_of {
                ScoreOf::Value => "none: the values of a band are its score".to_owned(),
                _ => format!(
                    "{}, {}, density exponent {}, {}",
                    detector.metric,
                    count(detector.neighbours, "neighbour"),
                    detector.exponent,
                    detector.rule
                ),
            },
        ),
        (
            "combined by",
            format!("{} over bands, {} over views", detector.aggregation, detector.fusion),
        ),
        (
            "references",
            format!(
                "{}{}",
                model.references().len(),
                settings
                    .max_references
                    .map(|most| format!(" (at most {most})"))
                    .unwrap_or_default()
            ),
        ),
        ("visits", list.join(", ")),
        (
            "calibration",
            format!(
                "{} left-out scores, leaving out {}, worth {:.0} independent ones",
                model.calibration().scores().len(),
                model.calibration().basis(),
                model.calibration().effective_count().floor()
            ),
        ),
        ("threshold", format!("{threshold} (for at most {} false alarms)", promise_words(model))),
        ("promise", promise(model)),
        ("alarm", alarm(settings.alarm)),
    ];
    let line = |(name, value): &(&str, String)| {
        format!("{}{}{value}\n", strong(name), " ".repeat(13 - name.len()))
    };
    format!("{}\n{}", rows.iter().map(line).collect::<Vec<_>>().concat(), bands(model, front_end))
}

fn promise(model: &Model) -> String {
    let standing = model.standing();
    let kept = || {
        let condition = standing.condition(model.calibration().basis());
        format!("kept {}", condition.unwrap_or_else(|| "for clips of new visits".to_owned()))
    };
    shortcoming(standing).unwrap_or_else(kept)
}

fn alarm(settings: Option<AlarmSettings>) -> String {
    settings.map_or_else(
        || "no rule; auscult calibrate --at-most chooses one".to_owned(),
        |alarm| {
            let AlarmSettings { raise, window, clear, hop_seconds, .. } = alarm;
            let pace = hop_seconds.map(|hop| format!("; chosen for a clip every {hop} s"));
            let pace = pace.unwrap_or_default();
            format!(
                "{raise} of {window} clips raise it, {clear} normal ones in a row clear it{pace}"
            )
        },
    )
}

fn bands(model: &Model, front_end: &dyn FrontEnd) -> String {
    let beam = model.detector().beam();
    let mut table = Table::new(&[
        ("band", Align::Right),
        ("positions", Align::Left),
        ("hertz", Align::Left),
        ("view", Align::Left),
        ("normal score", Align::Right),
        ("exponent", Align::Right),
    ]);
    for (band, positions) in beam.layout().bands().iter().enumerate() {
        let hertz = front_end.axis().hertz(positions.clone());
        let hertz = hertz.map(|hertz| format!("{:.0}-{:.0}", hertz.start, hertz.end));
        for &view in &beam.settings().views {
            let number =
                |value: Option<f64>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
            table.row([
                band.to_string(),
                format!("{}-{}", positions.start, positions.end - 1),
                hertz.clone().unwrap_or_else(|| "-".to_owned()),
                view.to_string(),
                number(model.detector().typical_band_score(view, band)),
                number(model.detector().band_exponent(view, band)),
            ]);
        }
    }
    table.render()
}

fn references(model: &Model) -> String {
    let mut table = Table::new(&[
        ("index", Align::Right),
        ("source", Align::Left),
        ("start", Align::Right),
        ("visit", Align::Left),
        ("domain", Align::Left),
        ("left-out score", Align::Right),
    ]);
    let scores = model.detector().left_out_scores();
    for (index, (from, score)) in model.references().provenance().iter().zip(scores).enumerate() {
        table.row([
            index.to_string(),
            from.source.clone(),
            format!("{:.1}", from.start_seconds),
            from.visit.clone().unwrap_or_default(),
            from.domain.clone().unwrap_or_default(),
            score.map(|score| format!("{score:.4}")).unwrap_or_default(),
        ]);
    }
    table.render()
}

//! What `fit` works with: the settings file, and above it what was typed.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use auscult::tuning::TunedSettings;
use auscult_core::{BeamSettings, ClipSettings, FrontEnd};

use super::fit;
use crate::{args::FitArguments, front_ends};

/// Everything that decides what a model's numbers are.
pub(super) struct Chosen {
    pub(super) clip: ClipSettings,
    pub(super) channel: String,
    pub(super) front_end: Arc<dyn FrontEnd>,
    pub(super) detector: BeamSettings,
}

/// What the command line asks for, with `--settings` below it.
pub(super) fn chosen(arguments: &FitArguments) -> anyhow::Result<Chosen> {
    if let Some(path) = &arguments.settings {
        return over_file(load(path)?, arguments).with_context(|| path.display().to_string());
    }
    let (clip, front_end) = fit::front_end(&arguments.front_end)?;
    let name = &arguments.front_end.front_end;
    let detector = fit::detector_settings(&arguments.comparing, name, &*front_end)?;
    Ok(Chosen { clip, channel: arguments.front_end.channel.clone(), front_end, detector })
}

/// A settings file is a page of text.
const LARGEST_BYTES: u64 = 1 << 20;

fn load(path: &Path) -> anyhow::Result<TunedSettings> {
    use std::io::Read;

    let name = path.display();
    let advice = "settings files are written by auscult tune";
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_BYTES).read_to_string(&mut text))
        .with_context(|| format!("cannot read settings from {name}; {advice}"))?;
    TunedSettings::from_json(&text, &front_ends::library().front_ends())
        .with_context(|| format!("{name} holds no settings; {advice}"))
}

/// The file's settings with what was typed in their place.
fn over_file(file: TunedSettings, arguments: &FitArguments) -> anyhow::Result<Chosen> {
    let (typed, asked) = (&arguments.typed, &arguments.front_end);
    let mut clip = file.clip;
    if typed.has("clip_seconds") {
        clip.seconds = asked.clip_seconds;
    }
    if typed.has("sample_rate") {
        clip.sample_rate = asked.sample_rate;
    }
    if !typed.has("front_end") {
        let name = &file.front_end.name;
        front_ends::refuse_unused_file(name, name, front_ends::NAME_AN_ENCODER)?;
    }
    let front_end = match (typed.has("front_end"), &asked.convention) {
        (false, None) => {
            asked.encoder.refuse_over_file(&file.front_end.to_string())?;
            file.front_end(&front_ends::library().front_ends(), clip.check()?)?
        }
        (false, convention) => front_ends::named(
            &file.front_end.name,
            convention.as_deref(),
            &asked.encoder,
            clip.check()?,
        )?,
        (true, _) => front_ends::asked_for(asked, clip.check()?)?,
    };
    let detector = detector_over_file(&file.detector, arguments, &*front_end)?;
    let channel = if typed.has("channel") { asked.channel.clone() } else { file.channel };
    Ok(Chosen { clip, channel, front_end, detector })
}

fn detector_over_file(
    file: &BeamSettings,
    arguments: &FitArguments,
    front_end: &dyn FrontEnd,
) -> anyhow::Result<BeamSettings> {
    let (typed, comparing) = (&arguments.typed, &arguments.comparing);
    // Another front end has another axis: the file's bands and views say nothing about it.
    let starts_over = typed.any(&["front_end", "method"]);
    let asked = if starts_over || typed.has("fuse") {
        fit::detector_settings(comparing, &front_end.identity().name, front_end)?
    } else {
        file.clone()
    };
    let bands = if starts_over { asked.bands } else { fit::bands(comparing, file.bands)? };
    let or = |name: &str| typed.has(name);
    Ok(BeamSettings {
        bands,
        views: asked.views,
        metric: if or("metric") { comparing.metric } else { file.metric },
        neighbours: if or("neighbours") { comparing.neighbours } else { file.neighbours },
        exponent: if or("density_exponent") { comparing.density_exponent } else { file.exponent },
        rule: if or("density_rule") { comparing.density_rule } else { file.rule },
        aggregation: if or("aggregate") { comparing.aggregate } else { file.aggregation },
        fusion: comparing.fuse.unwrap_or(file.fusion),
        score_of: file.score_of,
        ensemble: asked.ensemble,
    })
}

//! `auscult tune`: normal recordings in, settings out.

use std::path::{Path, PathBuf};

use auscult::{
    Basis, ClipSettings, Error, FrontEndSpec, Preset, Sources,
    tuning::{Resumption, Search, StateFile, Tune, TuneBudget, TunedSettings},
};
use serde_json::json;

use crate::{
    Outcome,
    args::{Budget, TuneArguments},
    context::Context,
    options::{front_end::rules, learning, settings_file},
    printer::count,
    tables::ranking,
};

pub(crate) fn run(arguments: &TuneArguments, context: &Context) -> anyhow::Result<Outcome> {
    let printer = &context.printer;
    settings_file::check_target(&arguments.output)?;
    let context = &context.keeping(&arguments.keeping)?;
    let clip = learning::clip_to_tune(arguments, context)?;
    let search = search(arguments, clip, context)?;
    warn(&search, context);
    let mut state = open_state(&arguments.output, &search, context)?;
    let ranking = search.run(&mut state).map_err(|error| match error {
        Error::Cancelled => anyhow::anyhow!("stopped before any settings were tried; run it again"),
        error => error.into(),
    })?;
    let Some(chosen) = ranking.recommended() else {
        anyhow::bail!("stopped before any settings were tried; run it again");
    };
    let is_finished = !context.cancel.is_cancelled();
    if is_finished {
        let (candidate, channel) = (&chosen.evaluation.candidate, arguments.channel.to_string());
        let settings = TunedSettings::new(candidate, clip, channel);
        auscult::files::write_atomically(&arguments.output, settings.to_json()?.as_bytes())?;
    }
    let all = search.candidates().len();
    if arguments.json {
        let groups = search.study().groups();
        let whole = json!({
            "clips": groups.members().len(),
            "left_out": groups.basis().name(),
            "groups": groups.count(),
            "folds": search.study().folds(),
            "seed": arguments.seed,
            "settings_in_all": all,
            "settings_tried": ranking.candidates.len(),
            "chosen": chosen,
            "ranking": ranking.candidates,
        });
        printer.line(serde_json::to_string_pretty(&whole)?)?;
    } else {
        let written = is_finished.then_some(&*arguments.output);
        printer.text(&ranking::describe(&ranking, search.candidates(), written))?;
    }
    if !is_finished {
        printer.problem(format!(
            "stopped: no settings were written; run it again to go on ({} tried so far)",
            count(state.tried(), "setting")
        ));
    }
    let is_complete = is_finished && search.skipped() == 0;
    Ok(if is_complete { Outcome::Done } else { Outcome::Incomplete })
}

fn search(
    arguments: &TuneArguments,
    clip: ClipSettings,
    context: &Context,
) -> anyhow::Result<Search> {
    let encoder = |name: &String| match name.split_once(':') {
        Some((name, convention)) => {
            FrontEndSpec { convention: Some(convention.to_owned()), ..FrontEndSpec::of(name) }
        }
        None => FrontEndSpec::of(name),
    };
    let normal = learning::sources(&arguments.input, &arguments.visits)?;
    let tune = Tune {
        clip,
        channel: arguments.channel,
        hop_seconds: arguments.input.hop_seconds,
        rules: rules(arguments.input.clips),
        label_folders: learning::label_folders(&arguments.visits, &normal, context),
        presets: match arguments.preset.as_slice() {
            [] => Preset::ALL.to_vec(),
            given => given.to_vec(),
        },
        encoders: arguments.front_end.iter().flat_map(|names| &names.0).map(encoder).collect(),
        front_ends: context.front_ends.clone(),
        max_clips: arguments.max_clips.into(),
        seed: arguments.seed,
        budget: arguments.budget.map(|budget| match budget {
            Budget::Time(most) => TuneBudget::Time(most),
            Budget::Candidates(most) => TuneBudget::Candidates(most),
        }),
        control: context.control(),
    };
    let outliers = match arguments.outliers.as_slice() {
        [] => None,
        paths => Some(Sources::of(paths)?),
    };
    Search::new(normal, outliers, &tune).map_err(|error| match error {
        Error::Cancelled => {
            anyhow::anyhow!("stopped before all sound was read; nothing was tried")
        }
        error => error.into(),
    })
}

/// Warns about what the ranking cannot be trusted for.
fn warn(search: &Search, context: &Context) {
    let groups = search.study().groups();
    if groups.basis() != Basis::Visits {
        context.printer.note(format!(
            "the recordings name fewer than two visits: {} are left out instead, which makes every candidate look \
             better than it is on another day",
            groups.basis()
        ));
    }
    if groups.count() < 4 {
        context.printer.note(format!(
            "only {} to leave out: errors are large and a preset will mostly stay; record on more days",
            count(groups.count(), "group")
        ));
    }
}

/// Opens the results beside the settings file.
fn open_state(output: &Path, search: &Search, context: &Context) -> anyhow::Result<StateFile> {
    let mut path = output.as_os_str().to_owned();
    path.push(".state.json");
    let path = PathBuf::from(path);
    let state = StateFile::open(&path, search)?;
    let (printer, name) = (&context.printer, path.display());
    match state.resumption() {
        Resumption::New => {}
        Resumption::Continued => {
            let tried = count(state.tried(), "setting");
            printer.note(format!("continuing: {tried} tried already ({name})"));
        }
        Resumption::Replaced => printer.note(format!(
            "starting over: {name} is from other clips, another seed or another version"
        )),
    }
    Ok(state)
}

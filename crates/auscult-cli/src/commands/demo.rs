//! `auscult demo`: the whole story on a synthetic machine, with the commands it is made of.

use std::path::Path;

use anyhow::Context;
use auscult_testing::{Layout, Machine, PerDomain, TreeRecipe};
use clap::Parser;

use super::{
    fit,
    report::Report,
    score::ScoreTable,
    scoring::{CheckedClip, Scoring},
    synth,
};
use crate::{
    Outcome,
    args::{Arguments, Command, DemoArguments},
    printer::{Printer, strong},
};

/// A folder with this file in it was made by the demonstration, which may replace what it made.
const MARKER: &str = "made-by-auscult-demo.txt";

pub(crate) fn run(arguments: &DemoArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let machine: Machine = arguments.machine.parse()?;
    let folder = &arguments.out;
    prepare(folder)?;
    let sounds = folder.join("sounds");
    remove_own(&sounds, arguments.seed)
        .with_context(|| format!("cannot replace {}", sounds.display()))?;
    let recipe = recipe(machine, arguments.seed);
    printer.line(strong(format!(
        "1. A synthetic {machine}: {} normal clips on {} visits to learn from, {} normal and {} faulty ones to check",
        recipe.train.source, recipe.visits, recipe.test_normal.source, recipe.test_anomalous.source
    )))?;
    synth::write_with_progress(&sounds, &recipe)?;

    let machine_folder = sounds.join(machine.name());
    let model = folder.join(format!("{machine}.auscult"));
    let [normal, check, model] =
        [machine_folder.join("normal"), machine_folder.join("check"), model]
            .map(|path| path.display().to_string());
    printer.line(strong("\n2. Learn how it sounds when it is well"))?;
    let command = parse(&["auscult", "fit", &normal, "-o", &model], printer)?;
    let Command::Fit(fit_arguments) = command else { anyhow::bail!("not a fit command") };
    fit::run(&fit_arguments, printer)?;

    printer.line(strong("\n3. Check new recordings"))?;
    let command = parse(&["auscult", "score", &model, &check], printer)?;
    let Command::Score(score_arguments) = command else { anyhow::bail!("not a score command") };
    let mut scoring = Scoring::new(&score_arguments.scoring)?;
    scoring.explain = true;
    let (mut table, mut clips) = (ScoreTable::new(), Vec::new());
    let scored = scoring.run(&score_arguments.scoring.input.paths, printer, |clip| {
        table.add(&clip, false);
        clips.push(clip);
        Ok(())
    })?;
    printer.text(&table.render(&scoring.closing_lines(&scored)))?;
    printer.line(tally(&clips))?;

    let page = folder.join("report.html");
    let title = format!("Synthetic {machine}");
    let report = Report::new(&title, &scoring, &scored, clips, |clip| Some(truth(clip).to_owned()));
    report.write_page(&page)?;
    printer.line(strong("\n4. Read the report"))?;
    printer.line(format!("{} (opens in any browser, no network needed)", page.display()))?;
    Ok(if scored.complete { Outcome::Done } else { Outcome::Incomplete })
}

fn recipe(machine: Machine, seed: u64) -> TreeRecipe {
    TreeRecipe {
        machines: vec![machine],
        layout: Layout::Visits,
        train: PerDomain { source: 96, target: 0 },
        test_normal: PerDomain { source: 16, target: 0 },
        test_anomalous: PerDomain { source: 16, target: 0 },
        visits: 24,
        severity: 1.0,
        seed,
        ..TreeRecipe::default()
    }
}

/// Shows a command as a user would type it, and reads it the same way.
fn parse(words: &[&str], printer: &Printer) -> anyhow::Result<Command> {
    printer.line(format!("$ {}", words.join(" ")))?;
    Ok(Arguments::try_parse_from(words)?.command)
}

/// Makes the folder, or takes one that an earlier demonstration made: its files are written again, what
/// else is there stays.
fn prepare(folder: &Path) -> anyhow::Result<()> {
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !folder.join(MARKER).is_file() && folder.exists() && !is_empty() {
        anyhow::bail!(
            "{} exists and was not made by the demonstration; choose another folder with --out",
            folder.display()
        );
    }
    let make = || {
        std::fs::create_dir_all(folder)?;
        std::fs::write(
            folder.join(MARKER),
            "auscult demo writes its sounds, its model and report.html here anew when it runs again.\n",
        )
    };
    make().with_context(|| format!("cannot write {}", folder.display()))
}

/// Removes the recordings an earlier demonstration made, and nothing else: what somebody put beside
/// them stays, and is then in the way of new ones.
fn remove_own(sounds: &Path, seed: u64) -> anyhow::Result<()> {
    let ignore_missing = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let mut folders = std::collections::BTreeSet::from([sounds.to_owned()]);
    for machine in Machine::ALL {
        let tables = ["check.csv"].map(|name| sounds.join(machine.name()).join(name));
        let files = recipe(machine, seed).files()?;
        let files = files.into_iter().map(|file| sounds.join(file.path)).chain(tables);
        for file in files.chain([sounds.join("check.csv")]) {
            ignore_missing(std::fs::remove_file(&file))?;
            folders.extend(
                file.ancestors()
                    .skip(1)
                    .take_while(|path| path.starts_with(sounds))
                    .map(Path::to_owned),
            );
        }
    }
    for folder in folders.iter().rev() {
        let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            std::fs::remove_dir(folder)?;
        }
    }
    Ok(())
}

/// What a clip really is: its file name says so (`leak_0003.wav`).
fn truth(clip: &CheckedClip) -> &str {
    let name =
        Path::new(&clip.label).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('_').map_or(name, |(kind, _)| kind)
}

fn tally(clips: &[CheckedClip]) -> String {
    let count = |faulty: bool, anomalous: Option<bool>| {
        clips
            .iter()
            .filter(|clip| (truth(clip) != "normal") == faulty)
            .filter(|clip| anomalous.is_none_or(|wanted| clip.is_anomalous() == wanted))
            .count()
    };
    format!(
        "The file names know better: {} of {} faulty clips were found, {} of {} normal ones were called anomalous.",
        count(true, Some(true)),
        count(true, None),
        count(false, Some(true)),
        count(false, None),
    )
}

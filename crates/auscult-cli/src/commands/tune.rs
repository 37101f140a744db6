//! `auscult tune`: normal recordings in, settings out.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use auscult::tuning::{
    Candidate, Features, NormalClip, Ranked, Ranking, Study, StudySettings, StudyState,
    TunedSettings, grid_with,
};
use auscult_audio::Source;
use auscult_core::{Basis, ClipLength, ClipSettings, FrontEnd, FrontEndSettings};
use serde_json::json;

use super::{fit, normal_clips};
use crate::{
    Outcome,
    args::{Budget, EncoderArguments, TuneArguments},
    files, front_ends, interrupt,
    printer::{Printer, count},
    progress,
    reading::{self, Reading},
    table::{Align, Table},
};

pub(crate) fn run(arguments: &TuneArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let clip = ClipSettings { sample_rate: arguments.sample_rate, seconds: arguments.clip_seconds };
    let encoders = encoders(&arguments.front_end, clip.check()?)?;
    let candidates = grid_with(clip.check()?, &encoders)?;
    check_settings_target(&arguments.output)?;
    let Some((study, complete)) = gather(arguments, clip, printer)? else {
        anyhow::bail!("stopped before all sound was read; nothing was tried");
    };
    tell_about(&study, printer);
    let mut kept = Kept::open(&arguments.output, &study, printer)?;
    let finished = try_candidates(&study, &candidates, arguments.budget, started, &mut kept)?;
    let tried = within(&candidates, arguments.budget);
    let ranking = Ranking::of(kept.state.results(tried));
    let Some(chosen) = ranking.recommended() else {
        anyhow::bail!("stopped before any settings were tried; run it again");
    };
    if finished {
        let settings =
            TunedSettings::new(&chosen.evaluation.candidate, clip, arguments.channel.as_str());
        auscult_files::write_atomically(&arguments.output, settings.to_json()?.as_bytes())?;
    }
    if arguments.json {
        let whole = json!({
            "clips": study.groups().members().len(),
            "left_out": study.groups().basis().name(),
            "groups": study.groups().count(),
            "folds": study.folds(),
            "seed": arguments.seed,
            "settings_in_all": candidates.len(),
            "settings_tried": ranking.candidates.len(),
            "chosen": chosen,
            "ranking": ranking.candidates,
        });
        printer.line(serde_json::to_string_pretty(&whole)?)?;
    } else {
        printer.text(&table(&ranking).render())?;
        printer.text(&words(&ranking, candidates.len(), finished.then_some(&*arguments.output)))?;
    }
    if !finished {
        printer.problem(format!(
            "stopped: no settings were written; run it again to go on ({} tried so far)",
            count(kept.state.len(), "setting")
        ));
    }
    Ok(if complete && finished { Outcome::Done } else { Outcome::Incomplete })
}

/// The front ends tried beside the built-in ones.
fn encoders(names: &[String], length: ClipLength) -> anyhow::Result<Vec<Arc<dyn FrontEnd>>> {
    let one = |name: &String| {
        let (front_end, convention) = match name.split_once(':') {
            Some((front_end, convention)) => (front_end, Some(convention)),
            None => (name.as_str(), None),
        };
        anyhow::ensure!(
            !FrontEndSettings::NAMES.contains(&front_end),
            "{name} is tried in any case; --front-end is for encoders, such as ced"
        );
        front_ends::named(front_end, convention, &EncoderArguments::default(), length)
    };
    let front_ends: Vec<Arc<dyn FrontEnd>> =
        names.iter().map(one).collect::<anyhow::Result<_>>()?;
    for (index, front_end) in front_ends.iter().enumerate() {
        let identity = front_end.identity();
        let is_new = front_ends[..index].iter().all(|other| other.identity() != identity);
        anyhow::ensure!(is_new, "--front-end names {identity} twice; once is enough");
    }
    Ok(front_ends)
}

/// Reads the clips; `None` if a stop was asked for. Also tells whether all inputs could be used.
fn gather(
    arguments: &TuneArguments,
    clip: ClipSettings,
    printer: &Printer,
) -> anyhow::Result<Option<(Study, bool)>> {
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let reading = fit::reading(&arguments.input, &arguments.channel, clip, front_end)?;
    let most = usize::from(arguments.max_clips);
    let visits = (arguments.visits.visit.as_deref(), arguments.visits.domain.as_deref());
    let normal = read(&arguments.input.paths, visits, &reading, most, "normal", printer)?;
    let Some((clips, normal_complete)) = normal else { return Ok(None) };
    let (outliers, outliers_complete) = match arguments.outliers.as_slice() {
        [] => (Vec::new(), true),
        paths => {
            let most = (most / 2).max(1);
            let read = read(paths, (None, None), &reading, most, "other machines'", printer)?;
            let Some((clips, complete)) = read else { return Ok(None) };
            (clips.into_iter().map(|clip| clip.samples).collect(), complete)
        }
    };
    let settings = StudySettings { clip, seed: arguments.seed };
    let study = Study::new(clips, outliers, settings)?;
    Ok(Some((study, normal_complete && outliers_complete)))
}

fn read(
    paths: &[String],
    (visit, domain): (Option<&str>, Option<&str>),
    reading: &Reading,
    most: usize,
    what: &str,
    printer: &Printer,
) -> anyhow::Result<Option<(Vec<NormalClip>, bool)>> {
    let (sources, problems) = reading::expand(paths, visit, domain, printer)?;
    anyhow::ensure!(
        !sources.iter().any(Source::is_live),
        "tune reads its recordings twice and cannot take standard input; name files"
    );
    let Some(taken) = normal_clips::take(sources, reading, most, printer)? else {
        return Ok(None);
    };
    if taken.clips.len() < taken.found {
        printer.note(format!(
            "using {} of {} {what} clips, spread evenly over the visits (--max-clips)",
            taken.clips.len(),
            taken.found
        ));
    }
    Ok(Some((taken.clips, problems.is_empty() && taken.skipped == 0)))
}

/// Says what the ranking cannot be trusted for.
fn tell_about(study: &Study, printer: &Printer) {
    let groups = study.groups();
    if groups.basis() != Basis::Visits {
        printer.note(format!(
            "the recordings name fewer than two visits: {} are left out instead, which makes every \
             candidate look better than it is on another day",
            groups.basis()
        ));
    }
    if groups.count() < 4 {
        printer.note(format!(
            "only {} to leave out: errors are large and the defaults will mostly stay; record on \
             more days",
            count(groups.count(), "group")
        ));
    }
}

/// Refuses to write settings over anything that never was a settings file.
fn check_settings_target(path: &Path) -> anyhow::Result<()> {
    files::check_target(path)?;
    let Ok(found) = path.metadata() else { return Ok(()) };
    let is_settings = found.len() < 1 << 20
        && std::fs::read_to_string(path).is_ok_and(|text| TunedSettings::parse(&text).is_ok());
    anyhow::ensure!(
        is_settings || found.len() == 0,
        "{} exists and is not a settings file; give another file after -o, or remove it first",
        path.display()
    );
    Ok(())
}

/// The results so far, in memory and on the disk.
struct Kept {
    path: PathBuf,
    state: StudyState,
    written: Instant,
}

/// Results are written no more often.
const BETWEEN_WRITES: Duration = Duration::from_secs(2);

impl Kept {
    /// Takes up the results beside `output` if they are of the same study.
    fn open(output: &Path, study: &Study, printer: &Printer) -> anyhow::Result<Self> {
        let mut path = output.as_os_str().to_owned();
        path.push(".state.json");
        let path = PathBuf::from(path);
        files::check_target(&path)?;
        let found = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            other => Some(other.with_context(|| format!("cannot read {}", path.display()))?),
        };
        let state = match found.map(|bytes| StudyState::resume(&bytes, study)) {
            None => None,
            Some(Ok(Some(state))) => {
                printer.note(format!(
                    "going on: {} tried already ({})",
                    count(state.len(), "setting"),
                    path.display()
                ));
                Some(state)
            }
            Some(Ok(None)) => {
                printer.note(format!(
                    "starting anew: {} is of other clips, another seed or another version",
                    path.display()
                ));
                None
            }
            Some(Err(error)) => anyhow::bail!(
                "{} holds no results of tune ({error}); remove it, or give another file after -o",
                path.display()
            ),
        };
        let state = state.unwrap_or_else(|| StudyState::new(study));
        Ok(Self { path, state, written: Instant::now() })
    }

    fn write(&mut self) -> anyhow::Result<()> {
        auscult_files::write_atomically(&self.path, &self.state.to_bytes()?)?;
        self.written = Instant::now();
        Ok(())
    }
}

/// The candidates a budget allows at most.
fn within(candidates: &[Candidate], budget: Option<Budget>) -> &[Candidate] {
    match budget {
        Some(Budget::Candidates(most)) => &candidates[..most.min(candidates.len())],
        Some(Budget::Time(_)) | None => candidates,
    }
}

/// Tries what is not done yet, until all is done, the time is up or a stop is asked for; `false`
/// for the last.
fn try_candidates(
    study: &Study,
    candidates: &[Candidate],
    budget: Option<Budget>,
    started: Instant,
    kept: &mut Kept,
) -> anyhow::Result<bool> {
    let candidates = within(candidates, budget);
    let time_is_up = || match budget {
        Some(Budget::Time(most)) => started.elapsed() >= most,
        Some(Budget::Candidates(_)) | None => false,
    };
    let mut features: BTreeMap<String, Features> = BTreeMap::new();
    let bar = progress::bar(candidates.len(), "settings");
    for candidate in candidates {
        bar.inc(1);
        if kept.state.has(candidate) {
            continue;
        }
        // One result at least: a budget that buys nothing helps nobody.
        let something_done = !kept.state.is_empty();
        if interrupt::is_asked() || (something_done && time_is_up()) {
            break;
        }
        let name = candidate.front_end.to_string();
        if !features.contains_key(&name) {
            let go_on = || !(interrupt::is_asked() || something_done && time_is_up());
            let Some(computed) = bar.suspend(|| compute(study, candidate, &go_on))? else { break };
            features.insert(name.clone(), computed);
        }
        if let Some(features) = features.get(&name) {
            kept.state.insert(study.evaluate(features, candidate)?);
        }
        if kept.written.elapsed() >= BETWEEN_WRITES {
            kept.write()?;
        }
    }
    bar.finish_and_clear();
    kept.write()?;
    Ok(!interrupt::is_asked())
}

/// The vectors of a candidate's front end, with a progress bar.
fn compute(
    study: &Study,
    candidate: &Candidate,
    go_on: &(dyn Fn() -> bool + Sync),
) -> anyhow::Result<Option<Features>> {
    let bar = progress::bar(study.clip_count(), "clips");
    let front_ends = front_ends::library().front_ends();
    let front_end = front_ends.build(&candidate.front_end, study.length())?;
    let features = study.features(&*front_end, &|| {
        bar.inc(1);
        go_on()
    });
    bar.finish_and_clear();
    Ok(features?)
}

/// So many rows are for people.
const ROWS: usize = 15;

fn table(ranking: &Ranking) -> Table {
    let kinds = ranking.candidates.first().map_or(&[][..], |first| &first.evaluation.kinds);
    let mut columns =
        vec![("", Align::Right), ("settings", Align::Left), ("mean AUC in %", Align::Left)];
    columns.extend(kinds.iter().map(|of| (of.kind.name(), Align::Right)));
    let mut table = Table::new(&columns);
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let row = |index: usize, ranked: &Ranked| {
        let chosen = ranking.recommended() == Some(ranked);
        let mark = match (chosen, ranked.like_the_best) {
            (true, _) => "*",
            (false, true) => "=",
            (false, false) => " ",
        };
        let evaluation = &ranked.evaluation;
        let mut cells = vec![
            format!("{}{mark}", index + 1),
            evaluation.candidate.to_string(),
            format!("{} ± {}", percent(evaluation.mean_auc), percent(ranked.error)),
        ];
        cells.extend(evaluation.kinds.iter().map(|of| percent(of.auc)));
        cells
    };
    for (index, ranked) in ranking.candidates.iter().enumerate() {
        let is_default = ranked.evaluation.candidate.is_default();
        if index < ROWS || is_default || ranking.recommended() == Some(ranked) {
            table.row(row(index, ranked));
        }
    }
    table
}

/// What the table means.
fn words(ranking: &Ranking, in_all: usize, written: Option<&Path>) -> String {
    let tried = ranking.candidates.len();
    let alike = ranking.like_the_best();
    let mut text = format!(
        "\n{tried} of {in_all} settings tried; {alike} cannot be told from the best (=, itself included), * is chosen\n"
    );
    let Some(chosen) = ranking.recommended() else { return text };
    let candidate = &chosen.evaluation.candidate;
    let against_default = ranking
        .default_candidate()
        .map(|default| 100.0 * (chosen.evaluation.mean_auc - default.evaluation.mean_auc));
    let choice = match against_default {
        _ if candidate.is_default() => {
            "chosen      the defaults: nothing tried is clearly better\n".to_owned()
        }
        Some(gain) => format!(
            "chosen      {candidate}: {gain:+.1} points over the defaults on made-up faults\n"
        ),
        None => format!("chosen      {candidate}\n"),
    };
    text.push_str(&choice);
    if !candidate.is_default() {
        text.push_str(
            "check       made-up faults are not faults: compare with the defaults on known-bad clips first\n",
        );
    }
    if let Some(path) = written {
        let path = path.display();
        let use_it =
            format!("settings    {path} (auscult fit RECORDINGS --settings {path} -o MODEL)\n");
        text.push_str(&use_it);
    }
    text
}

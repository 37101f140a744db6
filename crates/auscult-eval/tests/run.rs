//! Runs: resumed after a stop, whole with parts that fail.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use auscult_audio::ChannelRule;
use auscult_core::{Cancel, ClipSettings, Control, Event};
use auscult_eval::{
    datasets::{Dataset, DatasetKind, Set, Year},
    protocol::Protocol,
    run::{
        Evaluation, RunFacts, RunResults, RunSettings, SectionResult, Threshold,
        built_in_front_end, compare, evaluate, latex, markdown, page, read_sections,
        write_submission,
    },
};
use auscult_testing::{Layout, Machine, PerDomain, TreeRecipe, write_tree};

/// Stops after more than `most` clips.
fn until(most: usize) -> Control {
    let clips = AtomicUsize::new(0);
    let events = move |event: Event<'_>| match event {
        Event::Advanced if clips.fetch_add(1, Ordering::SeqCst) >= most => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    Control::new(Cancel::new(), Arc::new(events))
}

/// Two machines of 14 clips of half a second, in two domains.
fn tree(root: &Path) -> PathBuf {
    let folder = root.join("tree");
    let recipe = TreeRecipe {
        machines: vec![Machine::Fan, Machine::Valve],
        layout: Layout::Dcase,
        train: PerDomain { source: 4, target: 2 },
        test_normal: PerDomain { source: 2, target: 2 },
        test_anomalous: PerDomain { source: 2, target: 2 },
        visits: 1,
        seconds: 0.5,
        ..TreeRecipe::default()
    };
    write_tree(&folder, &recipe, &mut |_, _| {}).unwrap();
    folder
}

const PROTOCOL: &str = "
name = 'test'
title = 'A & B'
datasets = ['dcase2023']
clip_seconds = 0.5
[[system]]
name = 'BEAM'
method = 'beam'
paper = { 'dcase2023/dev' = 50.0 }
[[system]]
name = 'GenRep'
back_end = 'genrep'
method = 'global'
mixup = 'all'
[[system]]
name = 'k-means'
back_end = 'k-means'
components = 3
[[system]]
name = 'both'
back_end = 'fusion'
members = ['BEAM', 'k-means']
[[system]]
name = 'absent'
group = 'Nothing to run here'
front_end = 'beats'
[[system]]
name = 'both with absent'
group = 'Nothing to run here'
back_end = 'fusion'
members = ['BEAM', 'absent']
";

fn run(data: &Path, out: Option<&Path>, control: &Control) -> Option<Evaluation> {
    let protocol = Protocol::parse(PROTOCOL).unwrap();
    let dataset = Dataset::open(protocol.datasets[0], &[data.to_owned()], None).unwrap();
    let settings = RunSettings {
        clip: ClipSettings { seconds: protocol.clip_seconds, ..ClipSettings::default() },
        channel: ChannelRule::default(),
        out,
        front_ends: &built_in_front_end,
        control,
    };
    evaluate(&dataset, &protocol.systems, &protocol.diagnostics, &settings).unwrap()
}

#[test]
fn a_stopped_run_goes_on_and_ends_like_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = tree(folder.path());
    let whole = run(&data, None, &Control::default()).unwrap();
    assert_eq!(whole.sections.len(), 2);
    let out = folder.path().join("run");
    // The first machine has 14 clips.
    assert_eq!(run(&data, Some(&out), &until(16)), None);
    assert_eq!(fs::read_dir(out.join("sections")).unwrap().count(), 1);
    let error = read_sections(&out).unwrap_err().to_string();
    assert!(error.contains("is not a finished run: it has no results.json yet"), "{error}");
    // 14 more clips and not one of the finished machine, which would stop it.
    assert_eq!(run(&data, Some(&out), &until(14)).unwrap(), whole);
    // What another run left in the folder is not read.
    fs::write(out.join("sections/dcase2023_dev_pump_00.json"), "{}").unwrap();
    let protocol = Protocol::parse(PROTOCOL).unwrap();
    let results = RunResults::new(protocol, RunFacts::default(), &whole.sections, 0);
    fs::write(out.join("results.json"), serde_json::to_vec(&results).unwrap()).unwrap();
    assert_eq!(read_sections(&out).unwrap(), whole.sections);
    // A changed file is noticed.
    let clip = walk(&data).into_iter().find(EndsWithWav::ends_with_wav).unwrap();
    fs::write(&clip, b"RIFF").unwrap();
    let changed = run(&data, Some(&out), &Control::default()).unwrap();
    assert_eq!(changed.sections.iter().flat_map(|section| &section.problems).count(), 1);
}

trait EndsWithWav {
    fn ends_with_wav(&self) -> bool;
}

impl EndsWithWav for PathBuf {
    fn ends_with_wav(&self) -> bool {
        self.extension().is_some_and(|end| end == "wav")
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// A section again and again, until there are as many machines and test clips as were published.
fn as_large_as_published(sections: &[SectionResult]) -> Vec<SectionResult> {
    let machines = Year::Y2023.machines(Set::Development).iter();
    let enlarged = machines.map(|machine| {
        let mut section = sections[0].clone();
        let times = 200 / section.clips.len();
        (*machine).clone_into(&mut section.machine);
        section.clips = section.clips.iter().cycle().take(200).cloned().collect();
        for system in &mut section.systems {
            system.scores = system.scores.repeat(times);
        }
        section
    });
    enlarged.collect()
}

#[test]
fn results_stand_beside_the_papers_and_say_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let Evaluation { sections, missing } =
        run(&tree(folder.path()), None, &Control::default()).unwrap();
    let protocol = Protocol::parse(PROTOCOL).unwrap();
    let facts = RunFacts { missing, ..RunFacts::default() };
    // Beside a part of the data the paper's number would mean nothing.
    let part = RunResults::new(protocol.clone(), facts.clone(), &sections, 0);
    assert!(part.rows.iter().all(|row| row.paper.is_none()));
    let results = RunResults::new(protocol, facts, &as_large_as_published(&sections), 100);
    let row = |name: &str| results.row(DatasetKind::Dcase(Year::Y2023), "dev", name).unwrap();
    let beam = row("BEAM");
    assert!(beam.score.is_some() && beam.paper == Some(0.5));
    let interval = beam.interval.unwrap();
    assert!(interval.low <= interval.high);
    assert!(row("GenRep").score.is_some() && row("both").score.is_some());
    assert!(results.rows.iter().all(|row| !row.system.contains("absent")), "no row of dashes");
    let text = markdown(&results);
    let told = "- not run: beats (2 systems): unknown front end \"beats\"";
    assert!(text.contains("(50.0)") && text.matches(told).count() == 1, "{text}");
    for text in [&text, &latex(&results), &page(&results)] {
        assert!(!text.contains("absent") && !text.contains("Nothing to run here"), "{text}");
    }
    assert!(latex(&results).contains("\\toprule") && latex(&results).contains("A \\& B"));
    assert!(page(&results).contains("<h1>A &amp; B</h1>"));
}

#[test]
fn files_for_evaluators_and_comparisons_come_from_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    let Evaluation { sections, .. } = run(&tree(folder.path()), None, &Control::default()).unwrap();
    let out = folder.path().join("submission");
    let written = write_submission(&sections, "BEAM", Threshold::Gamma, &out).unwrap();
    assert_eq!((written.files.len(), written.decisions.len()), (4, 2));
    let text = fs::read_to_string(out.join("anomaly_score_fan_section_00_test.csv")).unwrap();
    assert_eq!(text.lines().count(), 8);
    let error = write_submission(&sections, "GenRep", Threshold::Gamma, &out).unwrap_err();
    assert!(error.to_string().contains("no left-out scores"), "{error}");
    let error = write_submission(&sections, "absent", Threshold::Quantile, &out).unwrap_err();
    assert!(error.to_string().contains("has no scores"), "{error}");
    let found = compare((&sections, "BEAM"), (&sections, "k-means"), 200);
    assert_eq!((found.len(), found[0].clips), (1, 16));
    assert!((found[0].second_score - found[0].first_score - found[0].difference).abs() < 1e-12);
    let back = compare((&sections, "k-means"), (&sections, "BEAM"), 200);
    assert!((back[0].difference + found[0].difference).abs() < 1e-12);
}

/// The mean of trials stands in the table, with their deviation and the paper's number; cited rows stand beside whole
/// parts only.
#[test]
fn trials_are_one_row_and_cited_rows_stand_beside_whole_parts() {
    const TRIALS: &str = "
name = 'test'
title = 'T'
datasets = ['dcase2023']
[fine_tuning]
encoder = 'ced'
seeds = [1, 2]
[[system]]
name = 'tuned'
front_end = 'fine-tuned'
paper = { 'dcase2023/dev' = 60.0 }
[[cited]]
name = 'Elsewhere'
source = 'Somebody 2020'
scores = { 'dcase2023/dev' = 63.5, 'dcase2023/eval' = 65.5 }
deviations = { 'dcase2023/dev' = 0.4 }
";
    let folder = tempfile::tempdir().unwrap();
    let found = run(&tree(folder.path()), None, &Control::default()).unwrap();
    let mut sections = as_large_as_published(&found.sections);
    for section in &mut sections {
        let scores = section.systems[0].scores.clone();
        let trial = |seed: u32, scores: Vec<f64>| {
            let system = format!("tuned, seed {seed}");
            auscult_eval::run::SystemResult { system, scores, ..section.systems[0].clone() }
        };
        // The second trial orders clips the other way round.
        let turned = scores.iter().map(|score| -score).collect();
        section.systems = vec![trial(1, scores), trial(2, turned)];
    }
    let protocol = Protocol::parse(TRIALS).unwrap();
    let results = RunResults::new(protocol.clone(), RunFacts::default(), &sections, 0);
    let row = |name: &str| results.row(DatasetKind::Dcase(Year::Y2023), "dev", name).unwrap();
    let (one, other, mean) = (row("tuned, seed 1"), row("tuned, seed 2"), row("tuned"));
    let [a, b, m] = [one, other, mean].map(|row| row.score.unwrap());
    assert!((m - f64::midpoint(a, b)).abs() < 1e-12);
    assert!((mean.deviation.unwrap() - (a - b).abs() / 2.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!((one.paper, mean.paper), (None, Some(0.6)));
    for text in [markdown(&results), latex(&results), page(&results)] {
        assert!(text.contains("Elsewhere (cited: Somebody 2020)"), "{text}");
        assert!(text.contains("63.5 ± 0.4"), "{text}");
    }
    let text = markdown(&results);
    assert_eq!(text.matches("| tuned |").count(), 1, "{text}");
    let part = RunResults::new(protocol, RunFacts::default(), &sections[..1], 0);
    assert!(!markdown(&part).contains("Elsewhere"), "numbers of the whole beside a part");
}

//! The history: nothing is forgotten by thinning that a query still needs, and nothing half is ever there.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use auscult::alarm::Observation;
use auscult_monitor::{
    Error,
    history::{ClipQuery, ClipRow, Commit, FILE, History, TrendPoint},
    site::{HistoryFile, Seconds},
};
use proptest::prelude::*;

const DAY: f64 = 86_400.0;
const BEGIN: f64 = 20_000.0 * DAY;

fn clip(step: u64, time: f64, score: Option<f64>) -> ClipRow {
    ClipRow {
        step,
        taken: time,
        observation: Some(Observation::Normal),
        time,
        time_origin: "caller".to_owned(),
        path: "live".to_owned(),
        start_seconds: 0.0,
        seconds: 10.0,
        score,
        p_value: None,
        calibrated: None,
        verdict: if score.is_some_and(|score| score > 2.0) { "anomalous" } else { "normal" }
            .to_owned(),
        reason: String::new(),
        heard: None,
        differs_most: None,
        promised: false,
        promised_if: None,
        alarm: "normal".to_owned(),
        domain: None,
        level_dbfs: None,
        remarks: Vec::new(),
        copy_of: None,
        error: None,
        model: None,
        bands: Vec::new(),
        nearest: None,
        sound: None,
    }
}

fn write(history: &mut History, commit: &Commit) {
    history.write(commit, BEGIN).unwrap();
}

fn settings(clips: f64, minutes: f64, hours: f64) -> HistoryFile {
    HistoryFile {
        clips: Seconds(clips * DAY),
        minutes: Seconds(minutes * DAY),
        hours: Seconds(hours * DAY),
        ..HistoryFile::default()
    }
}

fn trend(history: &History, machine: i64, width: i64) -> Vec<TrendPoint> {
    history.trend(machine, BEGIN - DAY, BEGIN + 400.0 * DAY, width).unwrap()
}

/// Sums in another order differ in their last bits.
fn same(a: &[TrendPoint], b: &[TrendPoint]) -> bool {
    let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        (a, b) => a == b,
    };
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            (a.start, a.clips, a.scored, a.anomalous) == (b.start, b.clips, b.scored, b.anomalous)
                && near(a.lowest, b.lowest)
                && near(a.highest, b.highest)
                && near(a.mean, b.mean)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn thinning_forgets_nothing_that_a_query_still_needs(
        clips in prop::collection::vec((0.0..200.0_f64, prop::option::of(0.1..5.0_f64)), 1..120),
        ages in prop::collection::vec(0.0..300.0_f64, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(folder.path()).unwrap();
        let machine = history.machine("pump", BEGIN).unwrap();
        let mut commit = Commit::of(machine);
        for (step, (day, score)) in clips.iter().enumerate() {
            commit.clips.push(clip(step as u64 + 1, BEGIN + day * DAY, *score));
        }
        write(&mut history, &commit);
        let days = trend(&history, machine, 86_400);
        let hours = trend(&history, machine, 3_600);
        let mut ages = ages;
        ages.sort_by(f64::total_cmp);
        for age in ages {
            let now = BEGIN + age * DAY;
            while history.thin(&settings(3.0, 30.0, 100.0), now).unwrap().clips > 0 {}
            prop_assert!(same(&trend(&history, machine, 86_400), &days), "days after {age}");
            // Hours are there for as long as the settings say.
            let kept = |points: &[TrendPoint]| -> Vec<TrendPoint> {
                let from = (now - 99.0 * DAY).max(BEGIN - DAY);
                points.iter().copied().filter(|point| point.start >= from).collect()
            };
            prop_assert!(same(&kept(&trend(&history, machine, 3_600)), &kept(&hours)), "hours after {age}");
        }
    }
}

#[test]
fn a_clip_that_somebody_spoke_of_is_kept_and_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(folder.path()).unwrap();
    let machine = history.machine("pump", BEGIN).unwrap();
    let mut commit = Commit::of(machine);
    commit.clips = (1..=10).map(|step| clip(step, BEGIN + step as f64, Some(1.0))).collect();
    commit.clips[4].sound = Some("sound/pump/x.flac".to_owned());
    let odd = (8, BEGIN + 8.0, "learning/pump/y.flac".to_owned(), "odd".to_owned());
    commit.waiting.push(odd);
    write(&mut history, &commit);
    let before = trend(&history, machine, 3_600);
    history.thin(&settings(1.0, 30.0, 100.0), BEGIN + 3.0 * DAY).unwrap();
    assert!(same(&trend(&history, machine, 3_600), &before));
    let mut left = Vec::new();
    history
        .clips(&ClipQuery::default(), &mut |clip| {
            left.push(clip.row.step);
            Ok(())
        })
        .unwrap();
    assert_eq!(left, [5, 8], "one with its sound, and one that waits for a decision");
    assert_eq!(history.deletions(10).unwrap()[0].count, 8, "what was deleted is written down");
}

#[test]
fn half_a_commit_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(folder.path()).unwrap();
    let machine = history.machine("pump", BEGIN).unwrap();
    let mut commit = Commit::of(machine);
    commit.clips = vec![clip(1, BEGIN, None), clip(1, BEGIN, None)];
    assert!(history.write(&commit, BEGIN).is_err(), "a step happens once");
    assert_eq!(history.clip(machine, 1).unwrap(), None);
}

#[test]
fn strangers_and_newer_histories_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    std::fs::write(&path, "this is not a database, and it is long enough to be looked at").unwrap();
    assert!(matches!(History::open(folder.path()), Err(Error::Unreadable { .. })));
    std::fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    drop(other);
    assert!(matches!(History::open(folder.path()), Err(Error::NotAHistory { .. })));
    std::fs::remove_file(&path).unwrap();
    drop(History::open(folder.path()).unwrap());
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    assert!(matches!(History::open(folder.path()), Err(Error::NewerHistory { found: 99, .. })));
    let nothing = tempfile::tempdir().unwrap();
    assert!(matches!(History::read(nothing.path()), Err(Error::NoHistory { .. })));
}

#[test]
fn a_history_of_every_version_opens() {
    // Version 1 is the one written now; its file is made here so that the next version has it to open.
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(folder.path()).unwrap();
    history.machine("pump", BEGIN).unwrap();
    let target = folder.path().join("copy.db");
    history.back_up(&target).unwrap();
    assert!(matches!(history.back_up(&target), Err(Error::TargetExists { .. })));
    let other = tempfile::tempdir().unwrap();
    std::fs::copy(&target, other.path().join(FILE)).unwrap();
    let copy = History::read(other.path()).unwrap();
    assert_eq!(copy.machines().unwrap(), [(1, "pump".to_owned())]);
    copy.check().unwrap();
}

//! The history: nothing is forgotten by thinning that a query still needs, and nothing half is ever there.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too, fail by panicking")]

use auscult::alarm::Observation;
use auscult_monitor::{
    Error,
    data::DataFolder,
    history::{ClipQuery, ClipRow, Commit, FILE, History, SoundRow, TrendPoint},
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
        clips in prop::collection::vec(
            (0.0..200.0_f64, prop::option::of(0.1..5.0_f64), any::<bool>()), 1..120),
        ages in prop::collection::vec(0.0..300.0_f64, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::open(folder.path()).unwrap();
        let machine = history.machine("pump", BEGIN).unwrap();
        let mut commit = Commit::of(machine);
        for (step, (day, score, runs)) in clips.iter().enumerate() {
            let mut clip = clip(step as u64 + 1, BEGIN + day * DAY, *score);
            if !runs {
                clip.observation = Some(Observation::NotRunning);
            }
            commit.clips.push(clip);
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
fn the_scores_of_a_machine_that_stands_still_are_no_trend() {
    let folder = tempfile::tempdir().unwrap();
    let mut history = History::open(folder.path()).unwrap();
    let machine = history.machine("pump", BEGIN).unwrap();
    let mut commit = Commit::of(machine);
    let observations = [Observation::Normal, Observation::NotRunning, Observation::SensorFault];
    for (step, observation) in observations.into_iter().enumerate() {
        let (step, score) = (step as u64 + 1, 1.0 + 4.0 * step as f64);
        let observation = Some(observation);
        commit.clips.push(ClipRow { observation, ..clip(step, BEGIN + step as f64, Some(score)) });
    }
    write(&mut history, &commit);
    let is_seen = |history: &History| {
        let [point] = trend(history, machine, 3_600)[..] else { panic!("one hour") };
        (point.clips, point.scored, point.anomalous, point.highest)
    };
    assert_eq!(is_seen(&history), (3, 1, 0, Some(1.0)));
    history.thin(&settings(1.0, 30.0, 100.0), BEGIN + 3.0 * DAY).unwrap();
    assert_eq!(is_seen(&history), (3, 1, 0, Some(1.0)));
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
fn sound_stays_within_its_budget_and_what_is_deleted_is_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path());
    let mut history = History::open(folder.path()).unwrap();
    let machine = history.machine("pump", BEGIN).unwrap();
    let mut commit = Commit::of(machine);
    for (index, purpose) in ["alarm", "learning", "all", "all", "alarm"].into_iter().enumerate() {
        let (file, time) = (format!("sound/pump/{index}.flac"), BEGIN + 60.0 * index as f64);
        let bytes = data.write(&file, &[0; 1_000]).unwrap();
        commit.sounds.push(SoundRow { file, time, seconds: 10.0, bytes, purpose });
    }
    write(&mut history, &commit);
    let left = || -> Vec<usize> {
        (0..5).filter(|index| data.file(&format!("sound/pump/{index}.flac")).is_file()).collect()
    };
    assert_eq!(history.sweep_sounds(&data, 5_000, BEGIN).unwrap(), 0, "there is room");
    // Plain clips first, the older one before the newer, then what was learnt from, and alarms last.
    assert_eq!((history.sweep_sounds(&data, 4_500, BEGIN).unwrap(), left()), (1, vec![0, 1, 3, 4]));
    assert_eq!((history.sweep_sounds(&data, 2_000, BEGIN).unwrap(), left()), (2, vec![0, 4]));
    // What a person deletes is of a machine and a span of time.
    let of = |history: &mut History, from: f64, to: f64| {
        history.delete_sound_of(&data, machine, (BEGIN + from, BEGIN + to), "ada", BEGIN).unwrap()
    };
    assert_eq!((of(&mut history, 20.0, 230.0), left()), (0, vec![0, 4]));
    assert_eq!((of(&mut history, 9.0, 241.0), left()), (2, Vec::new()));
    let deletions = history.deletions(10).unwrap();
    let told: Vec<(i64, i64, &str)> =
        deletions.iter().map(|it| (it.count, it.bytes, it.reason.as_str())).collect();
    let budget = "the budget of sound was used up";
    assert_eq!(told, [(2, 2_000, "deleted by ada"), (2, 2_000, budget), (1, 1_000, budget)]);
    assert_eq!(history.sound_bytes().unwrap(), 0);
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
fn copies_are_whole() {
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

/// What makes each version of the schema out of the one before; the last is what is written now.
const STEPS: [&str; 2] =
    [include_str!("../src/history/schema.sql"), include_str!("../src/history/schema_2.sql")];

#[test]
fn a_history_of_every_version_opens_and_is_brought_up_to_date() {
    assert_eq!(
        i64::try_from(STEPS.len()).unwrap(),
        auscult_monitor::history::SCHEMA_VERSION,
        "a step for each"
    );
    for version in 1..=STEPS.len() {
        let folder = tempfile::tempdir().unwrap();
        let old = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
        STEPS[..version].iter().for_each(|step| old.execute_batch(step).unwrap());
        old.pragma_update(None, "application_id", 0x6175_7363).unwrap();
        old.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
        old.execute_batch(
            "INSERT INTO machines (id, name, added) VALUES (1, 'pump', 1780272000);
             INSERT INTO models (id, machine, version, file, hash, origin, note, threshold, reference_count, visits, valid_from)
             VALUES (1, 1, 1, 'models/pump/0001.auscult', 'abc', 'learned', 'learnt', 1.5, 100, 5, 1780272000);",
        )
        .unwrap();
        drop(old);
        // Who only looks changes nothing, and sees it all.
        assert_eq!(History::read(folder.path()).unwrap().models(1).unwrap()[0].hash, "abc");
        let mut history = History::open(folder.path()).unwrap();
        assert_eq!(history.machine("pump", BEGIN).unwrap(), 1);
        let models = history.models(1).unwrap();
        assert_eq!(models.len(), 1);
        assert_eq!((models[0].came_from(), &models[0].planned), ("abc", &None));
        history.write(&Commit::of(1), BEGIN).unwrap();
        history.check().unwrap();
        drop(history);
        let now = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
        let found: i64 = now.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(found, auscult_monitor::history::SCHEMA_VERSION);
    }
}

//! Machine-months of the monitor's engine: alarms against what was promised, and drift when something moves and when nothing does.
//!
//! `cargo run --release -p auscult-studies --bin months [MONTHS]`
//!
//! A machine is learnt from visits of 30 clips, a minute apart, each on a day of its own; the program's own planner then looks for the rule that keeps one
//! false alarm a month, and the monitor's own engine hears a clip a minute for 30 days. Scores are log-normal: a part of their variance is what
//! a day has in common, a part comes and goes within the hour, the rest is each clip's own. A machine whose visits cannot carry the promise
//! is refused by the program and not watched here; the table says how many were.
//!
//! Expected before it was run:
//! - alarms: at most one a month on average wherever the rule was promised and days do not differ; with days that differ a little within the
//!   Poisson band as well, since a rule that raised a single alarm in the left-out visits is passed over; where days differ much most machines are refused, and the
//!   others may have more than one, because 40 visits cannot show what one day of 40 does;
//! - drift: one run a day, so at most a few of a hundred machine-months flagged while nothing changes, in every row;
//! - a sudden change of two standard deviations is flagged within a few days, a slow one over the month in most machines, and a fault that grows to
//!   four standard deviations in three days is an alarm, flagged as drift or not.
//!
//! A first run had alarms that ended after five normal clips. Those of the monitor's planned rules now end after up to 60, and so do these.
//! Expected of that, before it was run: no more alarms in any row, fewer where clips resemble each other, and so at most one a month within the
//! Poisson band also where days differ much; faults and drift as before.

#![expect(clippy::print_stdout, reason = "a study prints its table")]

use std::collections::BTreeMap;

use auscult::{
    alarm::{AlarmBudget, AlarmState, BudgetPlan, LeftOutSound, Observation},
    calibration::{Calibration, CalibrationClip, NormalRuns},
    core::{Basis, CalibrationScheme, Promise},
};
use auscult_monitor::watch::{
    ClipInput, Engine, EngineMemory, EventKind, Input, RulesRecord, ends_once,
};
use auscult_studies::latent::{DEPENDENCES, Dependence, Stream};
use rayon::prelude::*;

const MINUTE: f64 = 60.0;
const DAY: f64 = 86_400.0;
const DAYS: u32 = 30;
const CLIPS_A_DAY: u32 = 1_440;
const CLIPS_A_VISIT: usize = 30;
const CLEAR: usize = 5;
const VISITS: [usize; 2] = [20, 60];

/// What happens in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Nothing,
    Sudden,
    Slow,
    Season,
    Fault,
}

impl Fate {
    const ALL: [Self; 5] = [Self::Nothing, Self::Sudden, Self::Slow, Self::Season, Self::Fault];

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing changes",
            Self::Sudden => "sudden change on day 10 (2 sd)",
            Self::Slow => "slow change over the month (3 sd)",
            Self::Season => "a season: up and down by 1 sd within the month",
            Self::Fault => "a fault from day 10 on (4 sd within three days)",
        }
    }

    /// How far from normal the machine is.
    fn shift(self, days: f64) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Sudden => 2.0 * f64::from(u8::from(days >= 10.0)),
            Self::Slow => 3.0 * days / f64::from(DAYS),
            Self::Season => (std::f64::consts::TAU * days / f64::from(DAYS)).sin(),
            Self::Fault => 4.0 * ((days - 10.0) / 3.0).clamp(0.0, 1.0),
        }
    }

    fn begins(self) -> f64 {
        match self {
            Self::Nothing | Self::Slow | Self::Season => 0.0,
            Self::Sudden | Self::Fault => 10.0,
        }
    }
}

/// What came of one machine-month.
#[derive(Debug, Clone, Copy)]
struct Month {
    alarms: usize,
    /// Days from when it began to the first alarm.
    alarm_after: Option<f64>,
    drift_after: Option<f64>,
}

struct Learnt {
    engine: Engine,
    threshold: f64,
}

/// A machine learnt from visits; `None` if they cannot carry the promise.
fn learn(stream: &mut Stream, visits: usize) -> anyhow::Result<Option<Learnt>> {
    let mut recordings = Vec::with_capacity(visits);
    let mut clips = Vec::with_capacity(visits * CLIPS_A_VISIT);
    for group in 0..visits {
        stream.begin_day();
        let scores: Vec<f64> = (0..CLIPS_A_VISIT).map(|_| stream.score(0.0)).collect();
        clips.extend(scores.iter().map(|&score| CalibrationClip { score, group, domain: None }));
        recordings.push(scores);
    }
    let calibration = Calibration::of_clips(Basis::Visits, clips);
    let left_out = LeftOutSound {
        calibration: &calibration,
        scheme: CalibrationScheme::Auto,
        recordings: &recordings,
        confidence: None,
    };
    let budget: AlarmBudget = "1/month".parse()?;
    let plan = BudgetPlan::of(left_out, budget, MINUTE, CLEAR)?;
    let (Some(choice), Some(alarm)) = (plan.chosen, plan.alarm()) else { return Ok(None) };
    let promise = Promise { rate: choice.rate, confidence: None };
    let Some(threshold) = calibration.promised_threshold(promise) else { return Ok(None) };
    // As the monitor lets it end.
    let alarm = ends_once(alarm, choice.rate, MINUTE);
    let rules = RulesRecord { alarm, remind_seconds: None }.check()?;
    let mut engine = Engine::resume("machine", rules, EngineMemory::new(0.0));
    engine.watch_drift(NormalRuns::of(&calibration));
    Ok(Some(Learnt { engine, threshold }))
}

fn watch(stream: &mut Stream, learnt: Learnt, fate: Fate) -> Month {
    let Learnt { mut engine, threshold } = learnt;
    let mut month = Month { alarms: 0, alarm_after: None, drift_after: None };
    for day in 0..DAYS {
        stream.begin_day();
        for minute in 0..CLIPS_A_DAY {
            let began = f64::from(day) * DAY + f64::from(minute) * MINUTE;
            let days = began / DAY;
            let score = stream.score(fate.shift(days));
            let is_anomalous = score > threshold;
            let clip = ClipInput {
                observation: if is_anomalous {
                    Observation::Anomalous
                } else {
                    Observation::Normal
                },
                began,
                score: Some(score),
                p_value: None,
                reason: String::new(),
                heard: None,
                differs_most: None,
                bands: Vec::new(),
                nearest: None,
            };
            for event in engine.apply(began + MINUTE, &Input::Clip(clip)) {
                let after = Some(days - fate.begins()).filter(|after| *after >= 0.0);
                match event.kind {
                    EventKind::State if event.to == AlarmState::Alarm => {
                        month.alarms += 1;
                        month.alarm_after = month.alarm_after.or(after);
                    }
                    EventKind::Drift if engine.facts().is_drifting => {
                        month.drift_after = month.drift_after.or(after);
                    }
                    _ => {}
                }
            }
        }
    }
    month
}

fn main() -> anyhow::Result<()> {
    let months: u64 = std::env::args().nth(1).map_or(Ok(1_000), |text| text.parse())?;
    // Together the dependences have the number of quiet machine-months that was asked for.
    let each = months.div_ceil(DEPENDENCES.len() as u64);
    for visits in VISITS {
        println!("## {visits} visits of {CLIPS_A_VISIT} clips\n");
        println!(
            "| clips | watched | false alarms a machine-month | Poisson band of the promise | drift while nothing changes |"
        );
        println!("|---|---|---|---|---|");
        let mut rows = Vec::new();
        for dependence in DEPENDENCES {
            let mut found: BTreeMap<Fate, Vec<Month>> = BTreeMap::new();
            for fate in Fate::ALL {
                let count = if fate == Fate::Nothing { each } else { each.div_ceil(10) };
                found.insert(fate, run(dependence, visits, fate, count)?);
            }
            let quiet = &found[&Fate::Nothing];
            let (watched, alarms) = (quiet.len(), quiet.iter().map(|it| it.alarms).sum::<usize>());
            let drifts = quiet.iter().filter(|it| it.drift_after.is_some()).count();
            let band = 1.96 * (watched as f64).sqrt() / watched.max(1) as f64;
            println!(
                "| {} | {watched} of {each} | {:.3} | up to {:.3} | {drifts} of {watched} |",
                dependence.name,
                alarms as f64 / watched.max(1) as f64,
                1.0 + band
            );
            rows.push((dependence, found));
        }
        println!(
            "\n| clips | what happens | alarm (days after) | drift (days after) |\n|---|---|---|---|"
        );
        for (dependence, found) in rows {
            for (fate, months) in found.into_iter().skip(1) {
                let alarms = delays(&months, |month| month.alarm_after);
                let drifts = delays(&months, |month| month.drift_after);
                println!("| {} | {} | {alarms} | {drifts} |", dependence.name, fate.name());
            }
        }
        println!();
    }
    Ok(())
}

/// How many of the machine-months had it, and after how many days in the median.
fn delays(months: &[Month], of: impl Fn(&Month) -> Option<f64>) -> String {
    let mut days: Vec<f64> = months.iter().filter_map(of).collect();
    days.sort_by(f64::total_cmp);
    let median = days.get(days.len() / 2).map_or(String::new(), |days| format!(" ({days:.1})"));
    format!("{} of {}{median}", days.len(), months.len())
}

fn run(
    dependence: Dependence,
    visits: usize,
    fate: Fate,
    count: u64,
) -> anyhow::Result<Vec<Month>> {
    let one = |number: u64| -> anyhow::Result<Option<Month>> {
        let mut stream = Stream::new(1_000 * visits as u64 + number, dependence);
        let learnt = learn(&mut stream, visits)?;
        Ok(learnt.map(|learnt| watch(&mut stream, learnt, fate)))
    };
    let months: Vec<Option<Month>> =
        (0..count).into_par_iter().map(one).collect::<Result<_, _>>()?;
    Ok(months.into_iter().flatten().collect())
}

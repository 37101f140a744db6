//! The page on the last days of a machine, or of all of them, made by the report crate from the history.

use std::{path::Path, sync::Arc};

use auscult::{
    Changed, ClipCondition, ClipRecord, ClipScore, FrontEnds, Machine, ScoredClip,
    alarm::{AlarmState, Observation},
    plural,
    quality::third_octaves,
    record::{ClipTime, RecordPromise, SpectrumDifference, TimeOrigin},
};
use auscult_report::{Machines, Report, State, moment};

use crate::{
    clock::utc,
    data::DataFolder,
    error::{Error, Result},
    history::{ClipQuery, ClipRow, EventQuery, History},
    watch::{Event, EventKind, MachineStatus},
};

/// One HTML page on the last `days` days of a machine, up to its last clip.
///
/// # Errors
///
/// If the history cannot be read, or the machine has no model yet.
pub fn week_page(
    data: &DataFolder,
    machine: &str,
    days: u32,
    front_ends: &FrontEnds,
) -> Result<String> {
    let history = History::read(data.root())?;
    let days = Days::of(data, &history, machine, days, front_ends)?;
    Ok(days.report().render())
}

/// One HTML page on the last `days` days of every machine that is watched, the worst first, and the names of those that have no
/// model yet and are not on it.
///
/// # Errors
///
/// If the history cannot be read, or no machine has a model yet.
pub fn site_page(
    data: &DataFolder,
    days: u32,
    front_ends: &FrontEnds,
) -> Result<(String, Vec<String>)> {
    let history = History::read(data.root())?;
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for MachineStatus { name, .. } in history.statuses()? {
        match Days::of(data, &history, &name, days, front_ends) {
            Ok(days) => all.push(days),
            Err(Error::Refused(_)) => left_out.push(name),
            Err(error) => return Err(error),
        }
    }
    if all.is_empty() {
        return Err(Error::Refused("no machine has a model yet".to_owned()));
    }
    let title = format!("The last {}", plural(days as usize, "day"));
    let page = Machines::new(&title, all.iter().map(Days::report).collect()).render();
    Ok((page, left_out))
}

/// What the history has of some days of a machine.
struct Days {
    machine: Machine,
    status: MachineStatus,
    records: Vec<ClipRecord>,
    notes: Vec<String>,
    /// A clip of the last alarm, by its number.
    alarm_clip: Option<u64>,
    end: f64,
}

/// Events of a page; there may be more in the history.
const MOST_EVENTS: usize = 20;

/// How often the sound of a healthy machine is taken for drift, of runs of clips.
const DRIFT_LEVEL: f64 = 0.01;

impl Days {
    fn of(
        data: &DataFolder,
        history: &History,
        name: &str,
        days: u32,
        front_ends: &FrontEnds,
    ) -> Result<Self> {
        let unknown = || Error::UnknownMachine { name: name.to_owned() };
        let id = history.machine_id(name)?.ok_or_else(unknown)?;
        let standing = history.standing(id)?.ok_or_else(unknown)?;
        let model = history.models(id)?.pop();
        let model = model.ok_or_else(|| Error::Refused(format!("{name} is still being learnt")))?;
        let machine = Machine::open_with(data.file(&model.file), front_ends)?;
        let end = standing.memory.time;
        // Recordings may be older than the day they arrived on.
        let last = history.newest_clip(id)?.unwrap_or(end);
        let from = last - f64::from(days) * 86_400.0;
        let hertz: Arc<[f64]> = third_octaves(machine.reading().length().sample_rate()).into();
        let (mut records, mut still, mut deaf) = (Vec::new(), 0, 0);
        let query = ClipQuery { machine: Some(id), from: Some(from), to: None };
        history.clips(&query, &mut |clip| {
            match clip.row.observation {
                // A machine that stands still and a microphone at fault say nothing of how the machine sounds.
                Some(Observation::NotRunning) => still += 1,
                Some(Observation::SensorFault) => deaf += 1,
                _ if clip.row.model.is_some() => {
                    records.push(record(clip.row, data, &hertz, clip.model_hash));
                }
                _ => {}
            }
            Ok(())
        })?;
        let events = history.events(&EventQuery { machine: Some(id), ..EventQuery::default() })?;
        let mut notes: Vec<String> = Vec::new();
        for (count, what) in
            [(still, "the machine did not run"), (deaf, "the microphone was at fault")]
        {
            if count > 0 {
                notes
                    .push(format!("{what} during {}, which are not judged", plural(count, "clip")));
            }
        }
        notes.extend(standing.status.rule.iter().map(|rule| format!("an alarm is {}", rule.text)));
        notes.extend(unheard(&records));
        notes.extend(event_notes(&events, from));
        let is_alarm =
            |event: &&Event| event.kind == EventKind::State && event.to == AlarmState::Alarm;
        let alarm = events.iter().filter(|event| event.unix_seconds >= from).rfind(is_alarm);
        let alarm_clip = alarm.and_then(|alarm| alarm.details.clips.last().copied());
        Ok(Self { machine, status: standing.status, records, notes, alarm_clip, end })
    }

    fn report(&self) -> Report<'_> {
        let report = Report::new(&self.status.name, &self.machine, &self.records)
            .with_only_notes(self.notes.iter().cloned())
            .with_changed(self.drift())
            .written_at(self.end);
        let next_step = self.next_step(report.state());
        report.with_next_step(Some(next_step))
    }

    /// The drift flag, as reports show what has changed as a whole.
    fn drift(&self) -> Option<Changed> {
        let model = self.machine.model();
        self.status.drift.then(|| Changed {
            level: DRIFT_LEVEL,
            p_value: DRIFT_LEVEL,
            clips: self.records.len(),
            differing: self
                .records
                .iter()
                .filter(|it| it.p_value().is_some_and(|p_value| p_value <= 0.1))
                .count(),
            compared_with: model.references().provenance().len(),
            basis: model.calibration().basis(),
            what_differs: Vec::new(),
            next_step: String::new(),
        })
    }

    /// What people do now, with the monitor's own commands.
    fn next_step(&self, state: State) -> String {
        let MachineStatus { name, state: live, reason, .. } = &self.status;
        let clip = self.alarm_clip.map_or("CLIP".to_owned(), |clip| clip.to_string());
        let normal = format!(
            "If it is known to be well, say so: auscult watch feedback {name} {clip} normal, then auscult watch accept {name}."
        );
        if let Some(reason) = &self.status.out_of_service {
            return format!(
                "Nothing: it is out of service ({reason}). auscult watch in-service {name} puts it back."
            );
        }
        match live.as_str() {
            "alarm" => format!(
                "Listen to the clips below, then look at the machine. auscult watch acknowledge {name} says that somebody does. {normal}"
            ),
            "sensor-fault" => format!("Look at the microphone, not at the machine: {reason}."),
            "no-data" => match &self.status.source.problem {
                Some(problem) => format!("No sound arrives: {problem}."),
                None => "No sound arrives: look at the recorder and its connection.".to_owned(),
            },
            _ if self.status.drift => format!(
                "The normal has moved. Look at microphone, load and season. If the machine is well: auscult watch accept-drift \
                 {name}, or learn it anew: auscult watch baseline {name}."
            ),
            _ if state == State::Normal => "Nothing.".to_owned(),
            _ => format!("Listen to the clips below, and ask what ran at that time. {normal}"),
        }
    }
}

/// How many anomalous clips cannot be heard on the page.
fn unheard(records: &[ClipRecord]) -> Option<String> {
    let anomalous = || records.iter().filter(|record| record.is_anomalous());
    let silent = anomalous().filter(|record| !Path::new(&record.path).is_file()).count();
    (silent > 0).then(|| {
        let all = plural(anomalous().count(), "anomalous clip");
        format!("the sound of {silent} of {all} was not kept, so it is not heard here")
    })
}

/// What happened since a time, the newest first, and the state before it.
fn event_notes(events: &[Event], from: f64) -> Vec<String> {
    let note = |event: &Event| {
        let state =
            if event.kind == EventKind::State { event.to.name() } else { event.kind.name() };
        format!("{}: {state}: {}", moment(event.unix_seconds), event.reason)
    };
    let (before, during): (Vec<&Event>, Vec<&Event>) =
        events.iter().partition(|event| event.unix_seconds < from);
    let (reminders, others): (Vec<&Event>, Vec<&Event>) =
        during.into_iter().partition(|event| event.kind == EventKind::Reminder);
    let mut notes: Vec<String> =
        others.iter().rev().take(MOST_EVENTS).map(|event| note(event)).collect();
    if let Some(last) = reminders.last() {
        let count = plural(reminders.len(), "reminder");
        notes.push(format!(
            "{count} of an alarm that nobody has acknowledged, the last at {}",
            moment(last.unix_seconds)
        ));
    }
    // What the days began with.
    let began = before.iter().rfind(|event| event.kind == EventKind::State);
    notes.extend(began.map(|event| note(event)));
    notes
}

/// A clip of the history as a record, with the bands that were kept of it.
fn record(
    row: ClipRow,
    data: &DataFolder,
    hertz: &Arc<[f64]>,
    model_hash: Option<String>,
) -> ClipRecord {
    let condition = match row.verdict.as_str() {
        "silent" => ClipCondition::Silent,
        _ => ClipCondition::Usable,
    };
    let verdict = row.verdict.parse().ok();
    let path = match &row.sound {
        Some(sound) => data.file(sound).display().to_string(),
        // By the number that feedback is given by.
        None if row.path == "live" => format!("clip {}", row.step),
        None => row.path,
    };
    let mut record = ClipRecord::of(path, row.start_seconds, condition);
    record.seconds = row.seconds;
    record.time = Some(ClipTime {
        unix_seconds: row.time,
        utc: utc(row.time),
        origin: row.time_origin.parse().unwrap_or(TimeOrigin::Caller),
    });
    record.scored = row.score.zip(verdict).map(|(value, verdict)| ScoredClip {
        score: ClipScore::new(value, Vec::new()),
        p_value: row.p_value,
        calibrated: row.calibrated,
        verdict,
    });
    let decibels = |middle: f64| {
        let band = row.bands.iter().find(|it| (it.low_hertz..it.high_hertz).contains(&middle));
        band.map_or(0.0, |band| band.decibels)
    };
    record.difference = (!row.bands.is_empty()).then(|| SpectrumDifference {
        closest: Arc::from(row.nearest.as_deref().unwrap_or_default()),
        reference: 0,
        hertz: Arc::clone(hertz),
        decibels: hertz.windows(2).map(|edges| decibels((edges[0] * edges[1]).sqrt())).collect(),
    });
    record.heard = row.heard.unwrap_or_default();
    record.differs_most = row.differs_most;
    record.reason = row.reason;
    record.promise =
        RecordPromise { is_promised: row.promised, condition: row.promised_if.map(Arc::from) };
    record.alarm = row.alarm.parse().ok();
    record.error = row.error;
    record.model_hash = Arc::from(model_hash.unwrap_or_default());
    record
}

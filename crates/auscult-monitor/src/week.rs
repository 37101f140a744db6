//! The page on a machine's last days, made by the report crate from the history.

use std::sync::Arc;

use auscult::{
    ClipCondition, ClipRecord, ClipScore, FrontEnds, Machine, ScoredClip,
    alarm::Observation,
    record::{ClipTime, RecordPromise, TimeOrigin},
};
use auscult_report::Report;

use crate::{
    clock::utc,
    data::DataFolder,
    error::{Error, Result},
    history::{ClipQuery, ClipRow, EventQuery, History},
    watch::{Event, EventKind},
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
    let unknown = || Error::UnknownMachine { name: machine.to_owned() };
    let id = history.machine_id(machine)?.ok_or_else(unknown)?;
    let model = history.models(id)?.pop();
    let model = model.ok_or_else(|| Error::Refused(format!("{machine} is still being learnt")))?;
    let opened = Machine::open_with(data.file(&model.file), front_ends)?;
    let end = history.standing(id)?.map_or(0.0, |standing| standing.memory.time);
    // Recordings may be older than the day they arrived on.
    let last = history.newest_clip(id)?.unwrap_or(end);
    let from = last - f64::from(days) * 86_400.0;
    let (mut records, mut still, mut deaf) = (Vec::new(), 0, 0);
    let query = ClipQuery { machine: Some(id), from: Some(from), to: None };
    history.clips(&query, &mut |clip| {
        match clip.row.observation {
            // A machine that stands still and a microphone at fault say nothing of how the machine sounds.
            Some(Observation::NotRunning) => still += 1,
            Some(Observation::SensorFault) => deaf += 1,
            _ if clip.row.model.is_some() => records.push(record(clip.row, data, clip.model_hash)),
            _ => {}
        }
        Ok(())
    })?;
    let mut notes: Vec<String> = Vec::new();
    for (count, what) in [(still, "the machine did not run"), (deaf, "the microphone was at fault")]
    {
        if count > 0 {
            notes.push(format!(
                "{what} during {}, which are not judged",
                auscult::plural(count, "clip")
            ));
        }
    }
    let events = history.events(&EventQuery { machine: Some(id), ..EventQuery::default() })?;
    let (before, during): (Vec<&Event>, Vec<&Event>) = events
        .iter()
        .filter(|event| event.kind != EventKind::Reminder)
        .partition(|event| event.unix_seconds < from);
    let tell = |event: &Event| {
        format!("{}: {} ({})", utc(event.unix_seconds.round()), event.reason, event.to)
    };
    notes.extend(during.iter().rev().take(20).map(|event| tell(event)));
    // What the days began with.
    notes.extend(
        before.iter().rev().find(|event| event.kind == EventKind::State).map(|event| tell(event)),
    );
    let title = format!("{machine}, {days} days");
    Ok(Report::new(&title, &opened, &records).with_notes(notes).written_at(end).render())
}

/// A clip of the history as a record; its bands are not kept.
fn record(row: ClipRow, data: &DataFolder, model_hash: Option<String>) -> ClipRecord {
    let condition = match row.verdict.as_str() {
        "silent" => ClipCondition::Silent,
        _ => ClipCondition::Usable,
    };
    let verdict = row.verdict.parse().ok();
    let sound = row.sound.as_ref().map(|sound| data.file(sound).display().to_string());
    let mut record = ClipRecord::of(sound.unwrap_or(row.path), row.start_seconds, condition);
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

//! History played again: the same inputs give the same events.

use auscult::calibration::NormalRuns;

use crate::{
    data::DataFolder,
    error::Result,
    history::{ClipQuery, ClipRow, EventQuery, History},
    watch::{ClipInput, Engine, Event, Input},
};

/// What a replay of one machine gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The machine.
    pub machine: String,
    /// When it began: the earliest moment since which nothing is missing.
    pub began: f64,
    /// Events before that moment, which are not played.
    pub earlier: usize,
    /// Inputs that were played.
    pub inputs: usize,
    /// Events that came out.
    pub events: Vec<Event>,
    /// The first event that differs from the history: what is there, and what came out.
    pub difference: Option<(Option<Event>, Option<Event>)>,
}

/// Plays the history of a machine again, from the earliest moment that is still whole.
///
/// # Errors
///
/// If the history, or a model it names, cannot be read.
pub fn replay(data: &DataFolder, history: &History, machine: &str) -> Result<Option<Replayed>> {
    let Some(id) = history.machine_id(machine)? else { return Ok(None) };
    let mut clips: Vec<ClipRow> = Vec::new();
    let query = ClipQuery { machine: Some(id), ..ClipQuery::default() };
    history.clips(&query, &mut |clip| {
        clips.push(clip.row);
        Ok(())
    })?;
    let checkpoints = history.checkpoints(id)?;
    let whole = checkpoints.into_iter().find_map(|(rules, memory)| {
        let inputs = history.inputs_after(id, memory.step).ok()?;
        let after = clips.iter().filter(|clip| clip.step > memory.step).count();
        let last = clips.iter().map(|clip| clip.step).chain(inputs.iter().map(|it| it.0)).max();
        // Every step since then is there.
        (after + inputs.len() == last.unwrap_or(memory.step).saturating_sub(memory.step) as usize)
            .then_some((rules, memory, inputs))
    });
    let Some((rules, memory, inputs)) = whole else { return Ok(None) };
    let (first, mut events) = (memory.step, Vec::new());
    let began = memory.time;
    let mut engine = Engine::resume(machine, rules.check()?, memory);
    let mut inputs = inputs.into_iter().peekable();
    let mut played = 0;
    let models = history.models(id)?;
    let play = |engine: &mut Engine, taken: f64, input: Input| -> Result<Vec<Event>> {
        if let Input::Model { model, .. } = &input {
            let version = model.as_ref().map(|model| model.version);
            let row = models.iter().find(|row| Some(row.version) == version);
            let normal = match row {
                Some(row) => {
                    let model = auscult::files::load(data.file(&row.file))?;
                    NormalRuns::of(model.calibration())
                }
                None => None,
            };
            engine.watch_drift(normal);
        }
        Ok(engine.apply(taken, &input))
    };
    for clip in clips.into_iter().filter(|clip| clip.step > first) {
        while let Some((_, taken, input)) = inputs.next_if(|(step, ..)| *step < clip.step) {
            events.extend(play(&mut engine, taken, input)?);
            played += 1;
        }
        played += 1;
        match clip.observation {
            None => events.extend(engine.skip(clip.taken)),
            Some(observation) => {
                let input = ClipInput {
                    observation,
                    began: clip.time,
                    score: clip.score,
                    p_value: clip.p_value,
                    reason: clip.reason,
                    heard: clip.heard,
                    differs_most: clip.differs_most,
                    bands: clip.bands,
                    nearest: clip.nearest,
                };
                events.extend(engine.apply(clip.taken, &Input::Clip(input)));
            }
        }
    }
    for (_, taken, input) in inputs {
        events.extend(play(&mut engine, taken, input)?);
        played += 1;
    }
    if let Some(standing) = history.standing(id)? {
        events.extend(engine.advance(standing.memory.time));
    }
    let query = EventQuery { machine: Some(id), ..EventQuery::default() };
    let mut stored: Vec<Event> = history.events(&query)?;
    let all = stored.len();
    stored.retain(|event| event.details.step > first || event.unix_seconds > began);
    stored.sort_by_key(number);
    let (machine, earlier) = (machine.to_owned(), all - stored.len());
    let difference = difference(&stored, &events);
    Ok(Some(Replayed { machine, began, earlier, inputs: played, events, difference }))
}

/// The number at the end of an event's id.
fn number(event: &Event) -> u64 {
    event.id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn difference(stored: &[Event], played: &[Event]) -> Option<(Option<Event>, Option<Event>)> {
    // Sound is written beside the engine.
    let plain = |event: &Event| {
        let mut event = event.clone();
        event.details.sound = None;
        event
    };
    for place in 0..stored.len().max(played.len()) {
        let (old, new) = (stored.get(place).map(plain), played.get(place).map(plain));
        if old != new {
            return Some((old, new));
        }
    }
    None
}

//! The page of one alarm: the report on the sound that was kept of it.

use auscult::{ClipRecord, FrontEnds, Listen, Machine, Sources};
use auscult_report::Report;

use crate::{data::DataFolder, error::Result, history::History, watch::Event};

/// The page of an event, or `None` if no sound was kept or no model judged it.
///
/// # Errors
///
/// If the model or the sound cannot be read.
pub fn event_page(data: &DataFolder, event: &Event) -> Result<Option<String>> {
    let (Some(sound), Some(stamp)) = (&event.details.sound, &event.details.model) else {
        return Ok(None);
    };
    let history = History::read(data.root())?;
    let Some(id) = history.machine_id(&event.machine)? else { return Ok(None) };
    let models = history.models(id)?;
    let Some(model) = models.iter().find(|model| model.version == stamp.version) else {
        return Ok(None);
    };
    let machine = Machine::open_with(data.file(&model.file), &FrontEnds::standard())?;
    let listen = Listen { explain: true, ..Listen::default() };
    let sources = Sources::of([data.file(sound)])?;
    let records: Vec<ClipRecord> =
        machine.listen_with(sources, &listen)?.collect::<auscult::Result<_>>()?;
    let title = format!("{}: {}", event.machine, event.to);
    let report = Report::new(&title, &machine, &records);
    Ok(Some(report.with_notes([event.sentence()]).written_at(event.unix_seconds).render()))
}

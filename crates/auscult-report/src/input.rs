//! What a report is made of.

use std::{borrow::Cow, ops::Deref};

use auscult::{
    ClipCondition, ClipRecord, Machine, Model, Reading, Verdict, audio::Location, features::Axis,
};

/// A report on a machine, before it is rendered.
///
/// # Examples
///
/// ```no_run
/// use auscult::{ClipRecord, Listen, Machine, Sources};
/// use auscult_report::Report;
///
/// let pump = Machine::open("pump.auscult")?;
/// let listen = Listen { explain: true, ..Listen::default() };
/// let records: Vec<ClipRecord> =
///     pump.listen_with(Sources::of(["today/"])?, &listen)?.collect::<auscult::Result<_>>()?;
/// let page = Report::new("Pump 3", &pump, &records).render();
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) title: &'a str,
    pub(crate) model: &'a Model,
    pub(crate) axis: &'a Axis,
    pub(crate) clips: Vec<ReportClip<'a>>,
    /// Shown in the footer.
    pub(crate) version: &'a str,
    /// Sentences shown at the top.
    pub(crate) notes: Vec<String>,
}

/// One clip of a report.
#[derive(Debug, Clone)]
pub(crate) struct ReportClip<'a> {
    pub(crate) record: Cow<'a, ClipRecord>,
    /// What the clip really is, where that is known.
    pub(crate) truth: Option<String>,
    /// Its sound, for clips shown in detail.
    pub(crate) sound: Option<ReportSound>,
}

/// The sound of a clip, to be seen and heard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportSound {
    /// Samples a second, of both sounds.
    pub(crate) sample_rate: u32,
    /// Mono samples; full scale is 1. Values beyond it are cut, values that are not finite are
    /// silence.
    pub(crate) samples: Vec<f32>,
    /// The closest normal clip.
    pub(crate) nearest: Option<Vec<f32>>,
    /// What the closest normal clip is called.
    pub(crate) nearest_label: Option<String>,
}

/// At most this many clips are shown in detail. Sound beyond that is not in the page.
pub const MOST_DETAILS: usize = 10;

impl<'a> Report<'a> {
    /// A report on records in the order they were recorded.
    ///
    /// The sound of the furthest anomalous clips, and of the normal clip closest to each, is read again from where it
    /// was, so that memory never holds that of all; what is no longer there is noted on the page. Records that explain
    /// their bands ([`auscult::Listen::explain`]) show their reasons.
    pub fn new(title: &'a str, machine: &'a Machine, records: &'a [ClipRecord]) -> Self {
        Self::of_places(title, machine, records, &|path| Location::File(path.into()))
    }

    /// As [`Report::new`], with recordings read from where `place` says, such as a column of a table.
    pub fn of_places(
        title: &'a str,
        machine: &'a Machine,
        records: &'a [ClipRecord],
        place: &dyn Fn(&str) -> Location,
    ) -> Self {
        let model = machine.model();
        let mut notes = Vec::new();
        let shown = furthest(records);
        let clip = |(index, record): (usize, &'a ClipRecord)| {
            let sound = shown.contains(&index).then(|| sound_of(record, machine.reading(), place));
            let sound = sound.and_then(|sound| {
                sound.map_err(|why| notes.push(format!("{}: {why}", record.name()))).ok()
            });
            ReportClip { record: Cow::Borrowed(record), truth: None, sound }
        };
        let clips = records.iter().enumerate().map(clip).collect();
        let axis = machine.front_end().axis();
        Self { title, model, axis, clips, version: env!("CARGO_PKG_VERSION"), notes }
    }

    /// This report with sentences at its top, such as which recordings could not be read.
    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes = notes.into_iter().chain(self.notes).collect();
        self
    }

    /// This report with what each clip really is, where that is known.
    #[must_use]
    pub fn with_truth(mut self, truth: impl Fn(&ClipRecord) -> Option<String>) -> Self {
        for clip in &mut self.clips {
            clip.truth = truth(&clip.record);
        }
        self
    }
}

impl Deref for ReportClip<'_> {
    type Target = ClipRecord;

    fn deref(&self) -> &ClipRecord {
        &self.record
    }
}

impl ReportClip<'_> {
    /// What is remarkable about the recording: a name and a sentence each.
    pub(crate) fn remarks_in_full(&self) -> Vec<(&'static str, String)> {
        if self.condition == ClipCondition::Usable {
            return self.record.remark_sentences();
        }
        vec![(self.condition.name(), self.condition.to_string())]
    }

    /// The clip's score, if it has one.
    pub(crate) fn score(&self) -> Option<f64> {
        self.record.score()
    }

    /// The clip's verdict, if it was scored.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.scored.as_ref().map(|scored| scored.verdict)
    }
}

/// Indices of the anomalous clips with the highest scores, as many as are shown in detail.
fn furthest(records: &[ClipRecord]) -> Vec<usize> {
    let score = |index: &usize| records[*index].score().unwrap_or(f64::NEG_INFINITY);
    let mut anomalous: Vec<usize> =
        (0..records.len()).filter(|&index| records[index].is_anomalous()).collect();
    anomalous.sort_by(|a, b| score(b).total_cmp(&score(a)));
    anomalous.truncate(MOST_DETAILS);
    anomalous
}

/// The sound of a clip and of the reference closest to it, or why it cannot be heard.
fn sound_of(
    record: &ClipRecord,
    reading: &Reading,
    place: &dyn Fn(&str) -> Location,
) -> Result<ReportSound, &'static str> {
    if record.path() == "-" {
        return Err("standard input cannot be read twice, so it is not seen or heard here");
    }
    let samples_at = |path: &str, start| reading.samples_at(&place(path), start);
    let samples = samples_at(record.path(), record.start_seconds())
        .ok_or("the recording is no longer there, so it is not seen or heard here")?;
    let bands = record.explanation.as_ref().map(|explanation| &explanation.bands);
    let nearest = bands.and_then(|bands| bands.first()?.reference.as_ref());
    Ok(ReportSound {
        sample_rate: reading.length().sample_rate(),
        samples,
        nearest: nearest.and_then(|from| samples_at(&from.source, from.start_seconds)),
        nearest_label: nearest.map(|reference| reference.source.clone()),
    })
}

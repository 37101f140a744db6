//! What a report is made of.

use std::{borrow::Cow, ops::Deref};

use auscult::{
    Changed, ClipCondition, ClipRecord, Listen, Machine, Model, Verdict, audio::Location,
    features::Axis,
};

use crate::{difference::Difference, hearing};

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
    /// Whether the run as a whole differs from the references.
    pub(crate) changed: Option<Changed>,
    /// When the page was made, in seconds since 1970.
    pub(crate) written: Option<f64>,
    /// What to do, where the caller knows it better.
    pub(crate) next_step: Option<String>,
}

/// One clip of a report.
#[derive(Debug, Clone)]
pub(crate) struct ReportClip<'a> {
    pub(crate) record: Cow<'a, ClipRecord>,
    /// What the clip really is, where that is known.
    pub(crate) truth: Option<String>,
    /// Levels against its closest normal clip, of anomalous clips.
    pub(crate) difference: Option<Difference>,
    /// Its sound, for clips that are seen and heard.
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

impl<'a> Report<'a> {
    /// A report on records in the order they were recorded.
    ///
    /// Anomalous clips, and the normal clip closest to each, are read again from where they were: all of them for their
    /// spectra, and the furthest of each kind to be seen and heard, so that memory never holds the sound of all. What is
    /// no longer there is noted on the page. Records that explain their bands ([`Listen::explain`]) show their reasons.
    pub fn new(title: &'a str, machine: &'a Machine, records: &'a [ClipRecord]) -> Self {
        let place = |path: &str| Location::File(path.into());
        Self::of_run(title, machine, records, &Listen::default(), &place)
    }

    /// As [`Report::new`], for records that were listened to in a way of its own, of recordings that are where `place`
    /// says, such as a column of a table.
    pub fn of_run(
        title: &'a str,
        machine: &'a Machine,
        records: &'a [ClipRecord],
        listen: &Listen,
        place: &dyn Fn(&str) -> Location,
    ) -> Self {
        let of = |record| ReportClip {
            record: Cow::Borrowed(record),
            truth: None,
            difference: None,
            sound: None,
        };
        let mut clips: Vec<ReportClip<'a>> = records.iter().map(of).collect();
        let notes = hearing::hear(machine, listen, place, &mut clips);
        Self {
            title,
            model: machine.model(),
            axis: machine.front_end().axis(),
            clips,
            version: env!("CARGO_PKG_VERSION"),
            notes,
            changed: None,
            written: None,
            next_step: None,
        }
    }

    /// This report with sentences at its top, such as which recordings could not be read.
    #[must_use]
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes = notes.into_iter().chain(self.notes).collect();
        self
    }

    /// This report with these sentences at its top, and none on recordings that could not be read again.
    #[must_use]
    pub fn with_only_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes = notes.into_iter().collect();
        self
    }

    /// This report with another answer to what is to be done: one or several sentences.
    #[must_use]
    pub fn with_next_step(mut self, next_step: Option<String>) -> Self {
        self.next_step = next_step;
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

    /// This report with the judgement of its clips as a whole; `None` if they vary as the references do.
    #[must_use]
    pub fn with_changed(mut self, changed: Option<Changed>) -> Self {
        self.changed = changed;
        self
    }

    /// This report with the time it was made, in seconds since 1970-01-01T00:00:00Z. Without it the page has no date.
    #[must_use]
    pub fn written_at(mut self, unix_seconds: f64) -> Self {
        self.written = Some(unix_seconds);
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

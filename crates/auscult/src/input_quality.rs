//! Input quality of many clips: each kind of remark is reported once, with how many clips have it.

use std::{collections::BTreeMap, fmt};

use auscult_core::{Control, Event};
use serde::Serialize;

/// Clips seen so far.
#[derive(Debug, Default)]
pub(crate) struct QualityTally {
    clips: usize,
    remarked: usize,
    levels: Vec<f64>,
    kinds: BTreeMap<&'static str, Kind>,
}

/// The clips with one remark.
#[derive(Debug)]
struct Kind {
    count: usize,
    /// The first of them, with what was remarked on it.
    first: String,
    sentence: String,
    is_reported: bool,
}

/// The input quality of a run, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QualitySummary {
    /// Clips that were measured.
    pub clips: usize,
    /// Clips with at least one remark.
    pub remarked: usize,
    /// Lowest, median and highest level.
    pub level_dbfs: Option<[f64; 3]>,
    /// How many clips have each remark.
    pub remarks: BTreeMap<&'static str, usize>,
}

impl QualityTally {
    /// Counts a clip.
    pub(crate) fn add(
        &mut self,
        name: &str,
        level_dbfs: Option<f64>,
        remarks: &[(&'static str, String)],
    ) {
        self.clips += 1;
        self.levels.extend(level_dbfs);
        self.remarked += usize::from(!remarks.is_empty());
        for (kind, sentence) in remarks {
            let first = || Kind {
                count: 0,
                first: name.to_owned(),
                sentence: sentence.clone(),
                is_reported: false,
            };
            self.kinds.entry(kind).or_insert_with(first).count += 1;
        }
    }

    /// Reports each remark once, as soon as it is there: for sound that may never end.
    pub(crate) fn report_first(&mut self, control: &Control) {
        for kind in self.kinds.values_mut().filter(|kind| !kind.is_reported) {
            kind.is_reported = true;
            control.report(Event::Note(&format!("{}: {}", kind.first, kind.sentence)));
        }
    }

    /// Reports each remark once, with how many clips have it: nobody reads a page of equal lines.
    pub(crate) fn report(&self, control: &Control) {
        for kind in self.kinds.values() {
            let Kind { count, first, sentence, .. } = kind;
            let others = match count {
                1 if kind.is_reported => continue,
                1 => String::new(),
                count => format!(" ({count} of {} clips; this is the first)", self.clips),
            };
            control.report(Event::Note(&format!("{first}: {sentence}{others}")));
        }
    }

    /// What was seen; `None` without clips.
    pub(crate) fn summary(&self) -> Option<QualitySummary> {
        let mut levels = self.levels.clone();
        levels.sort_by(f64::total_cmp);
        let level = |share: f64| {
            let last = levels.len().checked_sub(1)?;
            levels.get((share * last as f64) as usize).copied()
        };
        let level_dbfs = level(0.0)
            .zip(level(0.5))
            .zip(level(1.0))
            .map(|((lowest, median), highest)| [lowest, median, highest]);
        let Self { clips, remarked, .. } = *self;
        let remarks = self.kinds.iter().map(|(name, kind)| (*name, kind.count)).collect();
        (clips > 0).then_some(QualitySummary { clips, remarked, level_dbfs, remarks })
    }
}

impl fmt::Display for QualitySummary {
    /// One line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([lowest, median, highest]) = self.level_dbfs {
            write!(formatter, "level {lowest:.0} to {highest:.0} dBFS, median {median:.0}; ")?;
        }
        if self.remarked == 0 {
            return write!(formatter, "nothing to remark on");
        }
        let kinds: Vec<String> =
            self.remarks.iter().map(|(kind, clips)| format!("{clips} {kind}")).collect();
        let plural = if self.clips == 1 { "" } else { "s" };
        write!(
            formatter,
            "{} of {} clip{plural} with remarks: {}",
            self.remarked,
            self.clips,
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use std::{
        ops::ControlFlow,
        sync::{Arc, Mutex},
    };

    use auscult_core::{Cancel, QualityMeter};

    use super::*;

    #[test]
    fn clips_are_counted_once_and_remarks_each() {
        let mut meter = QualityMeter::new(16_000);
        let tone = |gain: f32, offset: f32| -> Vec<f32> {
            (0..16_000).map(|i| ((i as f32 * 0.3).sin() * gain).clamp(-1.0, 1.0) + offset).collect()
        };
        let mut tally = QualityTally::default();
        for (gain, offset) in [(0.5, 0.0), (2.0, 0.0), (3.0, 0.2)] {
            let quality = meter.measure(&tone(gain, offset)).unwrap();
            let remarks: Vec<_> =
                quality.remarks().map(|remark| (remark.name(), remark.to_string())).collect();
            tally.add("clip", Some(quality.level_dbfs), &remarks);
        }
        tally.add("again", Some(-9.0), &[("copy", "copy: of clip".to_owned())]);
        let summary = tally.summary().unwrap();
        assert_eq!(
            summary.to_string(),
            "level -9 to -1 dBFS, median -9; 3 of 4 clips with remarks: 2 clipped, 1 copy, 1 offset"
        );
        assert!(QualityTally::default().summary().is_none());
        let notes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&notes);
        let events = move |event: Event<'_>| {
            sink.lock().unwrap().push(format!("{event:?}"));
            ControlFlow::Continue(())
        };
        let control = Control::new(Cancel::new(), Arc::new(events));
        tally.report(&control);
        let found = std::mem::take(&mut *notes.lock().unwrap());
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("(2 of 4 clips; this is the first)"), "{found:?}");
        assert_eq!(found[1], "Note(again: copy: of clip)");
        tally.report_first(&control);
        tally.report_first(&control);
        assert_eq!(notes.lock().unwrap().len(), 3, "each once");
    }
}

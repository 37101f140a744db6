//! Input quality of many clips: the first remarks are told one by one, all are counted.

use std::{collections::BTreeMap, fmt};

use auscult_core::quality::Remark;
use serde::Serialize;

use crate::printer::{Printer, count};

/// More remarks than these are only counted: a page of equal lines is read by nobody.
const MOST_TOLD: usize = 10;

/// Clips seen so far.
#[derive(Debug, Default)]
pub(crate) struct QualityTally {
    clips: usize,
    remarked: usize,
    levels: Vec<f64>,
    kinds: BTreeMap<&'static str, usize>,
}

/// What was seen, in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct QualitySummary {
    clips: usize,
    /// Clips with at least one remark.
    remarked: usize,
    /// Lowest, median and highest level.
    level_dbfs: Option<[f64; 3]>,
    /// How many clips have each remark.
    remarks: BTreeMap<&'static str, usize>,
}

impl QualityTally {
    /// Counts a clip, and tells its remarks as long as there are few.
    pub(crate) fn add(
        &mut self,
        name: &str,
        level_dbfs: Option<f64>,
        remarks: &[Remark],
        copy_of: Option<&str>,
        printer: &Printer,
    ) {
        self.clips += 1;
        self.levels.extend(level_dbfs);
        let mut remarks: Vec<(&'static str, String)> =
            remarks.iter().map(|remark| (remark.name(), remark.to_string())).collect();
        remarks.extend(copy_of.map(|first| ("copy", format!("copy: the same sound as {first}"))));
        self.remarked += usize::from(!remarks.is_empty());
        for (kind, words) in remarks {
            *self.kinds.entry(kind).or_default() += 1;
            if self.remarked <= MOST_TOLD {
                printer.note(format!("{name}: {words}"));
            }
        }
    }

    /// What was seen; `None` without clips.
    pub(crate) fn summary(mut self) -> Option<QualitySummary> {
        self.levels.sort_by(f64::total_cmp);
        let level = |share: f64| {
            let last = self.levels.len().checked_sub(1)?;
            self.levels.get((share * last as f64) as usize).copied()
        };
        let level_dbfs = level(0.0)
            .zip(level(0.5))
            .zip(level(1.0))
            .map(|((lowest, median), highest)| [lowest, median, highest]);
        let Self { clips, remarked, kinds: remarks, .. } = self;
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
        write!(
            formatter,
            "{} of {} with remarks: {}",
            self.remarked,
            count(self.clips, "clip"),
            kinds.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use auscult_core::QualityMeter;

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
            let remarks: Vec<Remark> = quality.remarks().collect();
            tally.add("clip", Some(quality.level_dbfs), &remarks, None, &Printer);
        }
        tally.add("again", Some(-9.0), &[], Some("clip"), &Printer);
        let summary = tally.summary().unwrap();
        assert_eq!(
            summary.to_string(),
            "level -9 to -1 dBFS, median -9; 3 of 4 clips with remarks: 2 clipped, 1 copy, 1 offset"
        );
        assert!(QualityTally::default().summary().is_none());
    }
}

//! Input quality of many clips: the first remarks are reported one by one, all are counted.

use std::{collections::BTreeMap, fmt};

use auscult_core::{Control, Event};
use serde::Serialize;

/// More remarks than these are only counted: nobody reads a page of equal lines.
const MOST_REPORTED: usize = 10;

/// Clips seen so far.
#[derive(Debug, Default)]
pub(crate) struct QualityTally {
    clips: usize,
    remarked: usize,
    levels: Vec<f64>,
    kinds: BTreeMap<&'static str, usize>,
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
    /// Counts a clip, and reports its remarks as long as there are few.
    pub(crate) fn add(
        &mut self,
        name: &str,
        level_dbfs: Option<f64>,
        remarks: &[(&'static str, String)],
        control: &Control,
    ) {
        self.clips += 1;
        self.levels.extend(level_dbfs);
        self.remarked += usize::from(!remarks.is_empty());
        for (kind, sentence) in remarks {
            *self.kinds.entry(kind).or_default() += 1;
            if self.remarked <= MOST_REPORTED {
                control.report(Event::Note(&format!("{name}: {sentence}")));
            }
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
        let remarks = self.kinds.clone();
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
    use auscult_core::QualityMeter;

    use super::*;

    #[test]
    fn clips_are_counted_once_and_remarks_each() {
        let mut meter = QualityMeter::new(16_000);
        let tone = |gain: f32, offset: f32| -> Vec<f32> {
            (0..16_000).map(|i| ((i as f32 * 0.3).sin() * gain).clamp(-1.0, 1.0) + offset).collect()
        };
        let control = Control::default();
        let mut tally = QualityTally::default();
        for (gain, offset) in [(0.5, 0.0), (2.0, 0.0), (3.0, 0.2)] {
            let quality = meter.measure(&tone(gain, offset)).unwrap();
            let remarks: Vec<_> =
                quality.remarks().map(|remark| (remark.name(), remark.to_string())).collect();
            tally.add("clip", Some(quality.level_dbfs), &remarks, &control);
        }
        tally.add("again", Some(-9.0), &[("copy", "copy: of clip".to_owned())], &control);
        let summary = tally.summary().unwrap();
        assert_eq!(
            summary.to_string(),
            "level -9 to -1 dBFS, median -9; 3 of 4 clips with remarks: 2 clipped, 1 copy, 1 offset"
        );
        assert!(QualityTally::default().summary().is_none());
    }
}

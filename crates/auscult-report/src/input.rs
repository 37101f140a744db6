//! What a report is made of.

use auscult_core::{
    ClipCondition, ClipQuality, Explanation, Model, ScoredClip, Verdict, alarm::AlarmState,
    features::Axis, quality::Remark,
};

/// Everything one page shows.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The machine, as people call it.
    pub title: &'a str,
    /// What the clips were compared with.
    pub model: &'a Model,
    /// The axis of the model's front end.
    pub axis: &'a Axis,
    /// The clips in the order they were recorded.
    pub clips: &'a [ReportClip],
    /// Shown in the footer.
    pub program_version: &'a str,
    /// Sentences shown at the top, such as which files were skipped.
    pub notes: &'a [String],
}

/// One clip of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportClip {
    /// The file or stream the clip is from.
    pub label: String,
    /// Where in it the clip starts.
    pub start_seconds: f64,
    /// What the samples alone say about it.
    pub condition: ClipCondition,
    /// What was measured on them; `None` if they cannot be measured.
    pub quality: Option<ClipQuality>,
    /// What is remarkable about the recording (`Model::remarks`).
    pub remarks: Vec<Remark>,
    /// An earlier clip, or a reference, with the same sound.
    pub copy_of: Option<String>,
    /// The domain whose threshold it was judged by; `None` for the threshold of all.
    pub domain: Option<String>,
    /// The state of the machine after it, by the model's alarm rule.
    pub alarm: Option<AlarmState>,
    /// Its score; `None` for clips that were not scored.
    pub scored: Option<ScoredClip>,
    /// Why it scored so.
    pub explanation: Option<Explanation>,
    /// What the clip really is, where that is known (in a demonstration, it is).
    pub truth: Option<String>,
    /// Its sound, for clips to be shown in detail. Sound is most of a page's size: give it for the
    /// few clips that matter.
    pub sound: Option<ReportSound>,
}

/// The sound of a clip, to be seen and heard.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSound {
    /// Samples a second, of both sounds.
    pub sample_rate: u32,
    /// Mono samples; full scale is 1. Values beyond it are cut, values that are not finite are
    /// silence.
    pub samples: Vec<f32>,
    /// The closest normal clip.
    pub nearest: Option<Vec<f32>>,
    /// What the closest normal clip is called.
    pub nearest_label: Option<String>,
}

impl ReportClip {
    /// A clip about which nothing else is known; the other fields are open.
    pub fn of(label: impl Into<String>, start_seconds: f64, condition: ClipCondition) -> Self {
        Self {
            label: label.into(),
            start_seconds,
            condition,
            quality: None,
            remarks: Vec::new(),
            copy_of: None,
            domain: None,
            alarm: None,
            scored: None,
            explanation: None,
            truth: None,
            sound: None,
        }
    }

    /// What is remarkable about the recording: a name and a sentence each.
    pub(crate) fn remark_words(&self) -> Vec<(&'static str, String)> {
        if self.condition != ClipCondition::Usable {
            return vec![(self.condition.name(), self.condition.to_string())];
        }
        let mut remarks: Vec<_> =
            self.remarks.iter().map(|remark| (remark.name(), remark.to_string())).collect();
        let copy = |first: &String| ("copy", format!("copy: the same sound as {first}"));
        remarks.extend(self.copy_of.as_ref().map(copy));
        remarks
    }

    /// The clip's score, if it has one.
    pub(crate) fn score(&self) -> Option<f64> {
        self.scored.as_ref().map(|scored| scored.score.value)
    }

    /// The clip's verdict, if it was scored.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.scored.as_ref().map(|scored| scored.verdict)
    }
}

//! What `score`, `explain` and `demo` share: a model, sound, and a verdict for each clip.

use auscult_audio::{AudioClip, Extent};
use auscult_core::{ClipCondition, Explanation, FrontEndSettings, Model, ScoredClip, Verdict};

use super::fit::range;
use crate::{
    args::{InputArguments, ScoringArguments},
    files,
    printer::{Printer, count},
    reading::{self, Reading, Worker, clip_name},
};

/// A model and everything needed to score sound with it.
pub(super) struct Scoring {
    pub(super) model: Model,
    pub(super) reading: Reading,
    /// Whether clips are explained.
    pub(super) explain: bool,
    /// Whether the sound of each clip is kept.
    pub(super) keep_sound: bool,
}

/// One clip with what was found.
pub(super) struct CheckedClip {
    pub(super) label: String,
    pub(super) start_seconds: f64,
    pub(super) condition: ClipCondition,
    pub(super) finding: Option<Finding>,
    pub(super) samples: Option<Vec<f32>>,
}

/// What the model says of a usable clip.
pub(super) struct Finding {
    pub(super) scored: ScoredClip,
    pub(super) explanation: Option<Explanation>,
}

impl CheckedClip {
    pub(super) fn name(&self) -> String {
        clip_name(&self.label, self.start_seconds)
    }

    /// The verdict, or why there is none.
    pub(super) fn verdict(&self) -> &'static str {
        match &self.finding {
            Some(finding) => finding.scored.verdict.name(),
            None if self.condition.is_usable() => "not-scored",
            None => self.condition.name(),
        }
    }

    pub(super) fn is_anomalous(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.scored.verdict == Verdict::Anomalous)
    }
}

/// How to read sound the way a model was made.
pub(super) fn reading_for(
    model: &Model,
    channel: &str,
    input: &InputArguments,
) -> anyhow::Result<Reading> {
    let settings = model.settings();
    let front_end =
        FrontEndSettings::from_identity(&settings.front_end)?.build(settings.clip.check()?)?;
    model.check_front_end(&*front_end)?;
    let channel = reading::channel(channel)?;
    Reading::new(front_end, settings.clip, channel, input.hop_seconds, range(input.clips))
}

impl Scoring {
    pub(super) fn new(arguments: &ScoringArguments) -> anyhow::Result<Self> {
        let mut model = files::load(&arguments.model)?;
        if let Some(rate) = arguments.false_alarm_rate {
            model = model.with_false_alarm_rate(rate);
        }
        let channel = arguments.channel.as_ref().unwrap_or(&model.settings().channel);
        let reading = reading_for(&model, channel, &arguments.input)?;
        Ok(Self { model, reading, explain: false, keep_sound: false })
    }

    /// Scores every clip and hands it to `sink`, in input order. Returns whether all were scored.
    pub(super) fn run(
        &self,
        paths: &[String],
        printer: &Printer,
        mut sink: impl FnMut(CheckedClip) -> anyhow::Result<()>,
    ) -> anyhow::Result<bool> {
        let (sources, found_all) = reading::expand(paths, None, None, printer)?;
        let mut problems = 0;
        let mut dropped = Dropped::default();
        let read_all = reading::read_all(
            sources,
            &self.reading,
            printer,
            |worker, clip, condition| {
                let samples = self.keep_sound.then(|| clip.samples.clone());
                (self.find(worker, clip, condition), samples)
            },
            |file| {
                for clip in file.clips {
                    let (finding, samples) = clip.result;
                    let (finding, failure) = match finding.transpose() {
                        Ok(finding) => (finding, None),
                        Err(error) => (None, Some(error.to_string())),
                    };
                    let checked = CheckedClip {
                        label: file.source.label.clone(),
                        start_seconds: clip.start_seconds,
                        condition: clip.condition,
                        finding,
                        samples,
                    };
                    if checked.finding.is_none() {
                        problems += 1;
                        let reason = failure.unwrap_or_else(|| clip.condition.to_string());
                        printer.problem(format!("not scored {}: {reason}", checked.name()));
                    } else if clip.condition != ClipCondition::Usable {
                        printer.note(format!("{} is {}", checked.name(), clip.condition));
                    }
                    if clip.extent == Extent::CutByDamage {
                        printer.note(format!("{} ends where the file is damaged", checked.name()));
                    }
                    sink(checked)?;
                }
                dropped.add(file.seconds_dropped);
                if let Some(problem) = file.problem {
                    problems += 1;
                    printer.problem(problem);
                }
                Ok(())
            },
        )?;
        dropped.tell(printer);
        Ok(found_all && read_all && problems == 0)
    }

    /// What the model says of a clip; `None` if the clip cannot be scored.
    fn find(
        &self,
        worker: &mut Worker,
        clip: &AudioClip,
        condition: ClipCondition,
    ) -> Option<auscult_core::Result<Finding>> {
        if !condition.is_usable() {
            return None;
        }
        let mut find = || {
            worker.extractor.extract_into(&clip.samples, &mut worker.vectors)?;
            let scored = self.model.score(&worker.vectors)?;
            let axis = self.reading.front_end.axis();
            let explanation =
                self.explain.then(|| Explanation::new(&self.model, axis, &worker.vectors, &scored));
            Ok(Finding { scored, explanation })
        };
        Some(find())
    }
}

/// Sound at the end of recordings that was too short for a clip.
#[derive(Default)]
struct Dropped {
    files: usize,
    seconds: f64,
}

impl Dropped {
    fn add(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.files += 1;
            self.seconds += seconds;
        }
    }

    fn tell(&self, printer: &Printer) {
        if self.files > 0 {
            printer.note(format!(
                "{:.1} s at the end of {}, less than a clip each, were not scored; --hop-seconds shorter \
                 than a clip covers more",
                self.seconds,
                count(self.files, "recording")
            ));
        }
    }
}

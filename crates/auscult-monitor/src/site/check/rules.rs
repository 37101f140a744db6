//! What raises an alarm, and whether a source is what a model was learnt from.

use std::path::Path;

use auscult::alarm::AlarmSettings;
use toml::Spanned;

use super::Checking;
use crate::site::{
    SourceSpec,
    file::{AlarmFile, MachineFile, Window},
    units::Seconds,
};

impl Checking<'_> {
    /// A model hears what its references had; sound of a lower rate has no high frequencies, and nothing would be normal.
    pub(super) fn rate_of(
        &mut self,
        file: &MachineFile,
        source: &SourceSpec,
        name: &str,
        path: &Path,
        model: &auscult::Model,
    ) {
        let (SourceSpec::Tcp { pcm, .. } | SourceSpec::Stdin { pcm }) = source else { return };
        let provenance = model.references().provenance();
        let recordings =
            provenance.iter().filter_map(|from| from.recording.as_ref()?.kind.as_ref());
        let lowest = recordings.map(|kind| kind.sample_rate).min();
        let needed = lowest.map(|rate| rate.min(model.settings().clip.sample_rate));
        if let Some(needed) = needed.filter(|needed| pcm.sample_rate < *needed) {
            let text = format!(
                "machine {name:?}: sample_rate = {} Hz, and the model {} was learnt from {needed} Hz: what is above {:.1} kHz would \
                 be missing; send {needed} Hz or more, or leave `model` out to learn the machine as it is heard here",
                pcm.sample_rate,
                path.display(),
                f64::from(pcm.sample_rate) / 2_000.0
            );
            self.problem(file.sample_rate.as_ref().map(Spanned::span), text);
        }
    }

    pub(super) fn alarm(
        &mut self,
        alarm: &Spanned<AlarmFile>,
        name: &str,
        hop_seconds: f64,
    ) -> Option<AlarmSettings> {
        let (span, file, default) = (alarm.span(), alarm.get_ref(), AlarmSettings::default());
        let window = match &file.window {
            None => default.window,
            Some(Window::Clips(clips)) => *clips,
            Some(Window::Time(text)) => match text.parse::<Seconds>() {
                Ok(Seconds(seconds)) if seconds >= hop_seconds => (seconds / hop_seconds) as usize,
                Ok(Seconds(seconds)) => {
                    let text = format!(
                        "machine {name:?}: alarm.window = {seconds} s is shorter than the {hop_seconds} s from one \
                         clip to the next"
                    );
                    self.problem_of(&span, "window", text);
                    return None;
                }
                Err(error) => {
                    let text = format!("machine {name:?}: alarm.window: {error}");
                    self.problem_of(&span, "window", text);
                    return None;
                }
            },
        };
        let settings = AlarmSettings {
            raise: file.raise.unwrap_or(default.raise),
            window,
            clear: file.clear.unwrap_or(default.clear),
            on_delay_seconds: file.on_delay.map_or(0.0, |delay| delay.0),
            off_delay_seconds: file.off_delay.map_or(0.0, |delay| delay.0),
            latch: file.latch.unwrap_or(default.latch),
            ..default
        };
        if let Err(error) = settings.check() {
            self.problem(Some(span), format!("machine {name:?}: {error}"));
            return None;
        }
        Some(settings)
    }
}

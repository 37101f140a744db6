//! The front end that options name.

use std::sync::Arc;

use auscult::{
    ClipRules, ClipSettings, Error, FrontEnd, FrontEndSpec, FrontEnds, Sources,
    audio::{ChannelRule, ClipRange},
};

use crate::printer::Printer;

use crate::args::{Clips, FrontEndArguments, InputArguments, SampleRate};

impl InputArguments {
    /// The recordings that were named.
    pub(crate) fn sources(&self) -> auscult::Result<Sources> {
        match &self.samples_csv {
            Some(column) => Sources::of_tables(&self.paths, column),
            None => Sources::of(&self.paths),
        }
    }

    /// Length and rate of clips where none are given: as long as the recordings, if these agree, which is then said.
    pub(crate) fn usual_clip(&self, printer: &Printer) -> auscult::Result<ClipSettings> {
        let usual = ClipSettings::default();
        let Some(seconds) = self.sources()?.common_seconds() else { return Ok(usual) };
        printer.note(format!(
            "clips are {seconds} s long, as all recordings are (--clip-seconds chooses)"
        ));
        Ok(ClipSettings { seconds, ..usual })
    }

    /// A sample rate in hertz.
    pub(crate) fn hertz(&self, rate: SampleRate) -> auscult::Result<u32> {
        match rate {
            SampleRate::Hertz(rate) => Ok(rate),
            SampleRate::Native => self.sources()?.native_rate(),
        }
    }
}

impl FrontEndArguments {
    /// Length and rate of clips, where they are given, over those of a file; the rate may be that of
    /// the recordings.
    pub(crate) fn clip_of(
        &self,
        input: &InputArguments,
        over: ClipSettings,
    ) -> auscult::Result<ClipSettings> {
        let rate = self.sample_rate.map(|rate| input.hertz(rate)).transpose()?;
        Ok(ClipSettings {
            sample_rate: rate.unwrap_or(over.sample_rate),
            seconds: self.clip_seconds.unwrap_or(over.seconds),
        })
    }

    /// Length and rate of clips of data sets, whose native rate was found before: see
    /// [`super::evaluation::at_native_rate`].
    pub(crate) fn clip(&self) -> ClipSettings {
        let usual = ClipSettings::default();
        let sample_rate = match self.sample_rate {
            Some(SampleRate::Hertz(rate)) => rate,
            Some(SampleRate::Native) | None => usual.sample_rate,
        };
        ClipSettings { sample_rate, seconds: self.clip_seconds.unwrap_or(usual.seconds) }
    }

    /// The channel, the first if none is given.
    pub(crate) fn channel(&self) -> ChannelRule {
        self.channel.unwrap_or_default()
    }

    /// The front end by name.
    pub(crate) fn spec(&self) -> FrontEndSpec {
        let name = self.front_end.clone().unwrap_or(FrontEndSpec::default().name);
        let encoder = self.encoder.request();
        FrontEndSpec { name, convention: self.convention.clone(), encoder }
    }

    /// Makes a front end with these options for encoders.
    pub(crate) fn build_spec(
        &self,
        spec: &FrontEndSpec,
        clip: ClipSettings,
        front_ends: &FrontEnds,
    ) -> anyhow::Result<Arc<dyn FrontEnd>> {
        match (front_ends.named(spec, clip.check()?), self.encoder.given()) {
            (Err(Error::NotAnEncoder { name }), Some(option)) => {
                anyhow::bail!("{option} has no effect: {name} is not an encoder; leave it out")
            }
            (made, _) => Ok(made?),
        }
    }
}

/// The rules for recordings of one's own, with the choice of clips.
pub(crate) fn rules(clips: Clips) -> ClipRules {
    ClipRules { clips: ClipRange::from(clips), ..ClipRules::field() }
}

//! The front end that options name.

use std::sync::Arc;

use auscult::{
    ClipRules, ClipSettings, Error, FrontEnd, FrontEndSpec, FrontEnds,
    audio::{ChannelRule, ClipRange},
};

use crate::args::{Clips, FrontEndArguments};

impl FrontEndArguments {
    /// Length and rate of clips.
    pub(crate) fn clip(&self) -> ClipSettings {
        self.clip_over(ClipSettings::default())
    }

    /// Length and rate of clips, where they are given, over those of a file.
    pub(crate) fn clip_over(&self, clip: ClipSettings) -> ClipSettings {
        ClipSettings {
            sample_rate: self.sample_rate.unwrap_or(clip.sample_rate),
            seconds: self.clip_seconds.unwrap_or(clip.seconds),
        }
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

    /// Makes the front end.
    pub(crate) fn build(&self, front_ends: &FrontEnds) -> anyhow::Result<Arc<dyn FrontEnd>> {
        self.build_spec(&self.spec(), self.clip(), front_ends)
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

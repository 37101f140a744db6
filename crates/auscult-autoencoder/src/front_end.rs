//! Two front ends: a clip's whole spectrogram, to train on, and the errors of a trained network.

use std::sync::Arc;

use auscult_core::{
    BandSettings, ClipLength, ClipSettings, Error as CoreError, Extractor, FrontEnd,
    FrontEndIdentity, View, Weights,
    features::{Axis, Level, LogMel, LogMelSettings},
};
use serde::{Deserialize, Serialize};

use super::{Autoencoder, ErrorScore, Form, settings::FRAMES};
use crate::{Error, Result};

/// A front end that gives a clip's whole log-mel spectrogram as one vector: what autoencoders are
/// trained on. Its name is `log-mel-map`, its conventions are those of [`Form`].
#[derive(Debug, Clone)]
pub struct SpectrogramFrontEnd {
    form: Form,
    log_mel: LogMel,
    axis: Axis,
}

impl SpectrogramFrontEnd {
    /// The name in protocols.
    pub const NAME: &'static str = "log-mel-map";

    /// Plans the spectrogram of a form for clips of one length.
    ///
    /// # Errors
    ///
    /// If a clip is shorter than the five frames a network sees at once.
    pub fn new(form: Form, length: ClipLength) -> Result<Self> {
        let (log_mel, values) = Self::plan(form, length)?;
        if values < FRAMES * form.bins() {
            let least = Self::least_seconds(form, length.sample_rate());
            let allowed = format!(
                "at least {least} seconds for an autoencoder, which sees {FRAMES} frames at once"
            );
            let got = length.samples() as f64 / f64::from(length.sample_rate());
            return Err(Error::setting("clip length", allowed, got));
        }
        Ok(Self { form, log_mel, axis: Axis::other(values) })
    }

    /// The spectrogram, and how many values it has.
    fn plan(form: Form, length: ClipLength) -> Result<(LogMel, usize)> {
        let log_mel = LogMel::new(&LogMelSettings { convention: form.convention() }, length)?;
        let mut values = 0;
        log_mel.extractor().for_each_frame(&[], &mut |frame| values += frame.len())?;
        Ok((log_mel, values))
    }

    /// The shortest clip with enough frames, in hundredths of a second.
    fn least_seconds(form: Form, sample_rate: u32) -> f64 {
        let is_enough = |seconds: f64| {
            let length = ClipSettings { sample_rate, seconds }.check();
            let values = length.map_err(Error::from).and_then(|length| Self::plan(form, length));
            values.is_ok_and(|(_, values)| values >= FRAMES * form.bins())
        };
        let mut all = (10..1000).map(|hundredths| f64::from(hundredths) / 100.0);
        all.find(|&seconds| is_enough(seconds)).unwrap_or(10.0)
    }
}

impl FrontEnd for SpectrogramFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        let settings = serde_json::json!({ "convention": self.form.name() });
        FrontEndIdentity { name: Self::NAME.to_owned(), settings }
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::Whole
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(SpectrogramExtractor { log_mel: self.log_mel.extractor(), map: Vec::new() })
    }
}

struct SpectrogramExtractor {
    log_mel: Box<dyn Extractor>,
    map: Vec<f32>,
}

impl Extractor for SpectrogramExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let Self { log_mel, map } = self;
        map.clear();
        log_mel.for_each_frame(samples, &mut |frame| map.extend_from_slice(frame))?;
        sink(map);
        Ok(())
    }
}

/// A trained autoencoder as a front end: the vector of a clip is what each mel bin contributes to
/// its score, and the mean of the vector is the score.
#[derive(Debug, Clone)]
pub struct AutoencoderFrontEnd {
    autoencoder: Arc<Autoencoder>,
    log_mel: LogMel,
    axis: Axis,
}

/// What a model file holds of it beside the weights.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSettings {
    convention: Form,
    score: ErrorScore,
    fingerprint: String,
}

impl AutoencoderFrontEnd {
    /// The name in model files.
    pub const NAME: &'static str = "autoencoder";

    /// Plans the front end for clips of one length.
    ///
    /// # Errors
    ///
    /// If a clip is shorter than a frame.
    pub fn new(autoencoder: Arc<Autoencoder>, length: ClipLength) -> Result<Self> {
        let convention = autoencoder.form().convention();
        let log_mel = LogMel::new(&LogMelSettings { convention }, length)?;
        let bins = log_mel.axis();
        let mut edges: Vec<f64> =
            (0..bins.len()).filter_map(|bin| Some(bins.hertz(bin..bin + 1)?.start)).collect();
        edges.extend(bins.hertz(0..bins.len()).map(|hertz| hertz.end));
        Ok(Self { autoencoder, log_mel, axis: Axis::frequency(edges, Level::None) })
    }

    /// The front end of a model file: its identity and its weights.
    ///
    /// # Errors
    ///
    /// [`CoreError::DamagedModel`] if they do not belong together.
    pub fn of_model(
        identity: &FrontEndIdentity,
        weights: &Weights,
        length: ClipLength,
    ) -> Result<Self> {
        let damaged = |reason: String| Error::Core(CoreError::DamagedModel { reason });
        let stored: StoredSettings = serde_json::from_value(identity.settings.clone())
            .map_err(|error| damaged(format!("settings of the autoencoder: {error}")))?;
        let autoencoder = Autoencoder::read(stored.convention, stored.score, weights)?;
        if autoencoder.fingerprint() != stored.fingerprint {
            return Err(damaged("the weights are not those of its autoencoder".to_owned()));
        }
        Self::new(Arc::new(autoencoder), length)
    }
}

impl FrontEnd for AutoencoderFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        let stored = StoredSettings {
            convention: self.autoencoder.form(),
            score: self.autoencoder.score(),
            fingerprint: self.autoencoder.fingerprint().to_owned(),
        };
        FrontEndIdentity {
            name: Self::NAME.to_owned(),
            // Plain names: they always serialise.
            settings: serde_json::to_value(stored).unwrap_or_default(),
        }
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean]
    }

    /// Eight bands of equal width, so that the mean over bands is the mean over bins.
    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(self.axis.len() / 8)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(AutoencoderExtractor {
            autoencoder: Arc::clone(&self.autoencoder),
            log_mel: self.log_mel.extractor(),
            map: Vec::new(),
        })
    }
}

struct AutoencoderExtractor {
    autoencoder: Arc<Autoencoder>,
    log_mel: Box<dyn Extractor>,
    map: Vec<f32>,
}

impl Extractor for AutoencoderExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let Self { autoencoder, log_mel, map } = self;
        map.clear();
        log_mel.for_each_frame(samples, &mut |frame| map.extend_from_slice(frame))?;
        sink(&autoencoder.profile(map));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_length_is_told_and_is_enough() {
        for form in [Form::Dcase, Form::Mimii] {
            let of = |seconds: f64| {
                let clip = ClipSettings { seconds, ..ClipSettings::default() };
                SpectrogramFrontEnd::new(form, clip.check().unwrap())
            };
            let error = of(0.1).unwrap_err().to_string();
            let (_, rest) = error.split_once("clip length must be at least ").unwrap();
            let least: f64 = rest.split(' ').next().unwrap().parse().unwrap();
            assert!(error.contains("5 frames") && error.ends_with("got 0.1"), "{error}");
            assert!(of(least).is_ok() && of(least - 0.01).is_err(), "{least}");
        }
    }
}

//! Two front ends: a clip's whole spectrogram, to train on, and the errors of a trained network.

use std::sync::Arc;

use auscult_core::{
    BandSettings, ClipLength, Error as CoreError, Extractor, FrontEnd, FrontEndIdentity, View,
    Weights,
    features::{Axis, Level, LogMel, LogMelSettings},
};
use serde::{Deserialize, Serialize};

use super::{Autoencoder, ErrorScore, Form};
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
    /// If a clip is shorter than a frame.
    pub fn new(form: Form, length: ClipLength) -> Result<Self> {
        let log_mel = LogMel::new(&LogMelSettings { convention: form.convention() }, length)?;
        let mut values = 0;
        log_mel.extractor().for_each_frame(&[], &mut |frame| values += frame.len())?;
        Ok(Self { form, log_mel, axis: Axis::other(values) })
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

//! An encoder as a front end: one frame a column of patches, one band a row.

use std::{ops::Range, sync::Arc};

use auscult_core::{
    BandSettings, ClipLength, Extractor, FrontEnd, FrontEndIdentity, View,
    features::{Axis, AxisPart, NetworkSize},
};
use serde::{Deserialize, Serialize};

use crate::{Architecture, Buffers, Encoder, Error, Result, Threads};

/// What is taken of an encoder's tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderSettings {
    /// The layers whose tokens are taken, ascending; 0 is the input of the first block.
    pub layers: Vec<usize>,
    /// Rows of tokens along frequency that make one band.
    pub rows_per_band: usize,
    /// Whether the class token is one more band of each layer.
    pub class_token: bool,
}

impl EncoderSettings {
    /// One band a row of the encoder's default layer.
    pub fn for_encoder(encoder: &Encoder) -> Self {
        Self { layers: vec![encoder.default_layer()], rows_per_band: 1, class_token: false }
    }

    /// The axis of an encoder's tokens, which are `width` long.
    fn axis(&self, architecture: Architecture, width: usize, length: ClipLength) -> Result<Axis> {
        let rows = architecture.row_hertz(length)?;
        let mut parts = Vec::new();
        for layer in &self.layers {
            let name = |part: &str| match self.layers.len() {
                1 => part.to_owned(),
                _ => format!("layer {layer} {part}").trim_end().to_owned(),
            };
            let row = |hertz: &Range<f64>| AxisPart {
                name: name(""),
                len: width,
                hertz: Some(hertz.clone()),
            };
            parts.extend(rows.iter().map(row));
            if self.class_token {
                parts.push(AxisPart { name: name("class token"), len: width, hertz: None });
            }
        }
        Ok(Axis::parts(parts))
    }

    fn check(&self, encoder: &Encoder) -> Result<()> {
        encoder.check_layers(&self.layers)?;
        let rows = encoder.rows();
        if self.rows_per_band == 0 || !rows.is_multiple_of(self.rows_per_band) {
            let allowed = format!("a divisor of the {rows} rows of {}", encoder.name());
            return Err(Error::setting("rows per band", allowed, self.rows_per_band));
        }
        if self.class_token && !encoder.has_class_token() {
            let allowed = format!("left out: {} has none", encoder.name());
            return Err(Error::setting("class token", allowed, "taken"));
        }
        if self.class_token && self.rows_per_band > 1 {
            let allowed = "1 with the class token, which is as wide as one row";
            return Err(Error::setting("rows per band", allowed, self.rows_per_band));
        }
        Ok(())
    }
}

/// An encoder as a front end of `auscult-core`.
#[derive(Debug, Clone)]
pub struct EncoderFrontEnd {
    encoder: Arc<Encoder>,
    settings: EncoderSettings,
    length: ClipLength,
    axis: Axis,
}

impl EncoderFrontEnd {
    /// Plans an encoder for clips of one length.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] if a layer does not exist, rows cannot be grouped so, or the encoder does
    /// not take such clips.
    pub fn new(
        encoder: Arc<Encoder>,
        settings: EncoderSettings,
        length: ClipLength,
    ) -> Result<Self> {
        settings.check(&encoder)?;
        encoder.buffers(length)?;
        let axis = settings.axis(encoder.architecture(), encoder.width(), length)?;
        Ok(Self { encoder, settings, length, axis })
    }

    /// The axis of the encoder a model file names, with `positions` in all; needs no weights.
    ///
    /// # Errors
    ///
    /// [`auscult_core::Error::DamagedModel`] if no encoder has such an axis.
    pub fn axis_of(
        identity: &FrontEndIdentity,
        positions: usize,
        length: ClipLength,
    ) -> Result<Axis> {
        let (architecture, stored) = StoredSettings::read(identity)?;
        let settings = stored.into_settings();
        let in_layer = architecture.rows() + usize::from(settings.class_token);
        let parts = settings.layers.len().saturating_mul(in_layer);
        if parts == 0 || !positions.is_multiple_of(parts) {
            let reason = format!("{positions} positions for {parts} parts of {}", identity.name);
            return Err(auscult_core::Error::DamagedModel { reason }.into());
        }
        settings.axis(architecture, positions / parts, length)
    }

    /// The encoder.
    pub fn encoder(&self) -> &Arc<Encoder> {
        &self.encoder
    }

    /// What is taken of it.
    pub fn settings(&self) -> &EncoderSettings {
        &self.settings
    }
}

/// What a model file holds of an encoder front end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredSettings {
    /// Kind and size.
    pub(crate) encoder: String,
    pub(crate) fingerprint: String,
    pub(crate) preprocessing: String,
    pub(crate) layers: Vec<usize>,
    pub(crate) rows_per_band: usize,
    pub(crate) class_token: bool,
    /// What linear layers are computed in.
    pub(crate) precision: String,
}

impl StoredSettings {
    /// What the front end of a model file says.
    pub(crate) fn read(identity: &FrontEndIdentity) -> auscult_core::Result<(Architecture, Self)> {
        let damaged = |reason: String| auscult_core::Error::DamagedModel { reason };
        let architecture = Architecture::ALL.iter().find(|kind| kind.name() == identity.name);
        let Some(&architecture) = architecture else {
            return Err(damaged(format!("no encoder is called {}", identity.name)));
        };
        let stored = serde_json::from_value(identity.settings.clone())
            .map_err(|error| damaged(format!("settings of {}: {error}", identity.name)))?;
        Ok((architecture, stored))
    }

    pub(crate) fn into_settings(self) -> EncoderSettings {
        let Self { layers, rows_per_band, class_token, .. } = self;
        EncoderSettings { layers, rows_per_band, class_token }
    }
}

impl FrontEnd for EncoderFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        let EncoderSettings { layers, rows_per_band, class_token } = self.settings.clone();
        let stored = StoredSettings {
            encoder: self.encoder.name(),
            fingerprint: self.encoder.fingerprint().to_owned(),
            preprocessing: self.encoder.preprocessing().to_owned(),
            layers,
            rows_per_band,
            class_token,
            precision: self.encoder.precision().name().to_owned(),
        };
        FrontEndIdentity {
            name: self.encoder.architecture().name().to_owned(),
            // Plain names and numbers: they always serialise.
            settings: serde_json::to_value(stored).unwrap_or_default(),
        }
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean, View::Max]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(self.encoder.width() * self.settings.rows_per_band)
    }

    fn network(&self) -> Option<NetworkSize> {
        let last = self.settings.layers.last().copied()?;
        self.encoder.size(self.length, last).ok()
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(EncoderExtractor {
            front_end: self.clone(),
            buffers: None,
            layers: Vec::new(),
            frame: Vec::new(),
        })
    }
}

struct EncoderExtractor {
    front_end: EncoderFrontEnd,
    /// Made for the first clip.
    buffers: Option<Buffers>,
    /// The values of each layer, frame after frame.
    layers: Vec<Vec<f32>>,
    frame: Vec<f32>,
}

impl Extractor for EncoderExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let Self { front_end, buffers, layers, frame } = self;
        let EncoderFrontEnd { encoder, settings, length, .. } = &*front_end;
        let buffers = match buffers {
            Some(buffers) => buffers,
            empty => empty.insert(encoder.buffers(*length).map_err(core_error)?),
        };
        layers.resize(settings.layers.len(), Vec::new());
        layers.iter_mut().for_each(Vec::clear);
        let mut columns = 0;
        let mut collect = |tokens: crate::LayerTokens<'_>| {
            let at = settings.layers.iter().position(|&layer| layer == tokens.layer);
            let Some(values) = at.map(|at| &mut layers[at]) else { return };
            for column in 0..tokens.columns {
                for row in 0..tokens.rows {
                    values.extend_from_slice(tokens.token(column, row));
                }
                if settings.class_token {
                    values.extend_from_slice(tokens.class_token().unwrap_or_default());
                }
            }
            columns = values.len();
        };
        encoder
            .run(samples, buffers, Threads::One, &settings.layers, &mut collect)
            .map_err(core_error)?;
        let width = front_end.axis.len() / settings.layers.len();
        for column in 0..columns / width {
            frame.clear();
            for layer in &*layers {
                frame.extend_from_slice(&layer[column * width..(column + 1) * width]);
            }
            sink(frame);
        }
        Ok(())
    }
}

/// An error of this crate in the words of the core.
pub(crate) fn core_error(error: Error) -> auscult_core::Error {
    match error {
        Error::Core(error) => error,
        Error::Setting { setting, allowed, got } => {
            auscult_core::Error::Setting { setting, allowed, got }
        }
        other => auscult_core::Error::FrontEnd { reason: other.to_string() },
    }
}

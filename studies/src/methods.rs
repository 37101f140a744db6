//! The ways to a threshold that are compared.

use auscult_core::{
    BandSettings, BeamSettings, CalibrationScheme, ClipSettings, FalseAlarmRate, FrontEndIdentity,
    Model, ModelSettings, Promise, References, Result, Storage, View, Weights,
    calibration::{
        gamma::{GammaFit, GammaForm},
        tail::extrapolate,
    },
};

/// A way to a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Conformal, leaving out visits: auscult's default.
    Visits,
    /// The same with 90 % confidence.
    ConfidentVisits,
    /// Conformal, leaving out single clips.
    Clips,
    /// Conformal, a third of the visits kept out of the memory.
    Split,
    /// The DCASE baselines' gamma percentile of left-out clips, starting at 0.
    GammaTwo,
    /// The same with a fitted start.
    GammaThree,
    /// Extrapolated tail of scores that leave out visits.
    Tail,
}

impl Method {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Visits,
        Self::ConfidentVisits,
        Self::Split,
        Self::Clips,
        Self::GammaTwo,
        Self::GammaThree,
        Self::Tail,
    ];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visits => "leave out visits",
            Self::ConfidentVisits => "leave out visits, 90 % confidence",
            Self::Clips => "leave out clips",
            Self::Split => "split",
            Self::GammaTwo => "gamma, 2 parameters (clips)",
            Self::GammaThree => "gamma, 3 parameters (clips)",
            Self::Tail => "extrapolated tail (visits)",
        }
    }

    /// The model to score with and its threshold; `None` where nothing is promised.
    ///
    /// # Errors
    ///
    /// If the references do not suit the detector.
    pub fn threshold(
        self,
        references: &References,
        rate: FalseAlarmRate,
        detector: &BeamSettings,
    ) -> Result<Option<(Model, f64)>> {
        let scheme = match self {
            Self::Visits | Self::ConfidentVisits | Self::Tail => CalibrationScheme::Visits,
            Self::Clips | Self::GammaTwo | Self::GammaThree => CalibrationScheme::Clips,
            Self::Split => CalibrationScheme::Split,
        };
        let model = fit(references, scheme, detector)?;
        let calibration = model.calibration();
        let confidence = match self {
            Self::ConfidentVisits => Some(0.9.try_into()?),
            _ => None,
        };
        let share = 1.0 - f64::from(rate);
        let gamma = |form| {
            GammaFit::new(calibration.scores(), form).and_then(|fit| fit.quantile(share)).ok()
        };
        let threshold = match self {
            Self::Visits | Self::ConfidentVisits | Self::Clips | Self::Split => {
                calibration.promised_threshold(Promise { rate, confidence })
            }
            Self::GammaTwo => gamma(GammaForm::TwoParameters),
            Self::GammaThree => gamma(GammaForm::ThreeParameters),
            Self::Tail => extrapolate(calibration, rate).map(|tail| tail.threshold),
        };
        Ok(threshold.map(|threshold| (model, threshold)))
    }
}

/// BEAM with local density normalisation, four bands over `axis_len` positions.
pub fn four_bands(axis_len: usize) -> BeamSettings {
    BeamSettings::new(BandSettings::touching(axis_len / 4), vec![View::Mean])
}

fn fit(
    references: &References,
    scheme: CalibrationScheme,
    detector: &BeamSettings,
) -> Result<Model> {
    let identity = FrontEndIdentity { name: "study".to_owned(), settings: serde_json::Value::Null };
    let settings = ModelSettings {
        clip: ClipSettings::default(),
        channel: "0".to_owned(),
        front_end: identity,
        detector: detector.clone(),
        max_references: None,
        false_alarm_rate: FalseAlarmRate::default(),
        confidence: None,
        calibration: scheme,
        alarm: None,
        alarm_budget: None,
        storage: Storage::default(),
        weights: Weights::default(),
    };
    Model::fit(settings, references.clone())
}

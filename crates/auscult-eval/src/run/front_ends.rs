//! Front ends as protocols name them, and what they turned out to be.

use std::{collections::BTreeMap, fmt, sync::Arc};

use auscult_autoencoder::{Form, SpectrogramFrontEnd};
use auscult_core::{ClipLength, FrontEnd, FrontEndIdentity, FrontEndSettings};
use auscult_encoders::Precision;

use crate::{
    paper::WindowsRequest,
    protocol::DiagnosticsRequest,
    systems::{BackEnd, SystemSettings},
};

/// What a protocol says of a front end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontEndName {
    /// Its name.
    pub name: String,
    /// Its convention; an encoder's is a layer, such as `layer-6`.
    pub convention: Option<String>,
    /// What an encoder computes in, if the protocol says so.
    pub precision: Option<Precision>,
}

impl FrontEndName {
    /// The front end of a system; `None` for a fusion, which has only those of its members.
    pub fn of_system(system: &SystemSettings) -> Option<Self> {
        (system.back_end != BackEnd::Fusion).then(|| Self {
            name: system.front_end.clone(),
            convention: system.convention.clone(),
            precision: system.precision,
        })
    }

    /// The front end of diagnostics.
    pub fn of_diagnostics(request: &DiagnosticsRequest) -> Self {
        Self {
            name: request.front_end.clone(),
            convention: request.convention.clone(),
            precision: request.precision,
        }
    }

    /// The front end whose windows are shown.
    pub fn of_windows(request: &WindowsRequest) -> Self {
        let (name, convention) = (request.front_end.clone(), request.convention.clone());
        Self { name, convention, precision: None }
    }

    /// Every front end that systems and diagnostics need, by how it is called.
    pub fn all(
        systems: &[SystemSettings],
        diagnostics: &[DiagnosticsRequest],
    ) -> BTreeMap<String, Self> {
        let of_systems = systems.iter().filter_map(Self::of_system);
        let all = of_systems.chain(diagnostics.iter().map(Self::of_diagnostics));
        all.map(|name| (name.to_string(), name)).collect()
    }
}

/// `log-mel (s15)`, `ced (layer-6, int16)`.
impl fmt::Display for FrontEndName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = self.precision.map(Precision::name);
        let details: Vec<&str> = self.convention.as_deref().into_iter().chain(precision).collect();
        match details.as_slice() {
            [] => formatter.write_str(&self.name),
            details => write!(formatter, "{} ({})", self.name, details.join(", ")),
        }
    }
}

/// Makes a front end from what a protocol says of it, or returns the reason why it cannot.
pub type FrontEndMaker<'a> =
    dyn Fn(&FrontEndName, ClipLength) -> Result<Arc<dyn FrontEnd>, String> + Sync + 'a;

/// The front ends of the core, and the spectrograms autoencoders are trained on.
///
/// # Errors
///
/// The reason, if it is not a front end of the core.
pub fn built_in_front_end(
    front_end: &FrontEndName,
    length: ClipLength,
) -> Result<Arc<dyn FrontEnd>, String> {
    let FrontEndName { name, convention, precision } = front_end;
    if precision.is_some() {
        return Err(format!(
            "precision is for encoders (ced, beats, eat) and {name} is not one; leave it out"
        ));
    }
    if name == SpectrogramFrontEnd::NAME {
        let form = convention.as_deref().map_or(Ok(Form::default()), str::parse);
        let front_end = form.and_then(|form| SpectrogramFrontEnd::new(form, length));
        return front_end.map(|made| Arc::new(made) as _).map_err(|error| error.to_string());
    }
    FrontEndSettings::named(name, convention.as_deref())
        .and_then(|settings| settings.build(length))
        .map_err(|error| error.to_string())
}

/// Name and settings of each front end that can be made; of encoders also the fingerprint of the
/// weights, the layers and the precision.
pub fn identities(
    front_ends: &BTreeMap<String, FrontEndName>,
    length: ClipLength,
    make: &FrontEndMaker<'_>,
) -> BTreeMap<String, FrontEndIdentity> {
    front_ends
        .iter()
        .filter_map(|(called, name)| Some((called.clone(), make(name, length).ok()?.identity())))
        .collect()
}

/// The encoders among front ends, for people: `ced-tiny, fingerprint a765..., layer 8, f32`.
pub(super) fn describe_encoders(identity: &FrontEndIdentity) -> Vec<String> {
    if let Some(members) = identity.members() {
        return members.iter().flat_map(describe_encoders).collect();
    }
    let text = |name: &str| identity.settings.get(name).and_then(|value| value.as_str());
    let (Some(encoder), Some(fingerprint)) = (text("encoder"), text("fingerprint")) else {
        return Vec::new();
    };
    let layers = identity.settings.get("layers").and_then(|value| value.as_array());
    let layers: Vec<String> = layers.into_iter().flatten().map(ToString::to_string).collect();
    let precision = text("precision").unwrap_or("f32");
    vec![format!(
        "{encoder}, fingerprint {fingerprint}, layer {}, {precision}",
        layers.join(" and ")
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_protocol_says_is_the_name() {
        let name = |convention: Option<&str>, precision| FrontEndName {
            name: "ced".to_owned(),
            convention: convention.map(str::to_owned),
            precision,
        };
        assert_eq!(name(None, None).to_string(), "ced");
        assert_eq!(name(Some("layer-6"), None).to_string(), "ced (layer-6)");
        assert_eq!(
            name(Some("layer-6"), Some(Precision::Int16)).to_string(),
            "ced (layer-6, int16)"
        );
    }

    #[test]
    fn encoders_are_found_in_ensembles_too() {
        let encoder = FrontEndIdentity {
            name: "ced".to_owned(),
            settings: serde_json::json!({
                "encoder": "ced-tiny", "fingerprint": "ab", "layers": [4, 8], "precision": "int16"
            }),
        };
        let expected = "ced-tiny, fingerprint ab, layer 4 and 8, int16";
        assert_eq!(describe_encoders(&encoder), [expected]);
        let plain =
            FrontEndIdentity { name: "mfcc".to_owned(), settings: serde_json::json!({"bins": 40}) };
        assert!(describe_encoders(&plain).is_empty());
        let both = FrontEndIdentity {
            name: "ced+mfcc".to_owned(),
            settings: serde_json::json!({ "members": [encoder, plain] }),
        };
        assert_eq!(describe_encoders(&both), [expected]);
    }
}

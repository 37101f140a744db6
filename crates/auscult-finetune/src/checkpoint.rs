//! Where a run stands: arrays, moments and the step, as one file that is whole or not there.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use half::bf16;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use super::{
    ClipOrigin, FinetuneSettings,
    optimiser::{AdamW, Moments},
    parameters::Parameters,
    survey::{self, ClassList},
};
use crate::{Error, Result};

/// The largest encoders have a few gigabytes, and twice that in moments.
const LARGEST_BYTES: u64 = 64 << 30;

const KEY: &str = "auscult.finetune";
const VERSION: u32 = 2;

/// What makes two runs the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RunIdentity {
    version: u32,
    /// Kind and size of the encoder.
    pub(super) encoder: String,
    /// Fingerprint of the weights the run began with.
    pub(super) fingerprint: String,
    /// Fingerprint of the clips' names and labels, in their order.
    pub(super) clips: String,
    pub(super) classes: ClassList,
    pub(super) origin: ClipOrigin,
    pub(super) clip_seconds: f64,
    pub(super) settings: FinetuneSettings,
}

#[derive(Serialize, Deserialize)]
struct Header {
    step: usize,
    identity: RunIdentity,
}

impl RunIdentity {
    pub(super) fn new(
        encoder: String,
        fingerprint: String,
        (clips, classes, origin): (String, ClassList, ClipOrigin),
        clip_seconds: f64,
        settings: FinetuneSettings,
    ) -> Self {
        let version = VERSION;
        Self { version, encoder, fingerprint, clips, classes, origin, clip_seconds, settings }
    }

    /// What differs from another run, as a sentence.
    fn difference(&self, other: &Self) -> Option<String> {
        let differs = |what: &str, ours: &str, theirs: &str| {
            (ours != theirs).then(|| format!("it is of {what} {theirs}, this run of {ours}"))
        };
        let seconds = [self.clip_seconds, other.clip_seconds].map(|seconds| seconds.to_string());
        differs("encoder", &self.encoder, &other.encoder)
            .or_else(|| differs("weights", &self.fingerprint, &other.fingerprint))
            .or_else(|| differs("channel", &self.origin.channel, &other.origin.channel))
            .or_else(|| differs("clip length", &seconds[0], &seconds[1]))
            .or_else(|| self.other_clips(other))
            .or_else(|| {
                let [ours, theirs] = [self, other]
                    .map(|run| serde_json::to_value(&run.settings).unwrap_or_default());
                let names = ours.as_object()?.keys();
                let name = names.into_iter().find(|&name| ours[name] != theirs[name])?;
                let (ours, theirs) = (ours[name].to_string(), theirs[name].to_string());
                differs(&name.replace('_', " "), &ours, &theirs)
            })
    }

    /// How the clips differ from another run's, and which options may be why.
    fn other_clips(&self, other: &Self) -> Option<String> {
        if self.clips == other.clips && self.classes == other.classes {
            return None;
        }
        let differs = survey::difference(&other.classes, &self.classes);
        let differs = differs.unwrap_or_else(|| "the clips come in another order".to_owned());
        let (ours, theirs) = (&self.origin.options, &other.origin.options);
        let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        let listed = |options: &BTreeMap<String, String>| {
            let changed = names.iter().filter(|&&name| ours.get(name) != theirs.get(name));
            let shown = changed.map(|&name| match options.get(name) {
                Some(value) => format!("{name} {value}"),
                None => format!("no {name}"),
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        Some(if ours == theirs {
            differs
        } else {
            format!("it is of {}, this run of {}: {differs}", listed(theirs), listed(ours))
        })
    }
}

/// A tensor in the file.
struct Stored {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn stored(name: String, shape: &[usize], values: &[f32]) -> Stored {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Stored { name, dtype: Dtype::F32, shape: shape.to_vec(), bytes }
}

fn stored_half(name: String, shape: &[usize], values: &[bf16]) -> Stored {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Stored { name, dtype: Dtype::BF16, shape: shape.to_vec(), bytes }
}

/// Writes a checkpoint; what was there before stays until the new one is complete.
pub(super) fn save(
    path: &Path,
    step: usize,
    identity: &RunIdentity,
    parameters: &Parameters,
    optimiser: &AdamW,
) -> Result<()> {
    let wrong = |reason: String| Error::File { path: path.to_owned(), reason };
    let mut tensors: Vec<Stored> = Vec::new();
    for parameter in &parameters.list {
        // What is neither trained nor learnt from batches is in the encoder's own file.
        if parameter.is_trained || parameter.name.starts_with(super::parameters::HEAD) {
            let name = format!("value.{}", parameter.name);
            tensors.push(stored(name, &parameter.shape, &parameter.values));
        }
    }
    for (parameter, moments) in parameters.trained().zip(&optimiser.moments) {
        let [first_name, second_name] =
            ["first", "second"].map(|part| format!("{part}.{}", parameter.name));
        let shape = &parameter.shape;
        match moments {
            Moments::F32 { first, second } => {
                tensors.push(stored(first_name, shape, first));
                tensors.push(stored(second_name, shape, second));
            }
            Moments::Bf16 { first, second } => {
                tensors.push(stored_half(first_name, shape, first));
                tensors.push(stored_half(second_name, shape, second));
            }
        }
    }
    let header = Header { step, identity: identity.clone() };
    let header = serde_json::to_string(&header).map_err(|error| wrong(error.to_string()))?;
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .map(|it| Ok((&it.name, TensorView::new(it.dtype, it.shape.clone(), &it.bytes)?)))
        .collect();
    let refused = |error: safetensors::SafeTensorError| wrong(error.to_string());
    let metadata = HashMap::from([(KEY.to_owned(), header)]);
    let bytes = safetensors::serialize(views.map_err(refused)?, Some(metadata)).map_err(refused)?;
    auscult_files::write_atomically(path, &bytes).map_err(|error| wrong(error.to_string()))
}

const ANOTHER_FOLDER: &str =
    "give the same options to go on with that run, or another folder to begin a new one";

/// Reads a checkpoint into arrays and moments; returns the step it stands at.
pub(super) fn load(
    path: &Path,
    identity: &RunIdentity,
    parameters: &mut Parameters,
    optimiser: &mut AdamW,
) -> Result<usize> {
    let wrong = |reason: String| Error::File { path: path.to_owned(), reason };
    let foreign =
        |reason: String| Error::Foreign { path: path.to_owned(), reason, advice: ANOTHER_FOLDER };
    let bytes = auscult_files::read_at_most(path, LARGEST_BYTES)
        .map_err(|error| wrong(error.to_string()))?;
    let damaged = |error: safetensors::SafeTensorError| {
        wrong(format!(
            "it is not a checkpoint, or it is damaged ({error}); remove it to begin again"
        ))
    };
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
    let header = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let header = header.ok_or_else(|| foreign("it is not a checkpoint of a run".to_owned()))?;
    let senseless = |error: serde_json::Error| wrong(format!("its header makes no sense: {error}"));
    let header: serde_json::Value = serde_json::from_str(header).map_err(senseless)?;
    let version = &header["identity"]["version"];
    if *version != VERSION {
        return Err(foreign(format!(
            "it is of another version of this program (form {version}, this one {VERSION})"
        )));
    }
    let header: Header = serde_json::from_value(header).map_err(senseless)?;
    if let Some(difference) = identity.difference(&header.identity) {
        return Err(foreign(difference));
    }
    let container = SafeTensors::deserialize(&bytes).map_err(damaged)?;
    let read = |name: &str, shape: &[usize], dtype: Dtype| match container.tensor(name) {
        Ok(view) if view.dtype() == dtype && view.shape() == shape => Ok(view.data().to_vec()),
        _ => Err(foreign(format!("tensor {name} is missing or of another shape"))),
    };
    let floats = |name: &str, shape: &[usize]| -> Result<Vec<f32>> {
        let bytes = read(name, shape, Dtype::F32)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    };
    let halves = |name: &str, shape: &[usize]| -> Result<Vec<bf16>> {
        let bytes = read(name, shape, Dtype::BF16)?;
        Ok(bytes.as_chunks::<2>().0.iter().map(|bytes| bf16::from_le_bytes(*bytes)).collect())
    };
    let mut loaded = parameters.clone();
    for parameter in &mut loaded.list {
        if parameter.is_trained || parameter.name.starts_with(super::parameters::HEAD) {
            parameter.values = floats(&format!("value.{}", parameter.name), &parameter.shape)?;
        }
    }
    let mut moments = Vec::with_capacity(optimiser.moments.len());
    for (parameter, kind) in loaded.trained().zip(&optimiser.moments) {
        let names = ["first", "second"].map(|part| format!("{part}.{}", parameter.name));
        let shape = &parameter.shape;
        moments.push(match kind {
            Moments::F32 { .. } => {
                Moments::F32 { first: floats(&names[0], shape)?, second: floats(&names[1], shape)? }
            }
            Moments::Bf16 { .. } => Moments::Bf16 {
                first: halves(&names[0], shape)?,
                second: halves(&names[1], shape)?,
            },
        });
    }
    *parameters = loaded;
    optimiser.moments = moments;
    Ok(header.step)
}

#[cfg(test)]
mod tests {
    use super::{super::survey::ClassFacts, *};

    fn identity(encoder: &str) -> RunIdentity {
        let [weights, clips] = ["a1", "c1"].map(str::to_owned);
        let facts = ClassFacts { clips: 3, digest: "d1".to_owned() };
        let classes = BTreeMap::from([("fan 00".to_owned(), facts)]);
        let options = [("data", "a"), ("labels", "sections")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let origin = ClipOrigin { channel: "0".to_owned(), options: options.into() };
        let clips = (clips, classes, origin);
        RunIdentity::new(encoder.to_owned(), weights, clips, 10.0, FinetuneSettings::default())
    }

    #[test]
    fn what_differs_is_named_with_both_values() {
        let tiny = identity("ced-tiny");
        assert_eq!(tiny.difference(&tiny), None);
        let other = |change: fn(&mut RunIdentity)| {
            let mut other = tiny.clone();
            change(&mut other);
            tiny.difference(&other).unwrap()
        };
        assert_eq!(
            other(|it| it.encoder = "beats".to_owned()),
            "it is of encoder beats, this run of ced-tiny"
        );
        assert!(other(|it| it.fingerprint = "b2".to_owned()).contains("weights b2"));
        assert!(other(|it| it.clip_seconds = 2.0).contains("clip length 2"));
        assert!(other(|it| it.settings.batch = 7).contains("batch 7, this run of 32"));
        assert_eq!(
            other(|it| it.origin.channel = "mean".to_owned()),
            "it is of channel mean, this run of 0"
        );
        let louder = |it: &mut RunIdentity| {
            it.classes.values_mut().for_each(|facts| facts.digest = "d2".to_owned());
        };
        assert!(other(louder).starts_with("class \"fan 00\" sounds different"));
        let by_options = other(|it| {
            it.clips = "c2".to_owned();
            it.origin.options.insert("labels".to_owned(), "attributes".to_owned());
            it.origin.options.insert("machine".to_owned(), "fan".to_owned());
        });
        assert_eq!(
            by_options,
            "it is of labels attributes, machine fan, this run of labels sections, no machine: \
             the clips come in another order"
        );
        // The same clips by another way are the same run.
        let mut moved = tiny.clone();
        moved.origin.options.insert("data".to_owned(), "b".to_owned());
        assert_eq!(tiny.difference(&moved), None);
    }
}

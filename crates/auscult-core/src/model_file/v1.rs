//! Version 1: a safetensors container with one metadata entry.
//!
//! `__metadata__.auscult` is JSON: `{"version": 1, "checksum": "...", "header": {...}}`. The
//! checksum is BLAKE3 over the header's text and every tensor's name, shape and bytes, so that a
//! changed byte anywhere is noticed. Tensors: `references.<view>` (f32, references x axis),
//! `local_scales` (f64, views x bands x references), `band_facts` (f64, views x bands x
//! [exponent, divisor, typical score]), `left_out` (f64, NaN where there is none), `calibration`
//! (f64, clips x [score, group], by ascending score), and of an ensemble `members` (f64, members x
//! [mean, deviation] of their left-out log scores).
//!
//! Version 2 is the same with rounded references, for models whose settings name a `storage`: f16
//! tensors, or u8 ones with `references.<view>.ranges` beside (f32, references x ranges x [low,
//! high]; a range is that of sixteen neighbouring positions, 0 and 255 stand for its ends).
//!
//! Version 3 adds `weights.<name>` (f32, one axis) for each array of a trained front end, and the
//! detector's `score_of`.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    Basis, Beam, Calibration, Error, FittedBeam, Model, ModelSettings, Provenance, References,
    Result, Storage, View,
    beam::{BandFit, Standardisation},
    calibration::CalibrationClip,
    storage::{RANGE_OF, f32_to_half, from_byte, half_to_f32, range_of, to_byte},
};

pub(super) const VERSION: u32 = 3;

const KEY: &str = "auscult";

#[derive(Serialize, Deserialize)]
struct Envelope {
    version: u32,
    checksum: String,
    header: Box<RawValue>,
}

/// What every version of the envelope has.
#[derive(Deserialize)]
struct VersionOnly {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    settings: ModelSettings,
    axis_len: usize,
    /// The views the references have; the detector may use fewer.
    views: Vec<View>,
    calibration_basis: Basis,
    /// The domain of each calibration score; empty if none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calibration_domains: Vec<Option<String>>,
    references: Vec<Provenance>,
}

/// A tensor as it lies in the file.
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn of_f32(name: String, shape: Vec<usize>, values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { name, dtype: Dtype::F32, shape, bytes }
    }

    fn of_f64(name: &str, shape: Vec<usize>, values: impl IntoIterator<Item = f64>) -> Self {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        Self { name: name.to_owned(), dtype: Dtype::F64, shape, bytes }
    }
}

pub(super) fn write(model: &Model) -> Result<Vec<u8>> {
    let references = model.references();
    let header = Header {
        settings: model.settings().clone(),
        axis_len: references.axis_len(),
        views: references.views().to_vec(),
        calibration_basis: model.calibration().basis(),
        calibration_domains: known_domains(model.calibration()),
        references: references.provenance().to_vec(),
    };
    let unwritable = |error: &dyn std::fmt::Display| Error::DamagedModel {
        reason: format!("it cannot be written: {error}"),
    };
    let header = serde_json::value::to_raw_value(&header).map_err(|error| unwritable(&error))?;
    let tensors = tensors_of(model);
    let checksum = checksum(
        header.get(),
        tensors
            .iter()
            .map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice(), tensor.bytes.as_slice())),
    );
    // Files that an older program can read say so.
    let version = model.file_version();
    let envelope = serde_json::to_string(&Envelope { version, checksum, header })
        .map_err(|error| unwritable(&error))?;
    let views: std::result::Result<Vec<_>, _> = tensors
        .iter()
        .map(|tensor| {
            TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes)
                .map(|view| (tensor.name.as_str(), view))
        })
        .collect();
    // One entry only: the container keeps metadata in no particular order.
    let metadata = HashMap::from([(KEY.to_owned(), envelope)]);
    safetensors::serialize(views.map_err(|error| unwritable(&error))?, Some(metadata))
        .map_err(|error| unwritable(&error))
}

/// The domains of calibration clips, nothing if no clip has one.
fn known_domains(calibration: &Calibration) -> Vec<Option<String>> {
    if calibration.domain_names().is_empty() {
        return Vec::new();
    }
    calibration.clips().iter().map(|clip| clip.domain.clone()).collect()
}

fn tensors_of(model: &Model) -> Vec<Tensor> {
    let references = model.references();
    let detector = model.detector();
    let count = references.len();
    let views = detector.beam().settings().views.len();
    let bands = detector.beam().layout().bands().len();
    let storage = model.settings().storage;
    let mut tensors: Vec<Tensor> = references
        .views()
        .iter()
        .flat_map(|&view| matrix_tensors(references, view, storage))
        .collect();
    let scales = detector.band_fits().flatten().flat_map(|fit| fit.scales.iter().copied());
    tensors.push(Tensor::of_f64("local_scales", vec![views, bands, count], scales));
    let facts =
        detector.band_fits().flatten().flat_map(|fit| [fit.exponent, fit.divisor, fit.typical]);
    tensors.push(Tensor::of_f64("band_facts", vec![views, bands, 3], facts));
    let left_out = detector.left_out_scores().iter().map(|score| score.unwrap_or(f64::NAN));
    tensors.push(Tensor::of_f64("left_out", vec![count], left_out));
    let clips = model.calibration().clips();
    let values = clips.iter().flat_map(|clip| [clip.score, clip.group as f64]);
    tensors.push(Tensor::of_f64("calibration", vec![clips.len(), 2], values));
    let members = detector.standardisation();
    if !members.is_empty() {
        let values = members.iter().flat_map(|member| [member.mean, member.deviation]);
        tensors.push(Tensor::of_f64(MEMBERS, vec![members.len(), 2], values));
    }
    for (name, values) in &*model.settings().weights {
        tensors.push(Tensor::of_f32(format!("{WEIGHTS}{name}"), vec![values.len()], values));
    }
    tensors
}

/// What the names of a trained front end's tensors begin with.
const WEIGHTS: &str = "weights.";

/// The arrays of a trained front end.
fn weights(container: &SafeTensors<'_>) -> Result<BTreeMap<String, Vec<f32>>> {
    let mut weights = BTreeMap::new();
    for name in container.names() {
        let Some(own) = name.strip_prefix(WEIGHTS) else { continue };
        let view = container.tensor(name).map_err(|error| damaged(error.to_string()))?;
        let values = floats_f32(container, name, view.shape())?;
        if view.shape().len() != 1 || values.iter().any(|value| !value.is_finite()) {
            return Err(damaged(format!("tensor {name} is no list of finite numbers")));
        }
        weights.insert(own.to_owned(), values);
    }
    Ok(weights)
}

/// Only in files of ensembles.
const MEMBERS: &str = "members";

/// The standardisation of an ensemble's members; empty for a single front end.
fn standardisation(container: &SafeTensors<'_>, beam: &Beam) -> Result<Vec<Standardisation>> {
    let Some(ensemble) = &beam.settings().ensemble else { return Ok(Vec::new()) };
    let values = floats_f64(container, MEMBERS, Some(&[ensemble.members.len(), 2]))?;
    let (pairs, _) = values.as_chunks::<2>();
    let usable = |&[mean, deviation]: &[f64; 2]| mean.is_finite() && deviation > 0.0;
    if !pairs.iter().all(usable) {
        return Err(damaged("the mean or deviation of a member makes no sense"));
    }
    let standardisation = |&[mean, deviation]: &[f64; 2]| Standardisation { mean, deviation };
    Ok(pairs.iter().map(standardisation).collect())
}

/// The references of a view, and the ranges they are counted in.
fn matrix_tensors(references: &References, view: View, storage: Storage) -> Vec<Tensor> {
    let matrix = references.matrix(view).unwrap_or_default();
    let (name, axis_len) = (matrix_name(view), references.axis_len());
    let shape = vec![references.len(), axis_len];
    match storage {
        Storage::F32 => vec![Tensor::of_f32(name, shape, matrix)],
        Storage::F16 => {
            let bytes = matrix.iter().flat_map(|&value| f32_to_half(value).to_le_bytes()).collect();
            vec![Tensor { name, dtype: Dtype::F16, shape, bytes }]
        }
        Storage::Int8 => {
            let (mut bytes, mut ranges) = (Vec::with_capacity(matrix.len()), Vec::new());
            for block in matrix.chunks(axis_len.max(1)).flat_map(|row| row.chunks(RANGE_OF)) {
                let range = range_of(block);
                ranges.extend(range);
                bytes.extend(block.iter().map(|&value| to_byte(value, range)));
            }
            let ranges_shape = vec![references.len(), axis_len.div_ceil(RANGE_OF), 2];
            let ranges = Tensor::of_f32(ranges_name(view), ranges_shape, &ranges);
            vec![Tensor { name, dtype: Dtype::U8, shape, bytes }, ranges]
        }
    }
}

/// The references of a view as they were when they were written.
fn read_matrix(
    container: &SafeTensors<'_>,
    view: View,
    storage: Storage,
    count: usize,
    axis_len: usize,
) -> Result<Vec<f32>> {
    let (name, shape) = (matrix_name(view), [count, axis_len]);
    match storage {
        Storage::F32 => floats_f32(container, &name, &shape),
        Storage::F16 => {
            let data = tensor(container, &name, Dtype::F16, Some(&shape))?;
            let halves = data.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
            Ok(halves.map(half_to_f32).collect())
        }
        Storage::Int8 => {
            let data = tensor(container, &name, Dtype::U8, Some(&shape))?;
            let shape = [count, axis_len.div_ceil(RANGE_OF), 2];
            let ranges = floats_f32(container, &ranges_name(view), &shape)?;
            let blocks = data.chunks(axis_len.max(1)).flat_map(|row| row.chunks(RANGE_OF));
            let blocks = blocks.zip(ranges.as_chunks::<2>().0);
            let decode = |(block, &range): (&[u8], &[f32; 2])| {
                block.iter().map(|&byte| from_byte(byte, range)).collect::<Vec<_>>()
            };
            Ok(blocks.flat_map(decode).collect())
        }
    }
}

fn ranges_name(view: View) -> String {
    format!("references.{view}.ranges")
}

fn matrix_name(view: View) -> String {
    format!("references.{view}")
}

/// Order-independent in the tensors, which the container may reorder.
fn checksum<'a>(
    header: &str,
    tensors: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>,
) -> String {
    let mut parts: Vec<_> = tensors.collect();
    parts.sort_by_key(|&(name, ..)| name);
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    add(header.as_bytes());
    for (name, shape, bytes) in parts {
        add(name.as_bytes());
        add(format!("{shape:?}").as_bytes());
        add(bytes);
    }
    hasher.finalize().to_hex().to_string()
}

pub(super) fn read(bytes: &[u8]) -> Result<Model> {
    let (envelope, container) = open(bytes)?;
    let names = container.names();
    let tensors: Vec<(String, TensorView<'_>)> = container.tensors();
    let found = checksum(
        envelope.header.get(),
        tensors.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data())),
    );
    if found != envelope.checksum {
        return Err(damaged("the checksum does not match its contents"));
    }
    let mut header: Header = serde_json::from_str(envelope.header.get())
        .map_err(|error| damaged(format!("its header makes no sense: {error}")))?;
    let count = header.references.len();
    if count == 0 {
        return Err(Error::NoReferences);
    }
    let members = usize::from(header.settings.detector.ensemble.is_some());
    let storage = header.settings.storage;
    let tensors_a_view = if storage == Storage::Int8 { 2 } else { 1 };
    let weights = weights(&container)?;
    if names.len() != tensors_a_view * header.views.len() + 4 + members + weights.len() {
        return Err(damaged(format!("it has {} tensors", names.len())));
    }
    header.settings.weights = Arc::new(weights);
    if header.views.iter().enumerate().any(|(at, view)| header.views[..at].contains(view)) {
        return Err(damaged("it names a view twice"));
    }
    let matrices: Result<Vec<_>> = header
        .views
        .iter()
        .map(|&view| {
            let name = matrix_name(view);
            let matrix = read_matrix(&container, view, storage, count, header.axis_len)?;
            if matrix.iter().all(|value| value.is_finite()) {
                Ok((view, matrix))
            } else {
                Err(damaged(format!("tensor {name} holds values that are not finite")))
            }
        })
        .collect();
    // The references are as long as the axis, so from here on the file's size bounds it.
    let references = References::from_matrices(header.axis_len, matrices?, header.references)?
        .of_front_end(&header.settings.front_end)?;
    let beam = header.settings.detector.clone().check(header.axis_len)?;
    let (views, bands) = (beam.settings().views.len(), beam.layout().bands().len());
    let scales = floats_f64(&container, "local_scales", Some(&[views, bands, count]))?;
    let facts = floats_f64(&container, "band_facts", Some(&[views, bands, 3]))?;
    let left_out = floats_f64(&container, "left_out", Some(&[count]))?;
    let calibration = floats_f64(&container, "calibration", None)?;
    // What a fit typically scores may be unknown; everything that divides may not.
    let divides = |facts: &[f64]| facts[0].is_finite() && facts[1].is_finite() && facts[1] != 0.0;
    if scales.iter().any(|scale| !scale.is_finite()) || !facts.chunks_exact(3).all(divides) {
        return Err(damaged("a local scale, exponent or divisor is not finite"));
    }
    let fits = band_fits(&scales, &facts, count, bands);
    let left_out = left_out.into_iter().map(|score| (!score.is_nan()).then_some(score)).collect();
    let members = standardisation(&container, &beam)?;
    let detector = FittedBeam::from_parts(beam, references, fits, left_out, members)?;
    let calibration =
        calibration_of(header.calibration_basis, &calibration, header.calibration_domains)?;
    Ok(Model::from_parts(header.settings, detector, calibration))
}

/// The calibration from its pairs of score and group.
fn calibration_of(
    basis: Basis,
    pairs: &[f64],
    domains: Vec<Option<String>>,
) -> Result<Calibration> {
    let (pairs, _) = pairs.as_chunks::<2>();
    if !domains.is_empty() && domains.len() != pairs.len() {
        let (got, expected) = (domains.len(), pairs.len());
        return Err(damaged(format!("{got} domains for {expected} calibration scores")));
    }
    let domains = domains.into_iter().chain(std::iter::repeat(None));
    let clips = pairs.iter().zip(domains).map(|(&[score, group], domain)| CalibrationClip {
        score,
        group: group as usize,
        domain,
    });
    Ok(Calibration::of_clips(basis, clips.collect()))
}

/// The container and its envelope; tells foreign, newer and damaged files apart.
fn open(bytes: &[u8]) -> Result<(Envelope, SafeTensors<'_>)> {
    let foreign = |reason: String| Error::ForeignModel { reason };
    if bytes.is_empty() {
        return Err(foreign("the file is empty".to_owned()));
    }
    let container = SafeTensors::read_metadata(bytes);
    let (_, metadata) = match container {
        Ok(metadata) => metadata,
        // A file cut short keeps its beginning, with our name in it.
        Err(_) if contains(bytes, br#""__metadata__":{"auscult":"#) => {
            return Err(damaged("the file is cut short or its header was changed"));
        }
        Err(error) => return Err(foreign(format!("it is not a safetensors file ({error})"))),
    };
    let Some(envelope) = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY)) else {
        return Err(foreign("it is a safetensors file without an auscult header".to_owned()));
    };
    let VersionOnly { version } = serde_json::from_str(envelope)
        .map_err(|error| damaged(format!("its header is not readable: {error}")))?;
    if version > VERSION {
        return Err(Error::ModelVersion { found: version, supported: VERSION });
    }
    let envelope = serde_json::from_str(envelope)
        .map_err(|error| damaged(format!("its header is not readable: {error}")))?;
    let container = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
    Ok((envelope, container))
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes
        .get(..256.min(bytes.len()))
        .is_some_and(|start| start.windows(needle.len()).any(|window| window == needle))
}

fn band_fits(scales: &[f64], facts: &[f64], count: usize, bands: usize) -> Vec<Vec<BandFit>> {
    let fits =
        scales.chunks_exact(count.max(1)).zip(facts.chunks_exact(3)).map(|(scales, facts)| {
            BandFit {
                scales: scales.to_vec(),
                exponent: facts[0],
                divisor: facts[1],
                typical: facts[2],
            }
        });
    let fits: Vec<BandFit> = fits.collect();
    fits.chunks(bands).map(<[BandFit]>::to_vec).collect()
}

fn floats_f32(container: &SafeTensors<'_>, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
    let data = tensor(container, name, Dtype::F32, Some(shape))?;
    let values = data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    Ok(values.collect())
}

fn floats_f64(
    container: &SafeTensors<'_>,
    name: &str,
    shape: Option<&[usize]>,
) -> Result<Vec<f64>> {
    let data = tensor(container, name, Dtype::F64, shape)?;
    let values = data.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    Ok(values.collect())
}

fn tensor<'a>(
    container: &SafeTensors<'a>,
    name: &str,
    dtype: Dtype,
    shape: Option<&[usize]>,
) -> Result<&'a [u8]> {
    let view = container.tensor(name).map_err(|_| damaged(format!("tensor {name} is missing")))?;
    if view.dtype() != dtype || shape.is_some_and(|shape| view.shape() != shape) {
        let (found, expected) = (view.shape(), shape.unwrap_or_default());
        return Err(damaged(format!(
            "tensor {name} is {:?} {found:?}, expected {dtype:?} {expected:?}",
            view.dtype()
        )));
    }
    Ok(view.data())
}

fn damaged(reason: impl Into<String>) -> Error {
    Error::DamagedModel { reason: reason.into() }
}

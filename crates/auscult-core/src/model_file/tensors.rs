//! The numbers of a model as tensors: the same in every version.
//!
//! `references.<view>` (references x axis; f32, or f16, or u8 with `references.<view>.ranges` beside:
//! f32, references x ranges x [low, high], where a range is that of sixteen neighbouring positions and
//! 0 and 255 stand for its ends), `local_scales` (f64, views x bands x references), `band_facts` (f64,
//! views x bands x [exponent, divisor, typical score]), `left_out` (f64, NaN where there is none),
//! `calibration` (f64, clips x [score, group], by ascending score), of an ensemble `members` (f64,
//! members x [mean, deviation] of their log scores), of scaled distances `maps.<n>` (f64, [centres,
//! weights] x width, view by view and band by band), `weights.<name>` (f32, one axis) for
//! each array of a trained front end, and `spectra` (f32, references x third-octave bands, dBFS, NaN where
//! it is not known) where references know how they were recorded.

use std::{collections::BTreeMap, sync::Arc};

use safetensors::{Dtype, SafeTensors};

use super::{
    Content,
    container::{Tensor, floats_f32, floats_f64, tensor},
    damaged,
};
use crate::{
    Basis, Beam, Calibration, Error, FittedBeam, Model, Provenance, References, Result, Storage,
    View,
    beam::{BandFit, Standardisation},
    calibration::CalibrationClip,
    scaled::ScaledMap,
    storage::{RANGE_OF, f32_to_half, from_byte, half_to_f32, range_of, to_byte},
};

pub(super) fn of_model(model: &Model) -> Vec<Tensor> {
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
    for (number, map) in detector.maps().enumerate() {
        let (centres, weights) = map.parts();
        let values = centres.iter().chain(weights).copied();
        tensors.push(Tensor::of_f64(&map_name(number), vec![2, centres.len()], values));
    }
    tensors.extend(spectra_tensor(references));
    for (name, values) in &*model.settings().weights {
        tensors.push(Tensor::of_f32(format!("{WEIGHTS}{name}"), vec![values.len()], values));
    }
    tensors
}

/// Only in files whose references know their levels.
const SPECTRA: &str = "spectra";

/// The levels of the references, if one of them has levels.
fn spectra_tensor(references: &References) -> Option<Tensor> {
    let spectrum = |from: &Provenance| from.recording.as_ref().map(|it| it.spectrum_dbfs.clone());
    let spectra: Vec<Vec<f32>> =
        references.provenance().iter().map(|from| spectrum(from).unwrap_or_default()).collect();
    let bands = spectra.iter().map(Vec::len).max().filter(|&bands| bands > 0)?;
    let row = |mut spectrum: Vec<f32>| {
        spectrum.resize(bands, f32::NAN);
        spectrum
    };
    let count = spectra.len();
    let values: Vec<f32> = spectra.into_iter().flat_map(row).collect();
    Some(Tensor::of_f32(SPECTRA.to_owned(), vec![count, bands], &values))
}

/// Gives the references their levels; says whether the file has some.
fn read_spectra(container: &SafeTensors<'_>, references: &mut [Provenance]) -> Result<bool> {
    if !container.names().contains(&SPECTRA) {
        return Ok(false);
    }
    let view = container.tensor(SPECTRA).map_err(|error| damaged(error.to_string()))?;
    let bands = view.shape().get(1).copied().filter(|&bands| bands > 0);
    let Some(bands) = bands else { return Err(damaged("its spectra have no bands")) };
    let values = floats_f32(container, SPECTRA, &[references.len(), bands])?;
    for (from, row) in references.iter_mut().zip(values.chunks_exact(bands)) {
        let known = row.iter().filter(|level| level.is_finite()).count();
        match &mut from.recording {
            Some(recording) if known == bands => recording.spectrum_dbfs = row.to_vec(),
            _ if row.iter().all(|level| level.is_nan()) => {}
            _ => return Err(damaged("a spectrum is not whole, or of an unknown recording")),
        }
    }
    Ok(true)
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
            return Err(damaged(format!("tensor {name} is not a list of finite numbers")));
        }
        weights.insert(own.to_owned(), values);
    }
    Ok(weights)
}

/// The maps of scaled bands, view by view and band by band.
fn maps(container: &SafeTensors<'_>, beam: &Beam) -> Result<Vec<ScaledMap>> {
    let widths: Vec<usize> =
        beam.scaled_bands().map(|band| beam.layout().bands()[band].len()).collect();
    let views = beam.settings().views.len();
    let map = |number: usize| {
        let width = widths[number % widths.len()];
        let values = floats_f64(container, &map_name(number), Some(&[2, width]))?;
        let (centres, weights) = values.split_at(width);
        let unusable = "a map has numbers that are not finite, or a weight that is not above 0";
        ScaledMap::from_parts(centres, weights).ok_or_else(|| damaged(unusable))
    };
    (0..views * widths.len()).map(map).collect()
}

fn map_name(number: usize) -> String {
    format!("maps.{number}")
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
        return Err(damaged("the mean of a member is not finite or its deviation is not above 0"));
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

/// The references of a view.
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

/// The model that a header and its tensors are.
pub(super) fn model(mut header: Content, container: &SafeTensors<'_>) -> Result<Model> {
    let names = container.names();
    let count = header.references.len();
    if count == 0 {
        return Err(Error::NoReferences);
    }
    let members = usize::from(header.settings.detector.ensemble.is_some());
    let storage = header.settings.storage;
    let tensors_a_view = if storage == Storage::Int8 { 2 } else { 1 };
    let weights = weights(container)?;
    let mapped = names.iter().filter(|name| name.starts_with("maps.")).count();
    let spectra = usize::from(read_spectra(container, &mut header.references)?);
    let others = 4 + members + mapped + spectra + weights.len();
    if names.len() != tensors_a_view * header.views.len() + others {
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
            let matrix = read_matrix(container, view, storage, count, header.axis_len)?;
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
    let scales = floats_f64(container, "local_scales", Some(&[views, bands, count]))?;
    let facts = floats_f64(container, "band_facts", Some(&[views, bands, 3]))?;
    let left_out = floats_f64(container, "left_out", Some(&[count]))?;
    let calibration = floats_f64(container, "calibration", None)?;
    // What a fit typically scores may be unknown; everything that divides may not.
    let divides = |facts: &[f64]| facts[0].is_finite() && facts[1].is_finite() && facts[1] != 0.0;
    if scales.iter().any(|scale| !scale.is_finite()) || !facts.chunks_exact(3).all(divides) {
        return Err(damaged("a local scale, exponent or divisor is not finite"));
    }
    let fits = band_fits(&scales, &facts, count, bands);
    let left_out = left_out.into_iter().map(|score| (!score.is_nan()).then_some(score)).collect();
    let members = standardisation(container, &beam)?;
    let maps = maps(container, &beam)?;
    if maps.len() != mapped {
        return Err(damaged(format!("it has {mapped} maps where {} are needed", maps.len())));
    }
    let detector = FittedBeam::from_parts(beam, references, &maps, fits, left_out, members)?;
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

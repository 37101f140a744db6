//! Encoders as front ends, found again by what a model file says.

use std::sync::Arc;

use auscult_core::{ClipSettings, ClipVectors, FrontEnd, View, features::FrontEndSource};
use auscult_encoders::{
    Bundled, Encoder, EncoderFrontEnd, EncoderLibrary, EncoderRequest, EncoderSettings, Precision,
    to_safetensors,
};

use crate::made::{config, small_beats, tensors};

fn library() -> EncoderLibrary {
    let bytes = auscult_ced_tiny::WEIGHTS;
    EncoderLibrary::new(vec![Bundled { name: auscult_ced_tiny::NAME, bytes }])
}

fn length(seconds: f64) -> auscult_core::ClipLength {
    ClipSettings { seconds, ..ClipSettings::default() }.check().unwrap()
}

fn front_end(settings: &EncoderSettings, encoder: Encoder) -> Result<EncoderFrontEnd, String> {
    EncoderFrontEnd::new(Arc::new(encoder), settings.clone(), length(1.0))
        .map_err(|error| error.to_string())
}

#[test]
fn a_row_of_tokens_is_a_band_with_frequencies() {
    let front_end = library().front_end("ced", &EncoderRequest::default(), length(2.0)).unwrap();
    assert_eq!(front_end.axis().len(), 4 * 192);
    let bands = front_end.default_bands().layout(front_end.axis().len()).unwrap();
    assert_eq!(bands.bands().len(), 4);
    let hertz: Vec<_> =
        bands.bands().iter().map(|band| front_end.axis().hertz(band.clone()).unwrap()).collect();
    assert!(hertz.windows(2).all(|pair| pair[0].end == pair[1].start), "{hertz:?}");
    assert!(hertz[0].start < 50.0 && hertz[3].end > 7_500.0, "{hertz:?}");
}

#[test]
fn vectors_pool_the_frames_of_each_view() {
    let front_end = library().front_end("ced", &EncoderRequest::default(), length(2.0)).unwrap();
    let sound: Vec<f32> = (0..32_000).map(|at| (at as f32 * 0.1).sin() * 0.2).collect();
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    extractor.extract_into(&sound, &mut vectors).unwrap();
    let mut frames = Vec::new();
    extractor.for_each_frame(&sound, &mut |frame| frames.push(frame.to_vec())).unwrap();
    assert_eq!(frames.len(), 12);
    let max = frames.iter().map(|frame| frame[5]).fold(f32::NEG_INFINITY, f32::max);
    assert_eq!(vectors.view(View::Max).unwrap()[5], max);
}

#[test]
fn several_layers_lie_one_after_the_other() {
    let one = |layers: &[usize]| {
        let request = EncoderRequest { layers: layers.to_vec(), ..EncoderRequest::default() };
        let front_end = library().front_end("ced-tiny", &request, length(1.0)).unwrap();
        let mut vectors = ClipVectors::for_front_end(&*front_end);
        let sound: Vec<f32> = (0..16_000).map(|at| (at as f32 * 0.1).sin() * 0.2).collect();
        front_end.extractor().extract_into(&sound, &mut vectors).unwrap();
        let names = front_end.axis().part_names(0..front_end.axis().len());
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        (vectors.view(View::Mean).unwrap().to_vec(), names)
    };
    let (both, names) = one(&[8, 4]);
    assert_eq!(both, [one(&[4]).0, one(&[8]).0].concat());
    assert_eq!(names, ["layer 4", "layer 8"]);
}

#[test]
fn rows_are_grouped_and_the_class_token_is_only_taken_where_there_is_one() {
    let base = EncoderSettings { layers: vec![2], rows_per_band: 2, class_token: false };
    let grouped = front_end(&base, small_beats()).unwrap();
    assert_eq!(grouped.default_bands().layout(8 * 24).unwrap().bands().len(), 4);
    let odd = EncoderSettings { rows_per_band: 3, ..base.clone() };
    let error = front_end(&odd, small_beats()).unwrap_err();
    assert_eq!(error, "rows per band must be a divisor of the 8 rows of beats-2x24, got 3");
    let class = EncoderSettings { class_token: true, ..base };
    let error = front_end(&class, small_beats()).unwrap_err();
    assert_eq!(error, "class token must be left out: beats-2x24 has none, got taken");
}

#[test]
fn other_weights_than_the_models_are_refused_with_both_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.safetensors");
    std::fs::write(&path, to_safetensors(&tensors(), Some(&config())).unwrap()).unwrap();
    let identity =
        front_end(&EncoderSettings::for_encoder(&small_beats()), small_beats()).unwrap().identity();
    let with_file = library().with_file(Some(path.clone()));
    assert_eq!(with_file.build(&identity, length(1.0)).unwrap().identity(), identity);

    let mut other = tensors();
    other[0].2[0] += 0.5;
    std::fs::write(&path, to_safetensors(&other, Some(&config())).unwrap()).unwrap();
    let error = library()
        .with_file(Some(path.clone()))
        .build(&identity, length(1.0))
        .unwrap_err()
        .to_string();
    assert!(error.contains("the model was made with beats-2x24 ("), "{error}");
    assert!(error.contains("the weights here are beats-2x24 ("), "{error}");
    assert!(error.contains(&format!(") in {};", path.display())), "{error}");

    let error = library().build(&identity, length(1.0)).unwrap_err().to_string();
    assert!(error.contains("the weights of beats-2x24 are not on this machine"), "{error}");
    let error = library()
        .with_file(Some(path.clone()))
        .encoder("ced", Precision::F32)
        .unwrap_err()
        .to_string();
    let expected = format!("{} holds beats-2x24 (", path.display());
    assert!(error.starts_with(&expected) && error.contains("), not ced;"), "{error}");
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.safetensors");
    let whole = to_safetensors(&tensors(), Some(&config())).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let identity =
        front_end(&EncoderSettings::for_encoder(&small_beats()), small_beats()).unwrap().identity();
    let with_file = library().with_file(Some(path.clone()));
    let said = format!("{}: truncated: it has {} bytes", path.display(), whole.len() / 2);
    let error = with_file.build(&identity, length(1.0)).unwrap_err().to_string();
    assert!(error.starts_with(&said), "{error}");
    let error = with_file.encoder("beats", Precision::F32).unwrap_err().to_string();
    assert!(error.starts_with(&said), "{error}");
}

#[test]
fn the_axis_of_a_model_needs_no_weights() {
    for layers in [vec![2], vec![0, 1]] {
        let settings = EncoderSettings { layers, rows_per_band: 2, class_token: false };
        let made = front_end(&settings, small_beats()).unwrap();
        let axis =
            EncoderFrontEnd::axis_of(&made.identity(), made.axis().len(), length(1.0)).unwrap();
        assert_eq!(axis, *made.axis());
        let error = EncoderFrontEnd::axis_of(&made.identity(), 11, length(1.0)).unwrap_err();
        assert!(error.to_string().contains("11 positions for"), "{error}");
    }
}

#[test]
fn a_layer_asked_for_twice_is_refused() {
    let request = EncoderRequest { layers: vec![8, 4, 8], ..EncoderRequest::default() };
    let error = library().front_end("ced", &request, length(1.0)).unwrap_err().to_string();
    assert_eq!(error, "layers must be different ones, got 8 twice");
}

#[test]
fn blocks_that_were_left_out_are_read_when_they_are_asked_for() {
    let library = library();
    let sound: Vec<f32> = (0..16_000).map(|at| (at as f32 * 0.1).sin() * 0.2).collect();
    let vector = |layer| {
        let request = EncoderRequest { layers: vec![layer], ..EncoderRequest::default() };
        let front_end = library.front_end("ced", &request, length(1.0)).unwrap();
        let again = library.build(&front_end.identity(), length(1.0)).unwrap();
        assert_eq!(again.identity(), front_end.identity());
        let mut vectors = ClipVectors::for_front_end(&*front_end);
        front_end.extractor().extract_into(&sound, &mut vectors).unwrap();
        vectors.view(View::Mean).unwrap().to_vec()
    };
    let (low, high) = (vector(2), vector(13));
    assert_eq!(vector(2), low, "with the blocks above");
    assert_ne!(low, high);
    let whole = library.encoder("ced", Precision::F32).unwrap();
    assert_eq!((whole.depth(), whole.last_layer()), (12, 13));
}

#[test]
fn integers_are_the_default_of_ced_and_a_model_keeps_what_it_was_made_with() {
    let library = library();
    let precision = |asked| {
        let request = EncoderRequest { precision: asked, ..EncoderRequest::default() };
        let identity = library.front_end("ced", &request, length(1.0)).unwrap().identity();
        let again = library.build(&identity, length(1.0)).unwrap();
        assert_eq!(again.identity(), identity);
        identity.settings["precision"].clone()
    };
    assert_eq!(precision(None), "int16");
    assert_eq!(precision(Some(Precision::F32)), "f32");
}

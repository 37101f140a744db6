//! The same weights from every container are the same encoder.

use auscult_encoders::{Checkpoint, Container, Description, Encoder, to_safetensors};

use crate::made::{Kind, config, small_beats, tensors, torch_zip};

#[test]
fn every_container_and_storage_gives_the_same_encoder() {
    let expected = small_beats();
    for kind in [Kind::Float, Kind::Half, Kind::BFloat16] {
        let file = torch_zip(&tensors(), &config(), kind);
        let checkpoint = Checkpoint::from_bytes(file).unwrap();
        assert_eq!(checkpoint.container(), Container::TorchZip);
        let encoder = Encoder::load(&checkpoint).unwrap();
        assert_eq!(encoder.fingerprint(), expected.fingerprint(), "{kind:?}");
        assert_eq!(encoder.name(), "beats-2x24");
    }
}

#[test]
fn conversion_keeps_the_encoder() {
    let checkpoint = Checkpoint::from_bytes(torch_zip(&tensors(), &config(), Kind::Half)).unwrap();
    let encoder = Encoder::load(&checkpoint).unwrap();
    let bytes = encoder.convert(&checkpoint, Some("00ff".to_owned())).unwrap();
    assert_eq!(encoder.convert(&checkpoint, Some("00ff".to_owned())).unwrap(), bytes);
    let converted = Checkpoint::from_bytes(bytes).unwrap();
    assert_eq!(converted.container(), Container::Safetensors);
    assert_eq!(Encoder::load(&converted).unwrap().fingerprint(), encoder.fingerprint());
    let expected = Description {
        architecture: Some("beats".to_owned()),
        config: Some(config()),
        source_sha256: Some("00ff".to_owned()),
    };
    assert_eq!(*converted.description(), expected);
}

#[test]
fn conversion_writes_the_configuration_the_tensors_tell() {
    let bundled = Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
    let encoder = Encoder::load(&bundled).unwrap();
    assert_eq!(encoder.config(), None);
    let converted = Checkpoint::from_bytes(encoder.convert(&bundled, None).unwrap()).unwrap();
    let config = serde_json::json!({
        "embed_dim": 192, "depth": 12, "num_heads": 3, "patch_size": 16, "n_mels": 64,
    });
    assert_eq!(converted.config(), Some(&config));
    let encoder = Encoder::load(&converted).unwrap();
    assert_eq!((encoder.name().as_str(), encoder.config()), ("ced-tiny", Some(&config)));
}

#[test]
fn the_configuration_of_older_files_is_read() {
    use safetensors::{Dtype, tensor::TensorView};
    let metadata =
        std::collections::HashMap::from([("auscult.config".to_owned(), config().to_string())]);
    let zeros = [0; 4];
    let tensor = TensorView::new(Dtype::F32, vec![1], &zeros).unwrap();
    let bytes = safetensors::serialize([("one", tensor)], Some(metadata)).unwrap();
    assert_eq!(Checkpoint::from_bytes(bytes).unwrap().config(), Some(&config()));
}

#[test]
fn a_file_is_mapped_and_its_neighbour_may_have_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    std::fs::write(&path, to_safetensors(&tensors(), None).unwrap()).unwrap();
    let error = Encoder::load(&Checkpoint::open(&path).unwrap()).unwrap_err().to_string();
    assert!(error.contains("BEATs configuration must be the cfg of a BEATs checkpoint"), "{error}");
    std::fs::write(folder.path().join("config.json"), config().to_string()).unwrap();
    let encoder = Encoder::load(&Checkpoint::open(&path).unwrap()).unwrap();
    assert_eq!(encoder.fingerprint(), small_beats().fingerprint());
}

#[test]
fn the_bundled_weights_are_ced_tiny() {
    let checkpoint = Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
    let encoder = Encoder::load(&checkpoint).unwrap();
    assert_eq!(encoder.name(), "ced-tiny");
    assert_eq!(encoder.fingerprint(), "a765b270756a6102f4ec913f92067bec");
    assert_eq!((encoder.rows(), encoder.width(), encoder.heads()), (4, 192, 3));
    assert_eq!((encoder.default_layer(), encoder.last_layer()), (8, 13));
}

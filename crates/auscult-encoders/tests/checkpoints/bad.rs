//! Wrong, truncated, foreign and tampered checkpoints.

use auscult_encoders::{Checkpoint, Encoder, to_safetensors};
use proptest::prelude::*;
use serde_json::json;

use crate::made::{Kind, Tensors, config, small_beats, small_beats_checkpoint, tensors, torch_zip};

/// The error of loading tensors with a configuration.
fn refused(tensors: &Tensors, config: &serde_json::Value) -> String {
    let bytes = to_safetensors(tensors, Some(config)).unwrap();
    Encoder::load(&Checkpoint::from_bytes(bytes).unwrap()).unwrap_err().to_string()
}

#[test]
fn a_missing_tensor_is_named_with_the_shape_it_must_have() {
    let mut tensors = tensors();
    tensors.retain(|(name, ..)| name != "encoder.layers.1.fc2.weight");
    let error = refused(&tensors, &config());
    assert!(
        error.contains("tensor encoder.layers.1.fc2.weight is missing, expected shape [24, 40]"),
        "{error}"
    );
}

#[test]
fn a_tensor_of_another_shape_is_named_with_both() {
    let mut tensors = tensors();
    let fc1 = tensors.iter_mut().find(|(name, ..)| name == "encoder.layers.0.fc1.weight").unwrap();
    fc1.1 = vec![24, 40];
    let error = refused(&tensors, &config());
    assert!(
        error.contains("encoder.layers.0.fc1.weight has shape [24, 40], expected [40, 24]"),
        "{error}"
    );
}

#[test]
fn weights_that_are_no_numbers_are_named() {
    for (value, word) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let mut tensors = tensors();
        tensors[3].2[7] = value;
        let error = refused(&tensors, &config());
        assert!(error.contains(&format!("post_extract_proj.weight has {word} at 7")), "{error}");
    }
}

#[test]
fn a_configuration_that_does_not_fit_is_refused() {
    for (key, value, expected) in [
        ("encoder_layers", json!(3), "encoder.layers.2.self_attn.q_proj.weight is missing"),
        ("encoder_embed_dim", json!(48), "has shape [24, 20], expected [48, 20]"),
        ("encoder_attention_heads", json!(5), "must be a divisor of the width, got 5"),
        ("encoder_attention_heads", json!(0), "must be 1 to 65536"),
        ("num_buckets", json!(0), "num_buckets must be 4 to 65536, got 0"),
        ("activation_fn", json!("relu"), "activation_fn must be gelu, got relu"),
        ("layer_norm_first", json!(true), "layer_norm_first must be false, got true"),
        ("input_patch_size", json!(8), "input_patch_size must be 16, got 8"),
        ("gru_rel_pos", json!("yes"), "BEATs configuration must be"),
    ] {
        let mut config = config();
        config[key] = value;
        let error = refused(&tensors(), &config);
        assert!(error.contains(expected), "{key}: {error}");
    }
}

#[test]
fn files_of_something_else_are_refused_with_what_they_are() {
    let foreign = to_safetensors(&[("weight".to_owned(), vec![1], vec![0.5])], None).unwrap();
    for (bytes, expected) in [
        (Vec::new(), "the file is empty"),
        (b"hello, world".to_vec(), "neither a PyTorch zip file nor safetensors"),
        (b"\x80\x02\x8a\x0a".to_vec(), "from before 1.6"),
        (b"PK\x03\x04 nothing".to_vec(), "a damaged zip"),
        (foreign, "not a checkpoint of a known encoder: its tensors begin with weight"),
    ] {
        let error = match Checkpoint::from_bytes(bytes) {
            Err(error) => error,
            Ok(checkpoint) => Encoder::load(&checkpoint).unwrap_err(),
        };
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_file_cut_short_says_how_long_it_is_and_must_be() {
    let whole = to_safetensors(&tensors(), Some(&config())).unwrap();
    let table = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let length = whole.len();
    let refused = |bytes: &[u8]| Checkpoint::from_bytes(bytes.to_vec()).unwrap_err().to_string();
    for (cut, expected) in [(length - 1, length), (table, length), (table / 2, table), (8, table)] {
        let error = refused(&whole[..cut]);
        let said = format!(
            "truncated: it has {cut} bytes, its table of tensors says {expected}; fetch the file again"
        );
        assert_eq!(error, said);
    }
    let error = refused(&[whole.as_slice(), b"more"].concat());
    assert!(error.starts_with(&format!("damaged: it has {} bytes", length + 4)), "{error}");
    let zip = torch_zip(&tensors(), &config(), Kind::Float);
    let error = refused(&zip[..zip.len() / 2]);
    assert!(
        error.contains(&format!("a damaged zip of {} bytes, truncated perhaps", zip.len() / 2)),
        "{error}"
    );
}

#[test]
fn what_a_file_says_of_itself_must_fit_its_tensors() {
    let bundled = || Checkpoint::from_static(auscult_ced_tiny::WEIGHTS).unwrap();
    for (key, value, expected) in [
        ("embed_dim", 256, "embed_dim must be 192, as the tensors of CED have it, got 256"),
        ("depth", 6, "depth must be 12, as the tensors of CED have it, got 6"),
        ("num_heads", 4, "num_heads must be 3, as the tensors of CED have it, got 4"),
    ] {
        let error = Encoder::load(&bundled().with_config(json!({ key: value }))).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let bytes = small_beats().convert(&small_beats_checkpoint(), None).unwrap();
    let at = bytes.windows(5).position(|window| window == b"beats").unwrap();
    let mut foreign = bytes;
    foreign[at..at + 5].copy_from_slice(b"boats");
    let error = Encoder::load(&Checkpoint::from_bytes(foreign).unwrap()).unwrap_err().to_string();
    assert!(error.contains("its header says boats, its tensors are those of beats"), "{error}");
}

#[test]
fn a_tensor_beyond_its_storage_is_refused() {
    let mut tensors = tensors();
    tensors[0].1 = vec![2_000_000_000, 1, 16, 16];
    let bytes = torch_zip(&tensors, &config(), Kind::Float);
    let error = Checkpoint::from_bytes(bytes).unwrap_err().to_string();
    assert!(error.contains("tensor patch_embedding.weight of shape"), "{error}");
    assert!(error.contains("does not fit into its storage"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(at in 0.0..1.0_f64, value: u8, torch: bool, cut: bool) {
        let mut bytes = if torch {
            torch_zip(&tensors(), &config(), Kind::Float)
        } else {
            to_safetensors(&tensors(), Some(&config())).unwrap()
        };
        // Damage in the tables rather than in the values.
        let tables = if torch && value % 2 == 0 { bytes.len() } else { bytes.len().min(9_000) };
        let at = (at * tables as f64) as usize;
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = value;
        }
        if let Ok(checkpoint) = Checkpoint::from_bytes(bytes) {
            let _ = Encoder::load(&checkpoint);
        }
    }
}

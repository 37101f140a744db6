//! Weights that are a pure function of a tensor's name and index, so that a test, here or in another
//! language, can build a network of any size without storing one.

fn fnv1a(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

/// Uniform in [-1, 1).
fn uniform(key: u64, index: usize) -> f64 {
    let mut z = key.wrapping_add((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / (1_u64 << 53) as f64) - 1.0
}

/// `count` values around `offset`, up to `scale` away from it.
pub fn values(name: &str, count: usize, offset: f64, scale: f64) -> Vec<f32> {
    let key = fnv1a(name);
    (0..count).map(|index| (offset + scale * uniform(key, index)) as f32).collect()
}

/// The values of a tensor, spread by what its name says it is.
pub fn tensor(name: &str, shape: &[usize]) -> Vec<f32> {
    let last = name.rsplit('.').next().unwrap_or_default();
    let (offset, scale) = match last {
        "weight" if name.contains("norm") => (1.0, 0.1),
        "weight_g" => (1.2, 0.12),
        "grep_a" => (1.0, 0.1),
        "extra_tokens" => (0.0, 0.5),
        "bias" => (0.0, 0.05),
        "mean" => (0.0, 0.0),
        "variance" => (1.0, 0.0),
        _ if name.ends_with("relative_attention_bias.weight") => (0.0, 0.5),
        _ => {
            let inputs: usize =
                if shape.len() > 1 { shape[1..].iter().product() } else { shape[0] };
            (0.0, (3.0 / inputs as f64).sqrt())
        }
    };
    values(name, shape.iter().product(), offset, scale)
}

/// The configuration of a BEATs with two blocks of 24 numbers a token, as JSON.
pub const SMALL_BEATS: &str = r#"{
    "encoder_layers": 2, "encoder_embed_dim": 24, "encoder_ffn_embed_dim": 40,
    "encoder_attention_heads": 2, "activation_fn": "gelu", "layer_norm_first": false,
    "conv_pos": 8, "conv_pos_groups": 4, "relative_position_embedding": true,
    "num_buckets": 16, "max_distance": 50, "gru_rel_pos": true, "deep_norm": true,
    "input_patch_size": 16, "embed_dim": 20, "finetuned_model": false
}"#;

/// The tensors of [`SMALL_BEATS`], by name and shape.
pub fn small_beats_shapes() -> Vec<(String, Vec<usize>)> {
    let mut list: Vec<(String, Vec<usize>)> = vec![
        ("patch_embedding.weight".into(), vec![20, 1, 16, 16]),
        ("layer_norm.weight".into(), vec![20]),
        ("layer_norm.bias".into(), vec![20]),
        ("post_extract_proj.weight".into(), vec![24, 20]),
        ("post_extract_proj.bias".into(), vec![24]),
        ("encoder.pos_conv.0.weight_g".into(), vec![1, 1, 8]),
        ("encoder.pos_conv.0.weight_v".into(), vec![24, 6, 8]),
        ("encoder.pos_conv.0.bias".into(), vec![24]),
        ("encoder.layer_norm.weight".into(), vec![24]),
        ("encoder.layer_norm.bias".into(), vec![24]),
    ];
    for layer in 0..2 {
        let mut add = |name: &str, shape: &[usize]| {
            list.push((format!("encoder.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("self_attn.grep_a", &[1, 2, 1, 1]);
        add("self_attn.grep_linear.weight", &[8, 12]);
        add("self_attn.grep_linear.bias", &[8]);
        add("self_attn.relative_attention_bias.weight", &[16, 2]);
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            add(&format!("self_attn.{part}.weight"), &[24, 24]);
            add(&format!("self_attn.{part}.bias"), &[24]);
        }
        for norm in ["self_attn_layer_norm", "final_layer_norm"] {
            add(&format!("{norm}.weight"), &[24]);
            add(&format!("{norm}.bias"), &[24]);
        }
        add("fc1.weight", &[40, 24]);
        add("fc1.bias", &[40]);
        add("fc2.weight", &[24, 40]);
        add("fc2.bias", &[24]);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_samples() {
        // detweights_check.json of the golden pack.
        assert_eq!(fnv1a("patch_embedding.weight"), 16_116_459_918_075_687_759);
        let first = uniform(fnv1a("patch_embedding.weight"), 0);
        assert!((first + 0.027_975_438_561_562_482).abs() < 1e-15);
        let fourth = uniform(fnv1a("encoder.layers.0.fc1.bias"), 3);
        assert!((fourth + 0.454_924_886_682_293_6).abs() < 1e-3, "{fourth}");
    }

    #[test]
    fn a_name_decides_every_value() {
        let weight = tensor("layers.0.weight", &[4, 48]);
        assert_eq!(weight, tensor("layers.0.weight", &[4, 48]));
        assert_ne!(weight, tensor("layers.1.weight", &[4, 48]));
        assert!(weight.iter().all(|value| value.abs() <= 0.25), "sqrt(3 / 48)");
        assert!(tensor("norm.weight", &[9]).iter().all(|value| (value - 1.0).abs() <= 0.1));
    }
}

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

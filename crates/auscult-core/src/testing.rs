//! Vectors for the unit tests.

/// `count` vectors of `width` numbers around a common one, among them duplicates and a zero
/// vector.
pub(crate) fn clustered(seed: u64, count: usize, width: usize, spread: f32) -> Vec<f32> {
    let mut state = seed | 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    let common: Vec<f32> =
        (0..width).map(|_| random() + if spread < 1e-20 { 0.0 } else { 2.0 }).collect();
    let mut vectors: Vec<f32> = Vec::with_capacity(count * width);
    for index in 0..count {
        match index % 9 {
            3 => vectors.extend_from_within((index - 1) * width..index * width),
            7 if spread > 0.5 => vectors.extend(std::iter::repeat_n(0.0, width)),
            // Everything tiny.
            _ if spread < 1e-20 => vectors.extend(common.iter().map(|_| spread * random())),
            _ => vectors.extend(common.iter().map(|value| value + spread * random())),
        }
    }
    vectors
}

//! A signal every encoder must make sense of.

use auscult::encoders::{Encoder, Threads};
use auscult::{ClipLength, ClipSettings};

/// Tones, a sweep and noise at 16 kHz, always the same.
fn signal(samples: usize) -> Vec<f32> {
    let mut state = 1_u32;
    (0..samples)
        .map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = f64::from(state >> 8) / f64::from(1_u32 << 24) - 0.5;
            let seconds = at as f64 / 16_000.0;
            let tone = |hertz: f64| (std::f64::consts::TAU * hertz * seconds).sin();
            (0.2 * tone(120.0)
                + 0.1 * tone(1_000.0)
                + 0.05 * tone(500.0 + 300.0 * seconds)
                + 0.05 * noise) as f32
        })
        .collect()
}

/// What a run of the self-test found, in words.
pub(super) fn run(encoder: &Encoder) -> anyhow::Result<String> {
    let length = ClipSettings { seconds: 2.0, ..ClipSettings::default() }.check()?;
    let samples = signal(length.samples());
    let once = outputs(encoder, &samples, length, Threads::One)?;
    let again = outputs(encoder, &samples, length, Threads::Pool)?;
    anyhow::ensure!(once == again, "two runs gave different bits; the memory may be faulty");
    for (layer, values) in &once {
        let finite = values.iter().all(|value| value.is_finite());
        anyhow::ensure!(finite, "layer {layer} gives values that are not finite");
        let first = values.first().copied().unwrap_or_default();
        let flat = values.iter().all(|value| (value - first).abs() < 1e-6);
        anyhow::ensure!(!flat, "layer {layer} gives the same value everywhere");
    }
    let silence = outputs(encoder, &vec![0.0; length.samples()], length, Threads::One)?;
    anyhow::ensure!(silence != once, "sound and silence give the same values");
    let tokens = once.last().map_or(0, |(_, values)| values.len() / encoder.width());
    let known = check_known(encoder, &once)?;
    Ok(format!(
        "{} layers of {tokens} tokens, all finite, the same bits twice; {known}",
        once.len()
    ))
}

/// Fingerprints of weights whose numbers are known, with the root mean square of every layer's values
/// on the signal, the input of the first block first and the normalised output last.
const KNOWN: [(&str, &[f64]); 1] = [("a765b270756a6102f4ec913f92067bec", &CED_TINY)];

/// By the implementation that the golden tests compare with the authors' code.
const CED_TINY: [f64; 14] = [
    11.308_920,
    80.594_831,
    82.551_915,
    82.364_464,
    87.085_525,
    91.867_328,
    96.288_695,
    107.380_558,
    139.669_006,
    169.383_617,
    210.815_701,
    218.380_093,
    359.882_562,
    1.350_845_7,
];

/// Sums in another order, on another machine, differ by less.
const ALLOWED: f64 = 1e-4;

/// Compares with stored numbers, if there are some for these weights; says in words what was found.
fn check_known(encoder: &Encoder, layers: &Layers) -> anyhow::Result<String> {
    let found: Vec<f64> = layers.iter().map(|(_, values)| root_mean_square(values)).collect();
    let known = KNOWN.iter().find(|(fingerprint, _)| *fingerprint == encoder.fingerprint());
    let Some((_, expected)) = known else {
        return Ok("no numbers are stored for these weights".to_owned());
    };
    for (layer, (found, expected)) in found.iter().zip(*expected).enumerate() {
        anyhow::ensure!(
            (found - expected).abs() <= ALLOWED * expected,
            "layer {layer} has values of size {found:.6} where {expected:.6} are known; this build or machine \
             computes other numbers, do not use it"
        );
    }
    Ok("every layer as stored".to_owned())
}

fn root_mean_square(values: &[f32]) -> f64 {
    let squares: f64 = values.iter().map(|&value| f64::from(value).powi(2)).sum();
    (squares / values.len().max(1) as f64).sqrt()
}

type Layers = Vec<(usize, Vec<f32>)>;

fn outputs(
    encoder: &Encoder,
    samples: &[f32],
    length: ClipLength,
    threads: Threads,
) -> anyhow::Result<Layers> {
    let mut buffers = encoder.buffers(length)?;
    let all: Vec<usize> = (0..=encoder.last_layer()).collect();
    let mut layers = Vec::new();
    encoder.run(samples, &mut buffers, threads, &all, &mut |tokens| {
        let values = (0..tokens.count()).flat_map(|index| tokens.numbered(index)).copied();
        layers.push((tokens.layer, values.collect()));
    })?;
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use auscult::encoders::Checkpoint;

    use super::*;

    #[test]
    fn the_bundled_encoder_has_its_stored_numbers_and_others_have_none() {
        let checkpoint = Checkpoint::from_static(auscult::ced_tiny::WEIGHTS).unwrap();
        let encoder = Encoder::load(&checkpoint).unwrap();
        let length = ClipSettings { seconds: 2.0, ..ClipSettings::default() }.check().unwrap();
        let mut layers =
            outputs(&encoder, &signal(length.samples()), length, Threads::One).unwrap();
        let sizes: Vec<f64> = layers.iter().map(|(_, values)| root_mean_square(values)).collect();
        assert_eq!(sizes.len(), CED_TINY.len());
        assert_eq!(
            check_known(&encoder, &layers).map_err(|error| format!("{error}: {sizes:?}")).unwrap(),
            "every layer as stored"
        );
        layers[3].1.iter_mut().for_each(|value| *value *= 1.001);
        let error = check_known(&encoder, &layers).unwrap_err().to_string();
        assert!(error.starts_with("layer 3 has values of size"), "{error}");
    }
}

//! A signal every encoder must make sense of.

use auscult_core::{ClipLength, ClipSettings};
use auscult_encoders::{Encoder, Threads};

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
    Ok(format!("{} layers of {tokens} tokens, all finite, the same bits twice", once.len()))
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

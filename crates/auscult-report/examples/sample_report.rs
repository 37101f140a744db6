//! Writes the report of a made-up fan to the path given:
//! `cargo run -p auscult-report --example sample_report -- report.html`

use std::{env, f32::consts::TAU, fs};

use auscult_core::{
    BeamSettings, ClipCondition, ClipSettings, ClipVectors, Explanation, FrontEndSettings, Method,
    Model, ModelSettings, Provenance, QualityMeter, References, ScoredClip, Verdict,
};
use auscult_report::{ReportClip, ReportInput, ReportSound, render};

const SAMPLE_RATE: u32 = 16_000;
const SECONDS: f64 = 4.0;
const DAYS: u32 = 6;
const CLIPS_A_DAY: u32 = 5;

/// What is wrong with the fan.
#[derive(Clone, Copy)]
enum Fault {
    None,
    /// A steady tone at 3.4 kHz.
    Whine,
    /// A click every quarter of a second.
    Knock,
    /// The blades turn slower.
    Slow,
    /// Hiss above 4 kHz.
    Leak,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = env::args().nth(1).ok_or("say where to write the report: report.html")?;
    let clip = ClipSettings { sample_rate: SAMPLE_RATE, seconds: SECONDS };
    let length = clip.check()?;
    let front_end = FrontEndSettings::default().build(length)?;
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);

    let mut references = References::for_front_end(&*front_end);
    let mut normal_sounds = Vec::new();
    for seed in 0..DAYS * CLIPS_A_DAY {
        let sound = fan(seed, Fault::None);
        extractor.extract_into(&sound, &mut vectors)?;
        let visit = Some(format!("2026-03-{:02}", 2 + seed / CLIPS_A_DAY));
        let source = format!("normal/fan-{seed:03}.wav");
        references.push(&vectors, Provenance { visit, ..Provenance::of(source) })?;
        normal_sounds.push(sound);
    }
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references)?;

    let faults = [
        (Fault::None, "normal"),
        (Fault::None, "normal"),
        (Fault::Whine, "bearing whine at 3.4 kHz"),
        (Fault::None, "normal"),
        (Fault::Knock, "knock, four times a second"),
        (Fault::None, "normal"),
        (Fault::None, "normal"),
        (Fault::Slow, "slipping belt"),
        (Fault::None, "normal"),
        (Fault::Leak, "air leak"),
        (Fault::None, "normal"),
    ];
    let mut meter = QualityMeter::new(SAMPLE_RATE);
    let mut clips = Vec::new();
    for (seed, (fault, truth)) in (100..).zip(faults) {
        let samples = fan(seed, fault);
        extractor.extract_into(&samples, &mut vectors)?;
        let scored = model.score(&vectors)?;
        let explanation = Explanation::new(&model, front_end.axis(), &vectors, &scored);
        let closest = closest_reference(&scored);
        let sound = (scored.verdict == Verdict::Anomalous).then(|| ReportSound {
            sample_rate: SAMPLE_RATE,
            samples: samples.clone(),
            nearest: normal_sounds.get(closest).cloned(),
            nearest_label: Some(model.references().provenance()[closest].source.clone()),
        });
        clips.push(ReportClip {
            remarks: meter.measure(&samples).map_or_else(Vec::new, |it| model.remarks(&it)),
            quality: meter.measure(&samples),
            explanation: Some(explanation),
            scored: Some(scored),
            truth: Some(truth.to_owned()),
            sound,
            ..ReportClip::of(
                format!("2026-04-14/fan-{seed}.wav"),
                0.0,
                ClipCondition::of(&samples, length),
            )
        });
    }
    let silence = vec![0.0; length.samples()];
    clips.push(ReportClip {
        quality: meter.measure(&silence),
        truth: Some("microphone unplugged".to_owned()),
        ..ReportClip::of(
            "2026-04-14/fan-microphone-off.wav",
            0.0,
            ClipCondition::of(&silence, length),
        )
    });
    let notes = ["Skipped notes.txt: not a sound file.".to_owned()];
    let page = render(&ReportInput {
        title: "Extractor fan 2, hall B",
        model: &model,
        axis: front_end.axis(),
        clips: &clips,
        program_version: env!("CARGO_PKG_VERSION"),
        notes: &notes,
    });
    fs::write(&path, page)?;
    Ok(())
}

/// The reference closest to the band that is furthest from normal: the one worth hearing.
fn closest_reference(scored: &ScoredClip) -> usize {
    let bands = scored.score.views.iter().flat_map(|view| &view.bands);
    bands.max_by(|a, b| a.value.total_cmp(&b.value)).map_or(0, |band| band.reference)
}

/// A fan: blade tone with harmonics over rumbling noise, no two clips the same.
fn fan(seed: u32, fault: Fault) -> Vec<f32> {
    let mut random = Random(seed.wrapping_mul(2_654_435_761).wrapping_add(1));
    let slower = if matches!(fault, Fault::Slow) { 0.8 } else { 1.0 };
    let blade = (118.0 + 4.0 * random.next()) * slower;
    let level = 0.9 + 0.2 * random.next().abs();
    let phase = TAU * random.next();
    let (mut rumble, mut previous) = (0.0, 0.0);
    (0..(f64::from(SAMPLE_RATE) * SECONDS) as usize)
        .map(|at| {
            let time = at as f32 / SAMPLE_RATE as f32;
            let noise = random.next();
            rumble += 0.06 * (noise - rumble);
            let hiss = noise - previous;
            previous = noise;
            let tones: f32 = (1..=8)
                .map(|harmonic| {
                    let harmonic = harmonic as f32;
                    (TAU * blade * harmonic * time + phase * harmonic).sin() / harmonic
                })
                .sum();
            let normal = level * (0.12 * tones + 0.5 * rumble + 0.012 * noise);
            normal
                + match fault {
                    Fault::None | Fault::Slow => 0.0,
                    Fault::Whine => 0.02 * (TAU * 3_400.0 * time).sin(),
                    Fault::Knock => 0.5 * noise * (-80.0 * (time % 0.25)).exp(),
                    Fault::Leak => 0.03 * hiss,
                }
        })
        .collect()
}

/// Numbers from -1 to 1 that are the same on every machine.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

//! Writes the report of a made-up fan to the path given:
//! `cargo run -p auscult-report --example sample_report -- report.html`

use std::{env, f32::consts::TAU, fs, path::Path};

use auscult::{ClipRecord, Learn, Listen, Machine, Sources, random::Random};
use auscult_report::Report;
use auscult_testing::wav;

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
    let path = std::path::absolute(path)?;
    let folder = tempfile::tempdir()?;
    // Recordings are named as they are found: by short paths.
    env::set_current_dir(&folder)?;
    for seed in 0..DAYS * CLIPS_A_DAY {
        let day = 2 + seed / CLIPS_A_DAY;
        write(&format!("normal/2026-03-{day:02}/fan-{seed:03}.wav"), &fan(seed, Fault::None))?;
    }
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
    for (seed, (fault, _)) in (100..).zip(faults) {
        write(&format!("2026-04-14/fan-{seed}.wav"), &fan(seed, fault))?;
    }
    let silence = vec![0.0; (SECONDS * f64::from(SAMPLE_RATE)) as usize];
    write("2026-04-14/fan-microphone-off.wav", &silence)?;

    let machine = Machine::learn("normal", &Learn::default().with_clip_seconds(SECONDS))?;
    let listen = Listen { explain: true, ..Listen::default() };
    let records: Vec<ClipRecord> = machine
        .listen_with(Sources::of(["2026-04-14"])?, &listen)?
        .collect::<auscult::Result<_>>()?;
    let truth = |record: &ClipRecord| {
        let index = records.iter().position(|other| other.path() == record.path())?;
        let known = faults.get(index).map(|(_, truth)| (*truth).to_owned());
        Some(known.unwrap_or_else(|| "microphone unplugged".to_owned()))
    };
    let page = Report::new("Extractor fan 2, hall B", &machine, &records)
        .with_notes(["Skipped notes.txt: not a sound file.".to_owned()])
        .with_truth(truth)
        .render();
    fs::write(&path, page)?;
    Ok(())
}

fn write(path: &str, samples: &[f32]) -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(path);
    fs::create_dir_all(path.parent().ok_or("a path without a folder")?)?;
    Ok(wav::write(&mut fs::File::create(path)?, samples, SAMPLE_RATE)?)
}

/// A fan: blade tone with harmonics over rumbling noise, no two clips the same.
fn fan(seed: u32, fault: Fault) -> Vec<f32> {
    let mut random = Random::of(u64::from(seed), &[]);
    let slower = if matches!(fault, Fault::Slow) { 0.8 } else { 1.0 };
    let blade = (118.0 + 4.0 * random.symmetric(1.0)) * slower;
    let level = 0.9 + 0.2 * random.symmetric(1.0).abs();
    let phase = TAU * random.symmetric(1.0);
    let (mut rumble, mut previous) = (0.0, 0.0);
    (0..(f64::from(SAMPLE_RATE) * SECONDS) as usize)
        .map(|at| {
            let time = at as f32 / SAMPLE_RATE as f32;
            let noise = random.symmetric(1.0);
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

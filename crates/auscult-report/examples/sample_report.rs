//! Writes the report of a made-up fan, and one of the same fan with a moved microphone:
//! `cargo run -p auscult-report --example sample_report -- report.html moved.html`

use std::{env, f32::consts::TAU, fs, path::Path};

use auscult::{
    Basis, Changed, ClipRecord, Learn, Listen, Machine, Sources, WhatDiffers, random::Random,
};
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

/// The visits of the page: a day, an hour, and what is wrong clip by clip.
const VISITS: [(&str, u32, &[Fault]); 4] = [
    ("2026-04-13", 9, &[Fault::None; 6]),
    (
        "2026-04-14",
        9,
        &[Fault::None, Fault::Knock, Fault::None, Fault::None, Fault::None, Fault::None],
    ),
    (
        "2026-04-15",
        9,
        &[Fault::None, Fault::None, Fault::None, Fault::Whine, Fault::Whine, Fault::None],
    ),
    (
        "2026-04-15",
        14,
        &[Fault::Whine, Fault::Leak, Fault::Whine, Fault::Whine, Fault::Slow, Fault::Whine],
    ),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    let [page, changed_page] = &paths[..] else {
        return Err(
            "say where to write the report, and one of a moved microphone: a.html b.html".into()
        );
    };
    let [page, changed_page] = [std::path::absolute(page)?, std::path::absolute(changed_page)?];
    let folder = tempfile::tempdir()?;
    // Recordings are named as they are found: by short paths.
    env::set_current_dir(&folder)?;
    for seed in 0..DAYS * CLIPS_A_DAY {
        let day = 2 + seed / CLIPS_A_DAY;
        write(&format!("normal/2026-03-{day:02}/fan-{seed:03}.wav"), &fan(seed, Fault::None))?;
    }
    let mut seed = 100;
    for (day, hour, faults) in VISITS {
        for (minute, fault) in faults.iter().enumerate() {
            seed += 1;
            let name = format!("fan_{day}_{hour:02}-{:02}-00_{}.wav", 2 * minute, fault.name());
            write(&format!("check/{name}"), &fan(seed, *fault))?;
            let moved: Vec<f32> =
                fan(seed, Fault::None).iter().map(|sample| sample * 0.4).collect();
            write(&format!("moved/{name}"), &moved)?;
        }
    }
    let silence = vec![0.0; (SECONDS * f64::from(SAMPLE_RATE)) as usize];
    write("check/fan_2026-04-15_14-20-00_microphone-off.wav", &silence)?;

    let machine = Machine::learn("normal", &Learn::default().with_clip_seconds(SECONDS))?;
    let title = "Extractor fan 2, hall B";
    let records = listen(&machine, "check")?;
    let report = Report::new(title, &machine, &records)
        .with_notes(["Skipped notes.txt: not a sound file.".to_owned()])
        .with_truth(|record| {
            Some(record.path().rsplit('_').next()?.trim_end_matches(".wav").to_owned())
        })
        .written_at(1_776_261_900.0);
    fs::write(&page, report.render())?;
    let records = listen(&machine, "moved")?;
    // Level alone is not judged; the page shows what a run that also sounds different would say.
    let changed = Changed {
        level: 0.05,
        p_value: 0.001,
        clips: records.len(),
        differing: records.len(),
        compared_with: DAYS as usize,
        basis: Basis::Visits,
        what_differs: vec![WhatDiffers {
            kind: "level",
            text: "8 dB quieter from 20 Hz to 8 kHz".to_owned(),
        }],
        next_step: "check place and gain of the microphone, and the load of the machine; if it is confirmed \
                    healthy, add this visit to the model"
            .to_owned(),
    };
    let report = Report::new(title, &machine, &records).with_changed(Some(changed));
    fs::write(&changed_page, report.render())?;
    Ok(())
}

fn listen(machine: &Machine, folder: &str) -> auscult::Result<Vec<ClipRecord>> {
    let listen = Listen { explain: true, ..Listen::default() };
    machine.listen_with(Sources::of([folder])?, &listen)?.collect()
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::None => "normal",
            Self::Whine => "bearing-whine",
            Self::Knock => "knock",
            Self::Slow => "slipping-belt",
            Self::Leak => "air-leak",
        }
    }
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

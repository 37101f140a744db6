//! Bearings with a fault: the preset `fast`, at the rate of the recordings, names how often balls pass it.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{f64::consts::TAU, fs::File, path::Path};

use auscult::{
    ClipRecord, ClipSettings, Learn, Listen, Machine, Preset, Sources, Verdict, record::ClipVerdict,
};
use auscult_testing::wav;

/// Normal clips: enough for verdicts at 5 %.
const HEALTHY: u64 = 24;

const SECONDS: f64 = 3.0;

/// A sensor on a bearing.
#[derive(Clone, Copy)]
struct Sensor {
    sample_rate: u32,
    /// What the housing rings at, in hertz.
    resonance: f64,
    /// Turns of the shaft a second, which the noise follows.
    shaft: f64,
    /// How hard a ball knocks against the fault; the noise is from -1 to 1.
    knock: f64,
}

/// Numbers from -1 to 1, the same for the same seed.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

impl Sensor {
    /// A recording; `fault` is how often a ball passes it in a second.
    fn record(self, seed: u64, fault: Option<f64>) -> Vec<f32> {
        let rate = f64::from(self.sample_rate);
        let mut random = random(seed + 1);
        let loudness = 0.05 * (1.0 + 0.1 * random());
        let mut impact = fault.map(|fault| random().abs() / fault);
        // The housing: a resonator that loses half its swing in a millisecond.
        let decay = (0.5_f64).powf(1000.0 / rate);
        let (turn, mut swing) = (TAU * self.resonance / rate, [0.0; 2]);
        let feedback = [2.0 * decay * turn.cos(), -decay * decay];
        let sample = |at: usize| {
            let time = at as f64 / rate;
            let mut push = 0.02 * random();
            if let (Some(next), Some(fault)) = (&mut impact, fault)
                && time >= *next
            {
                // Balls slip by a percent.
                *next += (1.0 + 0.01 * random()) / fault;
                push += self.knock * (1.0 + 0.2 * random());
            }
            let ringing = feedback[0] * swing[0] + feedback[1] * swing[1] + push;
            swing = [ringing, swing[0]];
            let turning = 1.0 + 0.3 * (TAU * self.shaft * time).sin();
            (loudness * (turning * random() + ringing)) as f32
        };
        (0..(SECONDS * rate) as usize).map(sample).collect()
    }

    fn write(self, path: &Path, seed: u64, fault: Option<f64>) {
        let mut file = File::create(path).unwrap();
        wav::write(&mut file, &self.record(seed, fault), self.sample_rate).unwrap();
    }
}

/// A machine that learnt healthy recordings in a folder.
fn learn(sensor: Sensor, folder: &Path) -> Machine {
    for seed in 0..HEALTHY {
        sensor.write(&folder.join(format!("{seed:02}.wav")), seed, None);
    }
    let sources = Sources::of([folder]).unwrap();
    let sample_rate = sources.native_rate().unwrap();
    assert_eq!(sample_rate, sensor.sample_rate);
    let clip = ClipSettings { sample_rate, seconds: SECONDS };
    Machine::learn(sources, &Learn { clip, preset: Preset::Fast, ..Learn::default() }).unwrap()
}

fn listen(machine: &Machine, path: &Path) -> ClipRecord {
    let listen = Listen { explain: true, ..Listen::default() };
    let mut listening = machine.listen_with(Sources::of([path]).unwrap(), &listen).unwrap();
    listening.next().unwrap().unwrap()
}

/// The number before `times a second`.
fn named_rate(reason: &str) -> Option<f64> {
    let (before, _) = reason.split_once(" times a second")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn the_reason_names_how_often_balls_pass_the_fault() {
    let sensors = [
        (
            Sensor { sample_rate: 25_600, resonance: 5_200.0, shaft: 24.6, knock: 2.0 },
            &[37.0, 87.0, 157.0][..],
        ),
        (
            Sensor { sample_rate: 48_000, resonance: 8_700.0, shaft: 29.3, knock: 2.0 },
            &[37.0, 87.0, 157.0, 289.0],
        ),
        // A frame lasts 85 ms here, and a knock two: it takes a harder one.
        (Sensor { sample_rate: 3_000, resonance: 900.0, shaft: 1.7, knock: 4.0 }, &[11.0]),
    ];
    for (sensor, faults) in sensors {
        let folder = tempfile::tempdir().unwrap();
        let machine = learn(sensor, folder.path());
        let path = folder.path().join("today.wav");
        sensor.write(&path, 1_000, None);
        assert_eq!(listen(&machine, &path).verdict(), ClipVerdict::Judged(Verdict::Normal));
        for &fault in faults {
            sensor.write(&path, 2_000, Some(fault));
            let record = listen(&machine, &path);
            let place = format!("{fault} Hz at {}: {}", sensor.sample_rate, record.reason);
            assert!(record.is_anomalous(), "{place}");
            let named = named_rate(&record.reason).unwrap_or_else(|| panic!("{place}"));
            assert!((named - fault).abs() <= 1.0, "{place}");
        }
    }
}

#[test]
fn recordings_of_several_rates_have_no_native_rate() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sample_rate) in [("a", 25_600), ("b", 48_000), ("c", 25_600)] {
        let path = folder.path().join(name).with_extension("wav");
        wav::write(&mut File::create(path).unwrap(), &[0.5; 100], sample_rate).unwrap();
    }
    std::fs::write(folder.path().join("damaged.wav"), "RIFF").unwrap();
    let error = Sources::of([folder.path()]).unwrap().native_rate().unwrap_err().to_string();
    let a = folder.path().join("a.wav").display().to_string();
    let expected = format!("25600 Hz (2 recordings, such as {a}), 48000 Hz (1 recording, such as");
    assert!(error.contains(&expected), "{error}");
    let damaged = Sources::of([folder.path().join("damaged.wav")]).unwrap();
    assert!(matches!(damaged.native_rate(), Err(auscult::Error::Audio(_))));
    let live = Sources::of(["-"]).unwrap().native_rate();
    assert!(matches!(live, Err(auscult::Error::RateOfLiveSound)));
}

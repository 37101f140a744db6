//! Writes the seeds of every target into `corpus/`, from `testdata/audio` and from tiny models.
//!
//! `cargo run --manifest-path fuzz/Cargo.toml --example make_seeds`

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use auscult_core::{
    BandSettings, BeamSettings, ClipSettings, ClipVectors, FrontEndIdentity, FrontEndSettings,
    Model, ModelSettings, Provenance, References, View, alarm::AlarmSettings,
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> Outcome {
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for target in ["audio_reader", "audio_file"] {
        write_all(&fuzz, target, &sounds(&fuzz.join("../testdata/audio"))?)?;
    }
    write_all(&fuzz, "upload", &uploads(&fuzz.join("../testdata/audio"))?)?;
    write_all(&fuzz, "manifest", &manifests())?;
    let models = [
        ("one_view", model(&[View::Mean], BandSettings::Whole, 3)?),
        ("two_views", model(&[View::Mean, View::Max], BandSettings::touching(2), 4)?),
        ("one_reference", model(&[View::Max], BandSettings::touching(3), 1)?),
        ("with_alarm", with_alarm(model(&[View::Mean], BandSettings::Whole, 3)?)?),
    ];
    let mut files = Vec::new();
    let mut headers = Vec::new();
    for (name, model) in models {
        let bytes = model.to_bytes()?;
        headers.push((name.to_owned(), header_of(&bytes)?));
        files.push((name.to_owned(), bytes));
    }
    write_all(&fuzz, "model_file", &files)?;
    write_all(&fuzz, "model_header", &headers)
}

type Seeds = Vec<(String, Vec<u8>)>;

fn write_all(fuzz: &Path, target: &str, seeds: &Seeds) -> Outcome {
    let folder = fuzz.join("corpus").join(target);
    fs::create_dir_all(&folder)?;
    for (name, bytes) in seeds {
        fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// Sound with the Content-Type it is sent with, on a line of its own before it.
fn uploads(fixtures: &Path) -> Outcome<Seeds> {
    let sent = |kind: &str, body: &[u8]| [kind.as_bytes(), b"\n", body].concat();
    let mut seeds = Vec::new();
    for (name, bytes) in sounds(fixtures)? {
        let kind = if name.ends_with("flac") { "audio/flac" } else { "audio/wav" };
        seeds.push((name, sent(kind, &bytes)));
    }
    for (name, kind) in [
        ("l16", "audio/L16;rate=16000"),
        ("s24le", "audio/x-raw;rate=48000;format=s24le;channels=2"),
        ("f32le", "audio/x-raw;rate=8000;format=f32le"),
        ("unknown", "text/plain"),
    ] {
        seeds.push((name.to_owned(), sent(kind, &[0x3d; 48])));
    }
    Ok(seeds)
}

/// Compressed sound, the larger half of it cut off, and plain sound of every coding.
fn sounds(fixtures: &Path) -> Outcome<Seeds> {
    let mut seeds = Vec::new();
    for name in ["saw16.flac", "tone.aac", "tone.mp3", "tone.ogg", "tone.opus", "tone_adpcm.wav"] {
        let mut bytes = fs::read(fixtures.join(name))?;
        // Ogg Vorbis needs its three headers.
        bytes.truncate(if name == "tone.ogg" { 4_287 } else { 1_200 });
        seeds.push((name.to_owned(), bytes));
    }
    // The index of an MP4 file may stand at its end.
    for name in ["tone.m4a", "tone_faststart.m4a"] {
        seeds.push((name.to_owned(), fs::read(fixtures.join(name))?));
    }
    let codings = [
        ("pcm8", 1, 8, 1),
        ("pcm16", 1, 16, 2),
        ("pcm24", 1, 24, 1),
        ("pcm32", 1, 32, 3),
        ("float32", 3, 32, 1),
        ("float64", 3, 64, 2),
        ("alaw", 6, 8, 1),
        ("mulaw", 7, 8, 1),
    ];
    for (name, tag, bits, channels) in codings {
        seeds.push((format!("{name}.wav"), wave(b"RIFF", tag, bits, channels)));
    }
    seeds.push(("pcm16.rf64".to_owned(), wave(b"RF64", 1, 16, 1)));
    for (name, kind) in
        [("pcm16.aiff", None), ("sowt.aifc", Some(b"sowt")), ("fl32.aifc", Some(b"fl32"))]
    {
        seeds.push((name.to_owned(), aiff(kind)));
    }
    Ok(seeds)
}

/// A little over one clip of the checks' settings (320 samples at 16 kHz).
const FRAMES: u16 = 340;

fn wave(id: &[u8; 4], tag: u16, bits: u16, channels: u16) -> Vec<u8> {
    let frame = channels * bits / 8;
    let rate = if channels == 1 { 16_000_u32 } else { 8_000 };
    let data = noise(usize::from(FRAMES) * usize::from(frame));
    let len = data.len() as u32;
    let is_long = id == b"RF64";
    let mut bytes = id.to_vec();
    bytes.extend(if is_long { u32::MAX } else { 36 + len }.to_le_bytes());
    bytes.extend(b"WAVE");
    if is_long {
        bytes.extend(b"ds64");
        bytes.extend(28_u32.to_le_bytes());
        bytes.extend(u64::from(72 + len).to_le_bytes());
        bytes.extend(u64::from(len).to_le_bytes());
        bytes.extend(u64::from(FRAMES).to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
    }
    bytes.extend(b"fmt ");
    bytes.extend(16_u32.to_le_bytes());
    bytes.extend(tag.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * u32::from(frame)).to_le_bytes());
    bytes.extend(frame.to_le_bytes());
    bytes.extend(bits.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(if is_long { u32::MAX } else { len }.to_le_bytes());
    bytes.extend(data);
    bytes
}

/// AIFF, or AIFF-C of the given compression type.
fn aiff(kind: Option<&[u8; 4]>) -> Vec<u8> {
    let bits: u16 = if kind == Some(b"fl32") { 32 } else { 16 };
    let mut common = 1_u16.to_be_bytes().to_vec();
    common.extend(u32::from(FRAMES).to_be_bytes());
    common.extend(bits.to_be_bytes());
    // 16000 as an 80-bit float.
    common.extend([0x40, 0x0C, 0xFA, 0, 0, 0, 0, 0, 0, 0]);
    if let Some(kind) = kind {
        common.extend(kind);
        common.extend([0, 0]);
    }
    let mut sound = vec![0; 8];
    sound.extend(noise(usize::from(FRAMES) * usize::from(bits / 8)));
    let mut chunks = if kind.is_some() { b"AIFC".to_vec() } else { b"AIFF".to_vec() };
    for (id, body) in [(b"COMM", &common), (b"SSND", &sound)] {
        chunks.extend(id);
        chunks.extend((body.len() as u32).to_be_bytes());
        chunks.extend(body);
    }
    let mut bytes = b"FORM".to_vec();
    bytes.extend((chunks.len() as u32).to_be_bytes());
    bytes.extend(chunks);
    bytes
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn manifests() -> Seeds {
    let texts = [
        ("plain.csv", "path,visit,domain\na.wav,monday,source\ngone.wav,,\n"),
        ("quoted.csv", "domain, path ,note\r\nsource,\"a.wav\",\"one, \"\"two\"\"\nthree\"\r\n"),
        ("uneven.csv", "path,visit\na.wav\na.wav,1,2\n,\n.,x\n"),
        ("marked.csv", "\u{feff}path\na.wav\n"),
        ("no_path.csv", "file;visit\na.wav;1\n"),
        (
            "plain.jsonl",
            "{\"path\":\"a.wav\",\"visit\":3,\"domain\":\"target\"}\n\n{\"path\":\"\"}\n",
        ),
        (
            "broken.jsonl",
            "{\"path\":\"a.wav\",\"visit\":1e9}\n{\"path\":7}\n[1]\n{\"path\":\"a\\u0000\"}",
        ),
    ];
    texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).to_vec()
}

/// A model of `count` references on an axis of five positions.
fn model(views: &[View], bands: BandSettings, count: usize) -> Outcome<Model> {
    let mut references = References::new(views, 5);
    for index in 0..count {
        let vector = |view: usize| {
            let value = |at: usize| ((at + 1) * (index + 2) % 7) as f32 + view as f32 * 0.5;
            (0..5).map(value).collect::<Vec<f32>>()
        };
        let vectors = views.iter().enumerate().map(|(view, &name)| (name, vector(view))).collect();
        let mut provenance = Provenance::of(format!("{index}.wav"));
        provenance.visit = Some(format!("visit {}", index / 2));
        references.push(&ClipVectors::from_views(vectors)?, provenance)?;
    }
    let clip = ClipSettings::default();
    let front_end = FrontEndSettings::default().build(clip.check()?)?;
    let detector = BeamSettings::new(bands, views.to_vec());
    let mut settings = ModelSettings::new(clip, &*front_end, detector);
    settings.front_end =
        FrontEndIdentity { name: "own".to_owned(), settings: serde_json::json!({}) };
    Ok(Model::fit(settings, references)?)
}

/// The model with an alarm rule: only the newest version of the file holds it.
fn with_alarm(model: Model) -> Outcome<Model> {
    Ok(model.with_alarm_for("1 alarm per month".parse()?, AlarmSettings::default())?)
}

/// The header of a model file, and its tensors as the bytes to fill tensors with.
fn header_of(bytes: &[u8]) -> Outcome<Vec<u8>> {
    let (length, metadata) = safetensors::SafeTensors::read_metadata(bytes)?;
    let envelope = metadata.metadata().as_ref().and_then(|entries| entries.get("auscult"));
    let envelope: serde_json::Value = serde_json::from_str(envelope.ok_or("no envelope")?)?;
    let mut seed = envelope["header"].to_string().into_bytes();
    seed.push(0);
    seed.extend(&bytes[8 + length..]);
    Ok(seed)
}

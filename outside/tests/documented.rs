//! What a crate outside may rely on, and what must not pass in silence.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{
    BandSettings, Cancel, ClipRecord, ClipSettings, ClipVectors, Control, Error, Event, Extractor,
    FrontEnd, FrontEndChoice, FrontEndIdentity, FrontEndSpec, FrontEnds, LabelFolders, Learn,
    Machine, Sources, View, core::Error as CoreError, features::Axis,
};
use tempfile::TempDir;

/// A hum with a little noise: no two takes are the same.
fn hum(take: u32, seconds: f64) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32.wrapping_mul(take + 1);
    (0..(seconds * 16_000.0) as usize)
        .map(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let noise = (state >> 8) as f32 / 16_777_216.0 - 0.5;
            0.2 * (at as f32 * (0.11 + take as f32 * 1e-4)).sin() + 0.05 * noise
        })
        .collect()
}

fn write(path: &Path, samples: &[f32], rate: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let data: Vec<u8> = samples
        .iter()
        .flat_map(|value| ((value.clamp(-1.0, 1.0) * 32_767.0) as i16).to_le_bytes())
        .collect();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(rate.to_le_bytes());
    bytes.extend((2 * rate).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
}

/// Four visits of five normal clips of a second.
fn recordings() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for take in 0..20 {
        let path = folder.path().join(format!("recordings/day-{}/{take}.wav", take / 5));
        write(&path, &hum(take, 1.0), 16_000);
    }
    folder
}

fn learn() -> Learn {
    Learn::default().with_clip_seconds(1.0)
}

fn learnt(folder: &TempDir) -> Machine {
    Machine::learn(folder.path().join("recordings"), &learn()).unwrap()
}

#[test]
fn a_machine_is_learnt_saved_opened_and_listens() {
    let folder = recordings();
    let model = folder.path().join("pump.auscult");
    learnt(&folder).save(&model).unwrap();
    let pump = Machine::open(&model).unwrap();
    let squeal: Vec<f32> = hum(40, 1.0)
        .iter()
        .enumerate()
        .map(|(at, hum)| hum + 0.2 * (at as f32 * 1.3).sin())
        .collect();
    write(&folder.path().join("today/squeal.wav"), &squeal, 16_000);
    let records: Vec<ClipRecord> = pump
        .listen(Sources::of([folder.path().join("today")]).unwrap())
        .map(Result::unwrap)
        .collect();
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert!(record.path().ends_with("squeal.wav") && record.start_seconds() == 0.0);
    assert_eq!(record.verdict().to_string(), "anomalous");
    assert!(record.score().unwrap() > 0.0 && record.p_value().unwrap() < 0.1);
    assert!(record.reason().contains("differs most"), "{}", record.reason());
    // One clip in memory is the same clip; 16-bit files round it.
    let again = pump.scorer().score(&squeal).unwrap();
    assert!((again.score().unwrap() / record.score().unwrap() - 1.0).abs() < 0.05);
}

#[test]
fn what_is_not_a_clip_has_no_score() {
    let folder = recordings();
    let pump = learnt(&folder);
    let mut scorer = pump.scorer();
    let mut broken = hum(3, 1.0);
    broken[77] = f32::NAN;
    let cases = [
        (vec![0.0; 16_000], "silent"),
        (vec![0.25; 16_000], "constant"),
        (Vec::new(), "too-short"),
        (hum(3, 0.25), "too-short"),
        (broken, "not-finite"),
    ];
    for (samples, verdict) in cases {
        let record = scorer.score(&samples).unwrap();
        assert_eq!(record.verdict().to_string(), verdict);
        assert_eq!((record.score(), record.p_value()), (None, None), "{verdict}");
        assert!(!record.reason().is_empty());
        assert!(matches!(scorer.explain(&samples), Err(Error::Unusable(_))), "{verdict}");
    }
    let long = scorer.score(&hum(3, 2.5)).unwrap_err();
    assert!(matches!(long, Error::LongClip { got: 40_000, expected: 16_000 }), "{long}");
}

#[test]
fn live_sound_at_another_rate_gives_a_record_a_clip() {
    let folder = recordings();
    let pump = learnt(&folder);
    // The same hum, sampled three times as often.
    let at_48: Vec<f32> =
        (0..48_000 * 3).map(|at| 0.2 * (at as f32 * 0.111 / 3.0).sin() + 0.01).collect();
    let mut live = pump.live_at(48_000).unwrap();
    let mut starts = Vec::new();
    for chunk in at_48.chunks(777) {
        starts.extend(live.push(chunk).unwrap().iter().map(ClipRecord::start_seconds));
    }
    let (last, _) = live.finish().unwrap();
    starts.extend(last.iter().map(ClipRecord::start_seconds));
    assert_eq!(starts, [0.0, 1.0, 2.0]);
    assert!(pump.live_at(10).is_err());
}

#[test]
fn pushed_pieces_score_like_clips() {
    let folder = recordings();
    let pump = learnt(&folder);
    let sound: Vec<f32> = (30..34).flat_map(|take| hum(take, 1.0)).collect();
    let mut live = pump.live();
    let mut pushed = Vec::new();
    for chunk in sound.chunks(1_234) {
        pushed.extend(live.push(chunk).unwrap().iter().map(|clip| clip.score().unwrap()));
    }
    let mut scorer = pump.scorer();
    let whole: Vec<f64> =
        sound.chunks(16_000).map(|clip| scorer.score(clip).unwrap().score().unwrap()).collect();
    assert_eq!(pushed, whole);
}

#[test]
fn vectors_of_another_convention_are_refused_with_both_names() {
    let folder = recordings();
    let pump = learnt(&folder);
    let length = ClipSettings { seconds: 1.0, ..ClipSettings::default() }.check().unwrap();
    let spec = FrontEndSpec { convention: Some("kaldi".to_owned()), ..FrontEndSpec::default() };
    let other = FrontEnds::standard().named(&spec, length).unwrap();
    let mut vectors = ClipVectors::for_front_end(&*other);
    other.extractor().extract_into(&hum(3, 1.0), &mut vectors).unwrap();
    let error = pump.model().score(&vectors).unwrap_err();
    assert!(matches!(error, CoreError::OtherFrontEnd { .. }), "{error}");
    assert!(error.to_string().contains("kaldi") && error.to_string().contains("dcase"), "{error}");
}

/// A front end that says it has four positions.
#[derive(Debug)]
struct Four {
    axis: Axis,
    columns: usize,
}

impl FrontEnd for Four {
    fn identity(&self) -> FrontEndIdentity {
        FrontEndIdentity::of("four")
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        &[View::Mean, View::Max]
    }

    fn default_bands(&self) -> BandSettings {
        BandSettings::touching(2)
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(Columns(self.columns))
    }
}

struct Columns(usize);

impl Extractor for Columns {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult::core::Result<()> {
        for frame in samples.chunks(1_000) {
            let energy: f32 = frame.iter().map(|value| value * value).sum();
            let frame: Vec<f32> =
                (0..self.0).map(|at| energy * (at + 1) as f32 + frame[at]).collect();
            sink(&frame);
        }
        Ok(())
    }
}

#[test]
fn a_front_end_with_too_many_or_too_few_columns_is_noticed() {
    let folder = recordings();
    let learn_with = |columns: usize| {
        let axis = Axis::other(4);
        let front_end = FrontEndChoice::Custom(Arc::new(Four { axis, columns }));
        Machine::learn(folder.path().join("recordings"), &Learn { front_end, ..learn() })
    };
    assert_eq!(learn_with(4).unwrap().learned().references, 20);
    for columns in [3, 5, 0] {
        let error = learn_with(columns).unwrap_err();
        assert!(matches!(error, Error::NothingToLearn { files: 20 }), "{columns}: {error}");
    }
}

#[test]
fn folders_named_like_labels_are_an_error_until_somebody_decides() {
    let folder = recordings();
    let root = folder.path().join("fan");
    for take in 0..8 {
        write(&root.join(format!("normal/{take}.wav")), &hum(take, 1.0), 16_000);
        write(&root.join(format!("abnormal/{take}.wav")), &hum(50 + take, 1.0), 16_000);
    }
    let error = Machine::learn(root.clone(), &learn()).unwrap_err();
    assert!(matches!(&error, Error::LabelFolders { folders } if folders.len() == 2), "{error}");
    let with =
        |label_folders| Machine::learn(root.clone(), &Learn { label_folders, ..learn() }).unwrap();
    let used = with(LabelFolders::Use);
    assert_eq!((used.learned().references, used.learned().left_out.len()), (8, 8));
    assert_eq!(used.learned().failures(), 0, "left out by label is not a failure");
    assert_eq!(with(LabelFolders::Ignore).learned().visits.len(), 2);
}

#[test]
fn what_cannot_be_learnt_from_is_a_typed_error_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let error = |path: PathBuf| Machine::learn(path, &learn()).unwrap_err();
    fs::create_dir(path("empty")).unwrap();
    assert!(matches!(error(path("empty")), Error::NoSources { .. }));
    assert!(matches!(error(path("nowhere")), Error::NoSources { .. }));
    write(&path("bad/silence.wav"), &vec![0.0; 16_000], 16_000);
    fs::write(path("bad/noise.wav"), b"not sound").unwrap();
    assert!(matches!(error(path("bad")), Error::NothingToLearn { files: 2 }));
    // One clip is a memory without verdicts; other rates are resampled.
    write(&path("one/clip.wav"), &hum(1, 1.0), 16_000);
    let one = Machine::learn(path("one"), &learn()).unwrap();
    assert_eq!(one.scorer().score(&hum(2, 1.0)).unwrap().verdict().to_string(), "undecided");
    write(&path("mixed/a.wav"), &hum(1, 1.0), 16_000);
    write(&path("mixed/b.wav"), &hum(2, 2.0), 32_000);
    assert_eq!(Machine::learn(path("mixed"), &learn()).unwrap().learned().references, 2);
    // A model is never written over something else.
    assert!(one.save(path("one/clip.wav")).is_err());
    assert!(
        Machine::open(path("one/clip.wav")).is_err() && Machine::open(path("nowhere")).is_err()
    );
}

#[test]
fn a_run_can_be_watched_and_cancelled() {
    let folder = recordings();
    let events = |event: Event<'_>| match event {
        Event::Advanced => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let control = Control::new(Cancel::new(), Arc::new(events));
    let error = Machine::learn(folder.path().join("recordings"), &Learn { control, ..learn() });
    assert!(matches!(error, Err(Error::Cancelled)));
}

//! A small machine and a small parser for the tests.

use std::{borrow::Cow, sync::Arc};

use auscult::{
    Basis, BeamSettings, Changed, ClipCondition, ClipRecord, ClipScore, ClipSettings, ClipVectors,
    Explanation, FalseAlarmRate, FrontEnd, FrontEndSettings, Method, Model, ModelSettings,
    Provenance, QualityMeter, References, ScoredClip, Verdict, WhatDiffers, random::Random,
};

use crate::{Report, ReportClip, ReportSound, difference::ThirdOctaves};

/// A run that differs as a whole, in these ways.
pub(crate) fn changed(differs: &[&str], next_step: &str) -> Changed {
    let what = |text: &&str| WhatDiffers { kind: "level", text: (*text).to_owned() };
    Changed {
        level: 0.05,
        p_value: 0.001,
        clips: 20,
        differing: 20,
        compared_with: 5,
        basis: Basis::Visits,
        what_differs: differs.iter().map(what).collect(),
        next_step: next_step.to_owned(),
    }
}

pub(crate) struct Sample {
    pub(crate) model: Model,
    pub(crate) front_end: Arc<dyn FrontEnd>,
    pub(crate) clips: Vec<ReportClip<'static>>,
    pub(crate) notes: Vec<String>,
}

impl std::ops::DerefMut for ReportClip<'_> {
    fn deref_mut(&mut self) -> &mut ClipRecord {
        self.record.to_mut()
    }
}

impl Sample {
    pub(crate) fn input(&self) -> Report<'_> {
        Report {
            title: "Pump 3",
            model: &self.model,
            axis: self.front_end.axis(),
            clips: self.clips.clone(),
            version: "0.0.0",
            notes: self.notes.clone(),
            changed: None,
            written: None,
            next_step: None,
        }
    }

    /// Judges every clip again at another rate.
    pub(crate) fn set_false_alarm_rate(&mut self, rate: FalseAlarmRate) {
        self.model = self.model.clone().with_false_alarm_rate(rate);
        for scored in self.clips.iter_mut().filter_map(|clip| clip.scored.as_mut()) {
            *scored = self.model.judge(scored.score.clone());
        }
    }
}

/// Twenty normal clips of four visits, one whistle with sound, and two clips more that are normal.
pub(crate) fn sample() -> Sample {
    sample_with(&FrontEndSettings::default())
}

/// The same with another front end.
pub(crate) fn sample_with(front_end: &FrontEndSettings) -> Sample {
    let clip = ClipSettings { seconds: 1.0, ..Default::default() };
    let front_end = front_end.build(clip.check().unwrap()).unwrap();
    let mut extractor = front_end.extractor();
    let mut vectors = ClipVectors::for_front_end(&*front_end);
    let mut references = References::for_front_end(&*front_end);
    for seed in 0..20 {
        extractor.extract_into(&hum(seed), &mut vectors).unwrap();
        let visit = Some(format!("day {}", seed / 5));
        let provenance = Provenance { visit, ..Provenance::of(format!("hum {seed}.wav")) };
        references.push(&vectors, provenance).unwrap();
    }
    let detector = BeamSettings::paper(Method::AdaBeam, &*front_end);
    let model = Model::fit(ModelSettings::new(clip, &*front_end, detector), references).unwrap();

    let whistle: Vec<f32> = hum(40)
        .iter()
        .enumerate()
        .map(|(at, value)| value + 0.1 * (at as f32 * 1.3).sin())
        .collect();
    let sounds = [("whistle.wav", whistle), ("same.wav", hum(3)), ("other.wav", hum(8))];
    let mut clips: Vec<ReportClip<'static>> = sounds
        .into_iter()
        .map(|(label, samples)| {
            extractor.extract_into(&samples, &mut vectors).unwrap();
            let scored = model.score(&vectors).unwrap();
            let quality = QualityMeter::new(16_000).measure(&samples);
            let record = ClipRecord {
                remarks: model.usual_recording().remarks(&quality.unwrap(), None).collect(),
                quality,
                explanation: Some(Explanation::new(&model, front_end.axis(), &vectors, &scored)),
                scored: Some(scored.clone()),
                ..ClipRecord::of(label, 0.0, ClipCondition::Usable)
            };
            let octaves = ThirdOctaves::of(&samples, 16_000);
            let difference = octaves.against(&ThirdOctaves::of(&hum(0), 16_000), None);
            let sound = (scored.verdict == Verdict::Anomalous).then(|| ReportSound {
                sample_rate: 16_000,
                samples,
                nearest: Some(hum(0)),
                nearest_label: Some("hum 0.wav".to_owned()),
            });
            ReportClip {
                record: Cow::Owned(record),
                truth: None,
                difference: Some(difference),
                sound,
            }
        })
        .collect();
    clips[0].truth = Some("whistle".to_owned());
    Sample { model, front_end, clips, notes: Vec::new() }
}

/// One second of hum and hiss.
fn hum(seed: u32) -> Vec<f32> {
    let mut random = Random::of(u64::from(seed), &[]);
    let step = 0.1 + seed as f32 * 1e-4;
    (0..16_000).map(|at| 0.2 * (at as f32 * step).sin() + random.symmetric(0.02)).collect()
}

/// A clip about which only its score is known.
pub(crate) fn clip_with(score: f64, verdict: Verdict) -> ReportClip<'static> {
    let score = ClipScore::new(score, Vec::new());
    let record = ClipRecord {
        scored: Some(ScoredClip { score, p_value: Some(0.5), calibrated: Some(0.5), verdict }),
        ..ClipRecord::of("clip.wav", 0.0, ClipCondition::Usable)
    };
    ReportClip { record: Cow::Owned(record), truth: None, difference: None, sound: None }
}

/// Checks that tags are balanced, attributes quoted, identifiers unique and links inside the page
/// lead somewhere, and that no number is NaN or infinite.
pub(crate) fn assert_well_formed(markup: &str) {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some((text, after)) = rest.split_once('<') {
        let is_code = matches!(open.last(), Some(&"style" | &"script"));
        assert!(!text.contains('>') || is_code, "stray '>': {text}");
        let (tag, after) = split_tag(after);
        rest = after;
        let name = tag.split([' ', '\n', '/']).find(|part| !part.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    let ids: Vec<&str> = attribute_values(markup, " id=\"");
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "twice: {id}");
    }
    for number in ["NaN", "inf\"", "inf ", "inf<", "inf,"] {
        assert!(!markup.contains(number), "{number} in the markup");
    }
}

/// Values of every attribute that starts so.
pub(crate) fn attribute_values<'a>(markup: &'a str, start: &str) -> Vec<&'a str> {
    markup.split(start).skip(1).filter_map(|after| after.split('"').next()).collect()
}

/// A tag up to the `>` that is not inside quotes, and what follows.
fn split_tag(after: &str) -> (&str, &str) {
    let mut is_quoted = false;
    for (at, byte) in after.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'<' => panic!("'<' inside a tag: {}", &after[..at]),
            b'>' if !is_quoted => return (&after[..at], &after[at + 1..]),
            _ => {}
        }
    }
    panic!("tag without end: {after}")
}

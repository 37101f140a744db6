//! 13. The record of a clip: everything that is known about it, for people and programs.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{
    ClipCondition, ClipQuality, ClipVectors, Explanation, Model, Provenance, ScoreOf, ScoredClip,
    Verdict,
    alarm::AlarmState,
    explain::{
        AUDIBLE_DECIBELS, Compared, HertzText, LevelDifference, ModulationDifference, knows_normal,
    },
    features::Axis,
    names::named_choices,
    quality::{RecordingKind, Remark, Standout, standout, third_octaves},
};

/// The version of the record's JSON form; it grows when a key changes its meaning or goes away.
pub const RECORD_SCHEMA: u32 = 1;

/// One clip with what was found, as every caller gets it.
///
/// Its JSON form is described in `docs/records.md`; numbers that are not known are `null`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipRecord {
    /// The file or stream, as it was named.
    pub path: String,
    /// Where in it the clip starts.
    pub start_seconds: f64,
    /// Length of its sound, before silence fills it up.
    pub seconds: f64,
    /// When it was recorded, if that is known.
    pub time: Option<ClipTime>,
    /// The domain whose threshold it was judged by; `None` for the threshold of all.
    pub domain: Option<String>,
    /// What the samples alone say about it.
    pub condition: ClipCondition,
    /// How the recording is stored, where that is known.
    pub recording: Option<Arc<RecordingKind>>,
    /// What was measured on them; `None` if they cannot be measured.
    pub quality: Option<ClipQuality>,
    /// What is remarkable about the recording.
    pub remarks: Vec<Remark>,
    /// An earlier clip, or a reference, with the same sound.
    pub copy_of: Option<String>,
    /// Its score; `None` for clips that were not scored.
    pub scored: Option<ScoredClip>,
    /// Its spectrum against that of the closest normal clip; `None` if one of them is not known.
    pub difference: Option<SpectrumDifference>,
    /// What can be heard, in the words of machines: louder where, beating how fast, stored how; empty if nothing stands
    /// out.
    pub heard: String,
    /// The band that differs most from normal, with how much; `None` if nothing does.
    pub differs_most: Option<String>,
    /// Why it scored so, or was not scored, in a sentence without its full stop.
    pub reason: String,
    /// Whether the false-alarm rate behind its verdict is promised, and on which condition.
    pub promise: RecordPromise,
    /// The state of the machine after it, by the model's alarm rule.
    pub alarm: Option<AlarmState>,
    /// Why it could not be scored although it is sound.
    pub error: Option<String>,
    /// Identifies the model that judged it.
    pub model_hash: Arc<str>,
    /// Every band with its reasons, where they were asked for.
    pub explanation: Option<Explanation>,
}

/// When a clip was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: f64,
    /// The same as RFC 3339 text.
    pub utc: String,
    /// Who says so.
    pub origin: TimeOrigin,
}

/// Where the time of a recording comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeOrigin {
    /// A manifest.
    Manifest,
    /// The name of the file.
    FileName,
    /// When the file was last changed.
    FileTime,
    /// Whoever handed over the sound.
    Caller,
}

named_choices!(TimeOrigin, "origin of a time", {
    Manifest => "manifest",
    FileName => "file-name",
    FileTime => "file-time",
    Caller => "caller",
});

/// What the verdict of a record is worth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordPromise {
    /// Whether the false-alarm rate is promised.
    pub is_promised: bool,
    /// What the promise rests on beside left-out visits.
    pub condition: Option<Arc<str>>,
}

/// The spectrum of a clip against that of the closest normal clip, in third-octave bands.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectrumDifference {
    /// The closest normal clip.
    pub closest: Arc<str>,
    /// Its place among the references of the model.
    pub reference: usize,
    /// Edges of the bands, one more than there are bands.
    pub hertz: Arc<[f64]>,
    /// How much louder the clip is in each band, in dB; negative where it is quieter.
    pub decibels: Vec<f32>,
}

/// The verdict on a clip, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClipVerdict {
    /// It was scored.
    Judged(Verdict),
    /// It is not the sound of a machine.
    Unusable(ClipCondition),
    /// It is sound and could not be scored; the record's error says why.
    NotScored,
}

impl ClipVerdict {
    /// The word in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Judged(verdict) => verdict.name(),
            Self::Unusable(condition) => condition.name(),
            Self::NotScored => "not-scored",
        }
    }
}

impl fmt::Display for ClipVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl ClipRecord {
    /// A clip about which nothing else is known; the other fields are open.
    pub fn of(path: impl Into<String>, start_seconds: f64, condition: ClipCondition) -> Self {
        Self {
            path: path.into(),
            start_seconds,
            seconds: 0.0,
            time: None,
            domain: None,
            condition,
            recording: None,
            quality: None,
            remarks: Vec::new(),
            copy_of: None,
            scored: None,
            difference: None,
            heard: String::new(),
            differs_most: None,
            reason: String::new(),
            promise: RecordPromise::default(),
            alarm: None,
            error: None,
            model_hash: Arc::from(""),
            explanation: None,
        }
    }

    /// The file or stream, as it was named.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Where in it the clip starts.
    pub fn start_seconds(&self) -> f64 {
        self.start_seconds
    }

    /// `path`, or `path at 30.0 s`.
    pub fn name(&self) -> String {
        clip_name(&self.path, self.start_seconds)
    }

    /// How far it is from normal; `None` if it was not scored.
    pub fn score(&self) -> Option<f64> {
        self.scored.as_ref().map(|scored| scored.score.value)
    }

    /// Share of normal clips that score at least as high.
    pub fn p_value(&self) -> Option<f64> {
        self.scored.as_ref()?.p_value
    }

    /// The score on a scale from 0 to 1.
    pub fn calibrated(&self) -> Option<f64> {
        self.scored.as_ref()?.calibrated
    }

    /// The verdict, or why there is none.
    pub fn verdict(&self) -> ClipVerdict {
        match &self.scored {
            Some(scored) => ClipVerdict::Judged(scored.verdict),
            None if self.condition.is_usable() => ClipVerdict::NotScored,
            None => ClipVerdict::Unusable(self.condition),
        }
    }

    /// Whether the verdict is anomalous.
    pub fn is_anomalous(&self) -> bool {
        self.verdict() == ClipVerdict::Judged(Verdict::Anomalous)
    }

    /// Why it scored so, or was not scored, in a sentence without its full stop.
    pub fn reason(&self) -> String {
        self.reason.clone()
    }

    /// One word or two for each remark on the recording.
    pub fn remark_names(&self) -> Vec<&'static str> {
        let remarks = self.remarks.iter().map(|remark| remark.name());
        remarks.chain(self.copy_of.as_ref().map(|_| COPY)).collect()
    }

    /// Each remark on the recording: its name and a sentence.
    pub fn remark_sentences(&self) -> Vec<(&'static str, String)> {
        let mut remarks: Vec<_> =
            self.remarks.iter().map(|remark| (remark.name(), remark.to_string())).collect();
        let copy = |first: &String| (COPY, format!("copy: the same sound as {first}"));
        remarks.extend(self.copy_of.as_ref().map(copy));
        remarks
    }
}

/// The name of the remark on a clip that came before.
const COPY: &str = "copy";

/// What a clip is called: `path`, or `path at 30.0 s`.
pub fn clip_name(path: &str, start_seconds: f64) -> String {
    if start_seconds > 0.0 { format!("{path} at {start_seconds:.1} s") } else { path.to_owned() }
}

impl Serialize for ClipRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("ClipRecord", 24)?;
        record.serialize_field("path", &self.path)?;
        record.serialize_field("start_seconds", &self.start_seconds)?;
        record.serialize_field("seconds", &self.seconds)?;
        record.serialize_field("time", &self.time.as_ref().map(|time| &time.utc))?;
        record.serialize_field("time_origin", &self.time.as_ref().map(|time| time.origin))?;
        record.serialize_field("score", &self.score())?;
        record.serialize_field("p_value", &self.p_value())?;
        record.serialize_field("calibrated", &self.calibrated())?;
        record.serialize_field("verdict", self.verdict().name())?;
        record.serialize_field("reason", &self.reason)?;
        record.serialize_field("heard", &Some(&self.heard).filter(|heard| !heard.is_empty()))?;
        record.serialize_field("differs_most", &self.differs_most)?;
        record.serialize_field("difference", &self.difference)?;
        record.serialize_field("promised", &self.promise.is_promised)?;
        record.serialize_field("promised_if", &self.promise.condition.as_deref())?;
        record.serialize_field("alarm", &self.alarm)?;
        record.serialize_field("domain", &self.domain)?;
        record.serialize_field("recording", &self.recording.as_deref())?;
        record.serialize_field("quality", &self.quality)?;
        record.serialize_field("remarks", &self.remark_names())?;
        record.serialize_field("copy_of", &self.copy_of)?;
        record.serialize_field("error", &self.error)?;
        record.serialize_field("model_hash", &*self.model_hash)?;
        if let Some(explanation) = &self.explanation {
            record.serialize_field("explanation", explanation)?;
        }
        record.end()
    }
}

impl Serialize for SpectrumDifference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut difference = serializer.serialize_struct("SpectrumDifference", 3)?;
        difference.serialize_field("closest", &*self.closest)?;
        difference.serialize_field("hertz", &*self.hertz)?;
        difference.serialize_field("decibels", &self.decibels)?;
        difference.end()
    }
}

/// What a model's bands are called and score when all is well, and what its references sound like, to say what differs
/// in a record without explaining every band.
#[derive(Debug, Clone)]
pub struct BandNames {
    /// By view, then by band.
    bands: Vec<Vec<NamedBand>>,
    score_of: ScoreOf,
    axis: Axis,
    /// What the references are called.
    references: Vec<Arc<str>>,
    /// Edges of third-octave bands.
    hertz: Arc<[f64]>,
    /// How much the references differ in each, in dB.
    usual: Vec<f32>,
    /// The middle share of energy that the references have in lines of the mains.
    mains_share: f64,
}

#[derive(Debug, Clone)]
struct NamedBand {
    name: String,
    /// What is normal there.
    typical: Option<f64>,
}

/// A band of a scored clip.
struct FoundBand<'a> {
    view: usize,
    band: usize,
    name: &'a str,
    /// How many times its normal it scores.
    times: Option<f64>,
    /// What bands are ordered by.
    weight: f64,
}

/// A modulation this many times as strong or as weak as in the closest normal clip is mentioned.
const NOTABLE_TIMES: f64 = 1.5;

/// An error this many times its normal is a reason, also when it is rounded.
pub(crate) const SMALLEST_ERROR: f64 = 1.05;

impl BandNames {
    /// The bands of a model; `axis` is its front end's.
    pub fn new(model: &Model, axis: &Axis) -> Self {
        let beam = model.detector().beam();
        let bands = beam.settings().views.iter().map(|&view| {
            let band = |(band, positions): (usize, &std::ops::Range<usize>)| {
                let typical = model.detector().typical_band_score(view, band);
                let name = crate::explain::band_name(beam.member_of(band), axis, positions);
                NamedBand { name, typical: typical.filter(|&typical| typical > 0.0) }
            };
            beam.layout().bands().iter().enumerate().map(band).collect()
        });
        let provenance = model.references().provenance();
        let name = |from: &Provenance| Arc::from(clip_name(&from.source, from.start_seconds));
        Self {
            bands: bands.collect(),
            score_of: beam.settings().score_of,
            axis: axis.clone(),
            references: provenance.iter().map(name).collect(),
            hertz: third_octaves(model.settings().clip.sample_rate).into(),
            usual: spreads(provenance),
            mains_share: mains_share(provenance),
        }
    }

    /// Edges of the third-octave bands that spectra are compared in.
    pub fn hertz(&self) -> &Arc<[f64]> {
        &self.hertz
    }

    /// Where a difference of spectra stands out most from how references differ; `None` if it is nowhere a
    /// decibel.
    pub fn standout(&self, decibels: &[f32]) -> Option<Standout> {
        standout(&self.hertz, decibels, &self.usual, AUDIBLE_DECIBELS)
    }

    /// Writes reason, band and difference of spectra into a scored record, in its own buffers. `clip` is what
    /// `model` scored, `spectrum` its levels in third-octave bands, empty if they are not known.
    pub fn describe(
        &self,
        model: &Model,
        clip: &ClipVectors,
        spectrum: &[f32],
        record: &mut ClipRecord,
    ) {
        record.reason.clear();
        let most = record.differs_most.take();
        let (spare, mut heard) = (record.difference.take(), std::mem::take(&mut record.heard));
        heard.clear();
        let Some(scored) = &record.scored else { return };
        let furthest = self.furthest(model, scored);
        record.reason.push_str(match scored.verdict {
            Verdict::Normal => "sounds normal",
            Verdict::Anomalous => "does not sound normal",
            Verdict::Undecided => "too few normal clips to decide",
        });
        let compares = self.score_of == ScoreOf::Distance;
        let nearest = furthest.as_ref().filter(|_| compares);
        let nearest =
            nearest.map(|found| scored.score.views[found.view].bands[found.band].reference);
        record.difference = self.difference(model, spectrum, nearest, spare);
        let compared = furthest.as_ref().map(|found| self.compared(model, clip, scored, found));
        self.write_heard(record, compared.as_ref().filter(|_| compares), &mut heard);
        if scored.verdict != Verdict::Normal && !heard.is_empty() {
            // Writing to a text cannot fail.
            let _ = write!(record.reason, ": {heard}");
        }
        record.heard = heard;
        let (Some(found), Some(compared)) = (furthest, compared) else {
            record.reason.push_str("; no band has more error than normal");
            return;
        };
        let FoundBand { name, times, .. } = found;
        let mut most = most.unwrap_or_default();
        most.clear();
        let _ = match compared.modulation() {
            // All carriers are one band; its name would say nothing.
            Some(line) => {
                let (rate, hertz) = (line.rate, HertzText(&line.hertz));
                let member = name.split_once(' ').map_or(name, |(member, _)| member);
                write!(most, "{member} {rate:.0} Hz in {hertz}")
            }
            None => write!(most, "{name}"),
        };
        let _ = write!(record.reason, "; {most} differs most");
        if let Some(times) = times.filter(|_| knows_normal(model)) {
            let measure = self.score_of.measure();
            let _ = write!(record.reason, ", {times:.1} times its normal {measure}");
            let _ = write!(most, " ({times:.1} x normal)");
        }
        record.differs_most = Some(most);
    }

    /// The spectrum of a clip against that of the closest reference: `nearest`, or where nothing is compared, the one with
    /// the closest spectrum.
    fn difference(
        &self,
        model: &Model,
        spectrum: &[f32],
        nearest: Option<usize>,
        spare: Option<SpectrumDifference>,
    ) -> Option<SpectrumDifference> {
        let provenance = model.references().provenance();
        let of = |index: usize| spectrum_of(provenance.get(index)?, spectrum.len());
        let distance = |index: usize| -> Option<(f32, usize)> {
            let pairs = of(index)?.iter().zip(spectrum);
            Some((pairs.map(|(a, b)| (a - b).powi(2)).sum(), index))
        };
        let closest = || {
            let distances = (0..provenance.len()).filter_map(distance);
            distances.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, index)| index)
        };
        let nearest = nearest.or_else(closest)?;
        let reference = of(nearest)?;
        let mut decibels = spare.map(|spare| spare.decibels).unwrap_or_default();
        decibels.clear();
        decibels.extend(spectrum.iter().zip(reference).map(|(clip, reference)| clip - reference));
        let (closest, hertz) = (Arc::clone(&self.references[nearest]), Arc::clone(&self.hertz));
        Some(SpectrumDifference { closest, reference: nearest, hertz, decibels })
    }

    /// Writes what can be heard, the plainest first.
    fn write_heard(
        &self,
        record: &ClipRecord,
        compared: Option<&Compared<'_>>,
        heard: &mut String,
    ) {
        let mut write = |part: fmt::Arguments<'_>| {
            if !heard.is_empty() {
                heard.push_str(", ");
            }
            // Writing to a text cannot fail.
            let _ = heard.write_fmt(part);
        };
        for remark in &record.remarks {
            match remark {
                Remark::Coding(coding, usual) => write(format_args!("{coding} instead of {usual}")),
                Remark::NarrowBand(hertz) => {
                    write(format_args!("recorded without anything above {:.1} kHz", hertz / 1e3));
                }
                Remark::WiderBand(hertz) => {
                    write(format_args!(
                        "recorded beyond {:.1} kHz, where references end",
                        hertz / 1e3
                    ));
                }
                Remark::Loudness(decibels) if *decibels > 0.0 => {
                    write(format_args!("{decibels:.0} dB louder than any reference"));
                }
                Remark::Loudness(decibels) => {
                    write(format_args!("{:.0} dB quieter than any reference", -decibels));
                }
                // A machine that hums when it is well says nothing by it.
                Remark::Hum(hum) if hum.share >= 2.0 * self.mains_share => {
                    write(format_args!("hum at multiples of {} Hz", hum.mains_hertz));
                }
                _ => {}
            }
        }
        let difference = record.difference.as_ref();
        if let Some(most) = difference.and_then(|it| self.standout(&it.decibels)) {
            write(format_args!("{most}"));
        } else if let (None, Some(level)) = (difference, compared.and_then(loudest_level)) {
            write(format_args!("{level} than in the closest normal clip"));
        }
        let stands_out = |it: &ModulationDifference| {
            it.times >= NOTABLE_TIMES || it.times <= 1.0 / NOTABLE_TIMES
        };
        if let Some(modulation) = compared.and_then(Compared::modulation).filter(stands_out) {
            write(format_args!("{modulation}"));
        }
    }

    /// A band of a clip beside the same of the closest reference.
    fn compared<'a>(
        &'a self,
        model: &'a Model,
        clip: &'a ClipVectors,
        scored: &ScoredClip,
        found: &FoundBand<'_>,
    ) -> Compared<'a> {
        let (beam, view) = (model.detector().beam(), scored.score.views[found.view].view);
        let nearest = scored.score.views[found.view].bands[found.band].reference;
        Compared {
            axis: &self.axis,
            positions: beam.layout().bands()[found.band].clone(),
            clip: clip.view(view).unwrap_or_default(),
            reference: model.references().vector(view, nearest).unwrap_or_default(),
            weights: model.detector().band_weights(view, found.band),
        }
    }

    /// The band that is furthest from its normal; `None` if none can be why a clip scored as it did.
    fn furthest(&self, model: &Model, scored: &ScoredClip) -> Option<FoundBand<'_>> {
        let mut furthest: Option<FoundBand<'_>> = None;
        for (view, (score, bands)) in scored.score.views.iter().zip(&self.bands).enumerate() {
            for (band, (score, NamedBand { name, typical })) in
                score.bands.iter().zip(bands).enumerate()
            {
                let times = typical.map(|typical| score.value / typical);
                let deviations = model.detector().deviations(band, times);
                let weight = deviations.or(times).unwrap_or(score.value);
                if furthest.as_ref().is_none_or(|most| weight.total_cmp(&most.weight).is_gt()) {
                    furthest = Some(FoundBand { view, band, name, times, weight });
                }
            }
        }
        furthest.filter(|found| {
            self.score_of == ScoreOf::Distance
                || found.times.is_none_or(|times| times >= SMALLEST_ERROR)
        })
    }
}

/// How much louder or quieter the part of a band that differs most is than in the closest reference.
fn loudest_level(compared: &Compared<'_>) -> Option<LevelDifference> {
    let most =
        |a: &LevelDifference, b: &LevelDifference| a.decibels.abs().total_cmp(&b.decibels.abs());
    let loudest = compared.levels().max_by(most);
    loudest.filter(|level| level.decibels.abs() >= AUDIBLE_DECIBELS)
}

/// The levels of a reference, if it has them in as many bands.
fn spectrum_of(from: &Provenance, bands: usize) -> Option<&[f32]> {
    let levels = from.recording.as_ref()?.spectrum_dbfs.as_slice();
    (levels.len() == bands && bands > 0).then_some(levels)
}

/// The middle share of energy that references have in lines of the mains; 0 if it is not known of any.
fn mains_share(provenance: &[Provenance]) -> f64 {
    let recordings = provenance.iter().filter_map(|from| from.recording.as_ref());
    let mut shares: Vec<f64> = recordings.map(|recording| recording.mains_share).collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied().unwrap_or_default()
}

/// How much references differ in each band: the deviation of their levels, in dB.
fn spreads(provenance: &[Provenance]) -> Vec<f32> {
    let spectra = provenance.iter().filter_map(|from| from.recording.as_ref());
    let spectra: Vec<&[f32]> = spectra.map(|recording| &*recording.spectrum_dbfs).collect();
    let bands = spectra.first().map_or(0, |spectrum| spectrum.len());
    let spread = |band: usize| {
        let levels = || spectra.iter().filter_map(|spectrum| spectrum.get(band)).copied();
        let count = levels().count().max(1) as f32;
        let mean = levels().sum::<f32>() / count;
        (levels().map(|level| (level - mean).powi(2)).sum::<f32>() / count).sqrt()
    };
    (0..bands).map(spread).collect()
}

//! 12. Reasons: which bands differ, by how much, from which reference, as sentences.

use std::{fmt, ops::Range};

use serde::Serialize;

use crate::{
    ClipVectors, Model, Provenance, ScoreOf, ScoredClip, Verdict, View,
    features::{Axis, MemberSettings},
    record::SMALLEST_ERROR,
};

/// Why a clip scored as it did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// One sentence on the clip as a whole.
    pub summary: String,
    /// Every band of every view, the furthest from its normal first.
    pub bands: Vec<BandReason>,
}

/// What one band contributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BandReason {
    /// The view it is seen in.
    pub view: View,
    /// Index of the band along the axis.
    pub band: usize,
    /// Positions of the axis it covers.
    pub positions: Range<usize>,
    /// What part of the front end it is: the member of an ensemble, the layer of an encoder, the
    /// class token. Empty where there is one part only.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The same in hertz, where the axis has frequencies.
    pub hertz: Option<Range<f64>>,
    /// The band's score.
    pub score: f64,
    /// The score over the median score of unseen normal clips in this band; `None` if that is 0
    /// or unknown, or there are fewer than six references.
    pub times_normal: Option<f64>,
    /// The reference that is closest in this band; `None` where nothing is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Provenance>,
    /// How far above its normal it is in deviations of its member, where several front ends score
    /// together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviations: Option<f64>,
    /// Level against that reference, part by part, where features have a level.
    pub levels: Vec<LevelDifference>,
    /// The modulations that differ most from that reference, the one that counts most first, where
    /// features are modulations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modulations: Vec<ModulationDifference>,
    /// All of this in a sentence.
    pub sentence: String,
}

/// How much louder or quieter a part of the spectrum is than in the closest reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelDifference {
    /// The part in hertz, where the axis has frequencies.
    pub hertz: Option<Range<f64>>,
    /// Decibels above (positive) or below the reference.
    pub decibels: f64,
}

/// How much stronger or weaker the loudness of a part of the spectrum rises and falls at one rate than in
/// the closest reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModulationDifference {
    /// The part of the spectrum, in hertz.
    pub hertz: Range<f64>,
    /// How many times a second, in hertz.
    pub rate: f64,
    /// The modulation over that of the reference; infinite if that has none.
    pub times: f64,
}

/// The most parts a band is described in.
const PARTS: usize = 6;

/// The most modulations that are listed.
const MOST_MODULATIONS: usize = 5;

/// A band is said to differ from this many times the normal distance on.
const NOTABLE: f64 = 1.5;

/// A band of an ensemble is said to differ from this many deviations of its member on.
const NOTABLE_DEVIATIONS: f64 = 2.0;

/// Level differences smaller than this are not mentioned.
pub(crate) const AUDIBLE_DECIBELS: f64 = 1.0;

impl Explanation {
    /// Explains a score of `model` for the clip it was computed from. `axis` is the front end's.
    pub fn new(model: &Model, axis: &Axis, clip: &ClipVectors, scored: &ScoredClip) -> Self {
        let beam = model.detector().beam();
        let (layout, score_of) = (beam.layout(), beam.settings().score_of);
        let mut bands: Vec<BandReason> = Vec::new();
        for view in &scored.score.views {
            for (band, (score, positions)) in view.bands.iter().zip(layout.bands()).enumerate() {
                let detector = model.detector();
                let normal = detector.typical_band_score(view.view, band);
                let compared = Compared {
                    axis,
                    positions: positions.clone(),
                    clip: clip.view(view.view).unwrap_or_default(),
                    reference: model
                        .references()
                        .vector(view.view, score.reference)
                        .unwrap_or_default(),
                    weights: detector.band_weights(view.view, band),
                };
                let times_normal = normal.filter(|&normal| normal > 0.0).map(|n| score.value / n);
                let mut reason = BandReason {
                    view: beam.view_of(view.view, band),
                    band,
                    positions: axis.own_positions(positions.clone()),
                    part: part_name(beam.member_of(band), axis, positions.clone()),
                    hertz: axis.hertz(positions.clone()),
                    score: score.value,
                    times_normal: times_normal.filter(|_| knows_normal(model)),
                    deviations: detector.deviations(band, times_normal),
                    reference: (score_of == ScoreOf::Distance)
                        .then(|| model.references().provenance()[score.reference].clone()),
                    levels: compared.levels().collect(),
                    modulations: compared.modulations(MOST_MODULATIONS),
                    sentence: String::new(),
                };
                reason.sentence = reason.describe(score_of);
                bands.push(reason);
            }
        }
        bands.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
        let summary = summarise(scored, &bands, score_of);
        Self { summary, bands }
    }

    /// The sentences worth reading: of bands that differ, or of the furthest one if none does.
    /// Where nothing is compared, a band with no more error than normal is not a reason.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        let notable = self.bands.iter().filter(|band| band.is_notable()).count().max(1);
        let reasons = self.bands.iter().take(notable).filter(|band| band.is_reason());
        reasons.map(|band| band.sentence.as_str())
    }
}

impl BandReason {
    /// What the band is called: hertz if it has them, of modulations the one that counts most.
    pub fn name(&self) -> String {
        if let Some(line) = self.modulations.first() {
            return format!("{} {:.0} Hz in {}", self.part, line.rate, HertzText(&line.hertz));
        }
        name_of(&self.part, self.hertz.as_ref(), &self.positions)
    }

    /// Whether the band can be why a clip scored as it did: a distance always can, an error if it
    /// is larger than normal, also when it is rounded.
    pub fn is_reason(&self) -> bool {
        self.reference.is_some() || self.times_normal.is_none_or(|times| times >= SMALLEST_ERROR)
    }

    /// What bands are ordered by.
    fn weight(&self) -> f64 {
        self.deviations.or(self.times_normal).unwrap_or(self.score)
    }

    fn is_notable(&self) -> bool {
        let bound = if self.deviations.is_some() { NOTABLE_DEVIATIONS } else { NOTABLE };
        self.weight() >= bound
    }

    fn describe(&self, score_of: ScoreOf) -> String {
        let view = match self.view {
            View::Mean => "on average",
            View::Max => "at its loudest",
        };
        let far = match self.times_normal {
            Some(times) => format!("{times:.1} times its normal {}", score_of.measure()),
            None => format!("at score {:.3}", self.score),
        };
        let Some(reference) = &self.reference else {
            return format!("{} ({view}) is {far}.", self.name());
        };
        let reference = show_reference(reference);
        let mut sentence =
            format!("{} ({view}) is {far} from the closest reference, {reference}", self.name());
        if let Some(modulation) = self.modulations.first() {
            return format!("{sentence}: {modulation}.");
        }
        let mut loudest: Vec<&LevelDifference> =
            self.levels.iter().filter(|part| part.decibels.abs() >= AUDIBLE_DECIBELS).collect();
        loudest.sort_by(|a, b| b.decibels.abs().total_cmp(&a.decibels.abs()));
        let parts: Vec<String> = loudest.iter().take(3).map(ToString::to_string).collect();
        if !parts.is_empty() {
            sentence = format!("{sentence}: {}", parts.join(", "));
        } else if !self.levels.is_empty() {
            sentence = format!(
                "{sentence}: no part differs by {AUDIBLE_DECIBELS} dB in level, only in shape"
            );
        }
        sentence + "."
    }
}

impl fmt::Display for LevelDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.decibels >= 0.0 { "louder" } else { "quieter" };
        write!(formatter, "{:.1} dB {side}", self.decibels.abs())?;
        self.hertz.as_ref().map_or(Ok(()), |hertz| write!(formatter, " at {}", HertzText(hertz)))
    }
}

impl fmt::Display for ModulationDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hertz, rate, times } = self;
        let hertz = HertzText(hertz);
        let (beats, closest) = (times_a_second(*rate), "the closest normal clip");
        if *times > MOST_TIMES {
            write!(formatter, "{hertz} now beats {beats}, not at all in {closest}")
        } else if *times >= 1.0 {
            write!(formatter, "{hertz} now beats {beats}, {times:.1} times more than in {closest}")
        } else if *times < 1.0 / MOST_TIMES {
            write!(formatter, "{hertz} no longer beats {beats}, as in {closest}")
        } else {
            let less = 1.0 / times;
            write!(formatter, "{hertz} beats {beats}, {less:.1} times less than in {closest}")
        }
    }
}

/// How often something beats: `once a second`, `25 times a second`.
///
/// ```
/// assert_eq!(auscult_core::explain::times_a_second(1.9), "twice a second");
/// ```
pub fn times_a_second(rate: f64) -> String {
    match rate.round() {
        1.0 => "once a second".to_owned(),
        2.0 => "twice a second".to_owned(),
        times => format!("{times:.0} times a second"),
    }
}

/// Beyond this many times, a modulation has come or gone.
const MOST_TIMES: f64 = 100.0;

/// One band of a clip beside the same of a reference.
pub(crate) struct Compared<'a> {
    pub(crate) axis: &'a Axis,
    pub(crate) positions: Range<usize>,
    pub(crate) clip: &'a [f32],
    pub(crate) reference: &'a [f32],
    /// What the band's distance multiplies each position with; `None` if they all count the same.
    pub(crate) weights: Option<&'a [f64]>,
}

impl Compared<'_> {
    /// Mean level difference in equal parts of the band; of a band without levels, in the same
    /// frequencies of another front end that has them.
    pub(crate) fn levels(&self) -> impl Iterator<Item = LevelDifference> {
        let hertz = self.axis.hertz(self.positions.clone());
        let positions = self.axis.levelled(&self.positions, hertz.as_ref()).unwrap_or(0..0);
        let parts = PARTS.min(positions.len());
        let edge = move |part: usize| positions.start + positions.len() * part / parts;
        (0..parts).filter_map(move |part| {
            let range = edge(part)..edge(part + 1);
            let difference = |at: usize| {
                self.axis.decibels_at(at, *self.clip.get(at)?, *self.reference.get(at)?)
            };
            let sum: Option<f64> = range.clone().map(difference).sum();
            let decibels = sum? / range.len() as f64;
            let hertz = self.axis.hertz(range);
            decibels.is_finite().then_some(LevelDifference { hertz, decibels })
        })
    }

    /// The modulation that adds most to the band's distance.
    pub(crate) fn modulation(&self) -> Option<ModulationDifference> {
        let shares = self.modulation_shares()?;
        let (_, at) = shares.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        self.modulation_at(at)
    }

    /// The modulations that add most to the band's distance, the largest share first; of a line that
    /// spills over to its neighbours, the line itself.
    fn modulations(&self, most: usize) -> Vec<ModulationDifference> {
        let Some(shares) = self.modulation_shares() else { return Vec::new() };
        let mut shares: Vec<(f64, usize)> = shares.collect();
        shares.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut found: Vec<ModulationDifference> = Vec::with_capacity(most);
        for line in shares.into_iter().filter_map(|(_, at)| self.modulation_at(at)) {
            let touches = |known: &ModulationDifference| {
                (known.rate - line.rate).abs() < 1.6
                    && known.hertz.start <= line.hertz.end
                    && line.hertz.start <= known.hertz.end
            };
            if found.len() == most {
                break;
            }
            if !found.iter().any(touches) {
                found.push(line);
            }
        }
        found
    }

    /// What each position of a band of modulations adds to its distance.
    fn modulation_shares(&self) -> Option<impl Iterator<Item = (f64, usize)>> {
        self.axis.rates(self.positions.clone())?;
        let length = |of: &[f32]| {
            let squares = of.get(self.positions.clone())?.iter().map(|v| f64::from(*v).powi(2));
            Some(squares.sum::<f64>().sqrt()).filter(|&length| length > 0.0)
        };
        let (clip_length, reference_length) = (length(self.clip)?, length(self.reference)?);
        Some(self.positions.clone().map(move |at| {
            let weight = self.weights.and_then(|weights| weights.get(at - self.positions.start));
            let clip = f64::from(self.clip[at]) / clip_length;
            let reference = f64::from(self.reference[at]) / reference_length;
            (((clip - reference) * weight.copied().unwrap_or(1.0)).powi(2), at)
        }))
    }

    /// The modulation at one position.
    fn modulation_at(&self, at: usize) -> Option<ModulationDifference> {
        let rates = self.axis.rates(at..at + 1)?;
        let value = |of: &[f32]| of.get(at).copied().map(f64::from);
        let (clip, reference) = (value(self.clip)?, value(self.reference)?);
        Some(ModulationDifference {
            hertz: self.axis.hertz(at..at + 1)?,
            rate: f64::midpoint(rates.start, rates.end),
            times: if reference > 0.0 { clip / reference } else { f64::INFINITY },
        })
    }
}

/// What a band is called in reasons and tables.
pub(crate) fn band_name(
    member: Option<&MemberSettings>,
    axis: &Axis,
    positions: &Range<usize>,
) -> String {
    let part = part_name(member, axis, positions.clone());
    let hertz = axis.hertz(positions.clone());
    name_of(&part, hertz.as_ref(), &axis.own_positions(positions.clone()))
}

fn name_of(part: &str, hertz: Option<&Range<f64>>, positions: &Range<usize>) -> String {
    let place = match hertz {
        Some(hertz) => show_hertz(hertz),
        None if part.ends_with("class token") => return part.to_owned(),
        None => format!("coefficients {}-{}", positions.start, positions.end - 1),
    };
    if part.is_empty() { place } else { format!("{part} {place}") }
}

/// The member of an ensemble with its form, then the parts of its front end.
fn part_name(member: Option<&MemberSettings>, axis: &Axis, positions: Range<usize>) -> String {
    let names = axis.part_names(positions);
    let Some(member) = member else { return names.join(" ") };
    let label = member.label();
    // Joined axes say the name themselves, without the form.
    let own = names.iter().copied().filter(|name| *name != member.name);
    std::iter::once(label.as_str()).chain(own).collect::<Vec<_>>().join(" ")
}

/// Whether a model has references enough to say what is normal in a band: the middle of fewer distances between
/// them is mostly chance, and a multiple of it says nothing.
pub(crate) fn knows_normal(model: &Model) -> bool {
    const FEWEST_REFERENCES: usize = 6;
    model.references().len() >= FEWEST_REFERENCES
}

fn summarise(scored: &ScoredClip, bands: &[BandReason], score_of: ScoreOf) -> String {
    let verdict = match scored.verdict {
        Verdict::Normal => "The clip sounds normal",
        Verdict::Anomalous => "The clip does not sound normal",
        Verdict::Undecided => "The model has too few normal clips to decide",
    };
    let p = scored.p_value.map(|p| format!(", p = {p:.3}")).unwrap_or_default();
    let value = scored.score.value;
    let score =
        if value < 1e4 { format!("score {value:.4}{p}") } else { format!("score {value:.2e}{p}") };
    let most = bands.first().map(|band| match band.times_normal {
        _ if !band.is_reason() => "; no band has more error than normal".to_owned(),
        Some(times) => {
            let measure = score_of.measure();
            format!("; {} differs most, {times:.1} times its normal {measure}", band.name())
        }
        None => format!("; {} differs most", band.name()),
    });
    format!("{verdict} ({score}){}.", most.unwrap_or_default())
}

fn show_hertz(hertz: &Range<f64>) -> String {
    HertzText(hertz).to_string()
}

/// A range of frequencies as people read it.
pub(crate) struct HertzText<'a>(pub(crate) &'a Range<f64>);

impl fmt::Display for HertzText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hertz = self.0;
        if hertz.end < 1000.0 {
            write!(formatter, "{:.0}-{:.0} Hz", hertz.start, hertz.end)
        } else {
            write!(formatter, "{:.2}-{:.2} kHz", hertz.start / 1000.0, hertz.end / 1000.0)
        }
    }
}

fn show_reference(reference: &Provenance) -> String {
    let mut text = reference.source.clone();
    if reference.start_seconds > 0.0 {
        text = format!("{text} at {:.1} s", reference.start_seconds);
    }
    if let Some(visit) = &reference.visit {
        // Many visits are called visit_01.
        let is_called_so = visit.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("visit"));
        text = format!("{text} ({}{visit})", if is_called_so { "" } else { "visit " });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BandSettings, BeamSettings, ClipSettings, FrontEndSettings, ModelSettings, References,
    };

    /// A model whose values are errors: 8 normal clips, every error between 0.9 and 1.1.
    fn of_errors(error: impl Fn(usize) -> f32) -> Explanation {
        let clip = ClipSettings { seconds: 1.0, ..ClipSettings::default() };
        let front_end = FrontEndSettings::default().build(clip.check().unwrap()).unwrap();
        let length = front_end.axis().len();
        let vectors = |error: &dyn Fn(usize) -> f32| {
            let values = (0..length).map(error).collect();
            ClipVectors::from_views(vec![(View::Mean, values)]).unwrap()
        };
        let mut references = References::new(&[View::Mean], length);
        for take in 0..8 {
            let normal = |at: usize| 0.9 + 0.2 * ((at + take) % 5) as f32 / 4.0;
            let from = Provenance::of(format!("{take}.wav"));
            references.push(&vectors(&normal), from).unwrap();
        }
        let detector = BeamSettings {
            score_of: ScoreOf::Value,
            neighbours: 0,
            ..BeamSettings::new(BandSettings::touching(length / 4), vec![View::Mean])
        };
        let settings = ModelSettings::new(clip, &*front_end, detector);
        let model = Model::fit(settings, references).unwrap();
        let clip = vectors(&error);
        Explanation::new(&model, front_end.axis(), &clip, &model.score(&clip).unwrap())
    }

    #[test]
    fn errors_no_larger_than_normal_are_no_reason() {
        let quiet = of_errors(|_| 0.5);
        assert!(quiet.summary.ends_with("; no band has more error than normal."), "{quiet:?}");
        assert_eq!(quiet.sentences().count(), 0);
        let odd = of_errors(|at| if at == 0 { 90.0 } else { 0.5 });
        assert!(odd.summary.contains("differs most"), "{}", odd.summary);
        assert_eq!(odd.sentences().count(), 1);
        assert!(odd.sentences().all(|sentence| sentence.contains("times its normal error")));
        for explanation in [quiet, odd] {
            let json = serde_json::to_value(explanation).unwrap();
            assert!(json["bands"][0].get("reference").is_none(), "nothing is compared: {json}");
        }
    }
}

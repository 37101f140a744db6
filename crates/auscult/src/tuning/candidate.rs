//! 2. Candidates: the settings to compare.

use std::{fmt, sync::Arc};

use auscult_core::{
    BandSettings, BeamSettings, ClipLength, Combine, DensityExponent, FrontEnd, FrontEndIdentity,
    FrontEndSettings, View,
};
use serde::{Deserialize, Serialize};

use crate::{
    FrontEnds, Preset,
    tuning::{Error, Result},
};

/// A front end with a detector behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// How sound becomes vectors.
    pub front_end: FrontEndIdentity,
    /// How vectors are compared.
    pub detector: BeamSettings,
    /// How far it is from the default: 0 for the default preset, 1 for another one, otherwise 2 and how
    /// many settings differ from the paper's AdaBEAM on log-mel; another front end counts two.
    pub changes: usize,
    /// The preset it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
}

/// The front ends compared, the default first: name, convention, band widths (the paper's first,
/// 0 for the whole axis).
const FRONT_ENDS: [(&str, &str, [usize; 4]); 5] = [
    ("log-mel", "s15", [38, 76, 25, 0]),
    ("log-mel", "dcase", [38, 76, 25, 0]),
    ("mfcc", "kaldi", [20, 45, 10, 0]),
    ("mfcc", "librosa", [20, 45, 10, 0]),
    ("lpc", "spectrum", [3200, 1600, 800, 0]),
];

/// What presets are plainer by.
const BESIDE_PRESETS: usize = 2;

/// The one with the longest vectors.
const LPC: usize = 4;

/// Neighbours and exponent, the paper's first. Without neighbours the exponent says nothing.
const DENSITIES: [(usize, DensityExponent); 7] = [
    (1, DensityExponent::Fixed(1.0)),
    (0, DensityExponent::Fixed(1.0)),
    (1, DensityExponent::Auto),
    (2, DensityExponent::Fixed(1.0)),
    (4, DensityExponent::Fixed(1.0)),
    (2, DensityExponent::Auto),
    (4, DensityExponent::Auto),
];

/// The presets as candidates, the cheap ones first.
///
/// # Errors
///
/// If a front end of one cannot be made.
pub fn presets(
    presets: &[Preset],
    front_ends: &FrontEnds,
    length: ClipLength,
) -> crate::Result<Vec<Candidate>> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for preset in [Preset::Fast, Preset::Best, Preset::Paper] {
        if !presets.contains(&preset) {
            continue;
        }
        let (front_end, detector, _) = preset.build(front_ends, length)?;
        let changes = usize::from(preset != Preset::default());
        let (front_end, preset) = (front_end.identity(), Some(preset));
        let candidate = Candidate { front_end, detector, changes, preset };
        // Of short clips, presets without their missing members may be the same.
        if candidates.iter().all(|known| known.key() != candidate.key()) {
            candidates.push(candidate);
        }
    }
    Ok(candidates)
}

/// Every candidate beside the presets for clips of one length, in the order to try them.
///
/// First the paper's settings on each front end, then what differs from them in one setting, then
/// in two, the front ends taking turns: whatever the budget, what is tried is spread. What is dear and
/// nobody asked for, the long spectra of LPC, comes last.
///
/// Further front ends are tried on their own bands, on two and four of them together, and on the
/// whole axis.
///
/// # Errors
///
/// [`auscult_core::Error::Setting`] if a clip is shorter than one frame, and [`Error::Several`] for
/// an ensemble: its members have bands of their own.
pub fn grid(length: ClipLength, more: &[Arc<dyn FrontEnd>]) -> Result<Vec<Candidate>> {
    let mut front_ends: Vec<(Arc<dyn FrontEnd>, Vec<usize>)> = Vec::new();
    for (name, convention, widths) in FRONT_ENDS {
        let front_end = FrontEndSettings::named(name, Some(convention))?.build(length)?;
        front_ends.push((front_end, widths.to_vec()));
    }
    for front_end in more {
        if !front_end.members().is_empty() {
            return Err(Error::Several { name: front_end.identity().to_string() });
        }
        front_ends.push((Arc::clone(front_end), widths_of(&**front_end)));
    }
    let mut ordered = Vec::new();
    for (index, (front_end, widths)) in front_ends.into_iter().enumerate() {
        let mut of_front_end = candidates_of(&*front_end, &widths, if index == 0 { 0 } else { 2 });
        of_front_end.sort_by_key(|candidate| candidate.changes);
        ordered.extend(of_front_end.into_iter().enumerate().map(|(turn, candidate)| {
            let own_changes = candidate.changes.saturating_sub(if index == 0 { 0 } else { 2 });
            ((index == LPC, own_changes, turn, index), candidate)
        }));
    }
    ordered.sort_by_key(|(order, _)| *order);
    let beside = |(_, candidate): (_, Candidate)| Candidate {
        changes: candidate.changes + BESIDE_PRESETS,
        ..candidate
    };
    Ok(ordered.into_iter().map(beside).collect())
}

/// Band widths for a front end: its own, two and four of its bands, the whole axis.
fn widths_of(front_end: &dyn FrontEnd) -> Vec<usize> {
    let axis_len = front_end.axis().len();
    let own = match front_end.default_bands() {
        BandSettings::Windows { width, .. } => width,
        BandSettings::Whole => axis_len,
    };
    let widths = [1, 2, 4].into_iter().map(|bands| bands * own);
    widths.filter(|&width| width < axis_len).chain([0]).collect()
}

/// Every candidate on one front end.
fn candidates_of(
    front_end: &dyn FrontEnd,
    widths: &[usize],
    front_end_changes: usize,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (views_changed, (views, fusion)) in view_choices(front_end).into_iter().enumerate() {
        for (width_changed, &width) in widths.iter().enumerate() {
            for (density_changed, (neighbours, exponent)) in DENSITIES.into_iter().enumerate() {
                for aggregation in [Combine::Mean, Combine::Max] {
                    // One band needs no aggregation.
                    if width == 0 && aggregation == Combine::Max {
                        continue;
                    }
                    let changed =
                        [views_changed, width_changed, density_changed].map(|index| index.min(1));
                    let changes = front_end_changes
                        + changed.iter().sum::<usize>()
                        + usize::from(neighbours > 1 && exponent == DensityExponent::Auto)
                        + usize::from(aggregation != Combine::Mean);
                    let detector = BeamSettings {
                        neighbours,
                        exponent,
                        aggregation,
                        fusion,
                        ..BeamSettings::new(bands(width), views.clone())
                    };
                    let front_end = front_end.identity();
                    candidates.push(Candidate { front_end, detector, changes, preset: None });
                }
            }
        }
    }
    candidates
}

/// The views and how they are fused, the paper's first.
fn view_choices(front_end: &dyn FrontEnd) -> Vec<(Vec<View>, Combine)> {
    let views = front_end.views().to_vec();
    match views.len() {
        1 => vec![(views, Combine::Mean)],
        _ => vec![
            (views.clone(), Combine::Mean),
            (views, Combine::Max),
            (vec![View::Mean], Combine::Mean),
        ],
    }
}

fn bands(width: usize) -> BandSettings {
    if width == 0 { BandSettings::Whole } else { BandSettings::touching(width) }
}

impl Candidate {
    /// Text that is the same for the same settings and differs for others.
    pub fn key(&self) -> String {
        // Names and numbers always serialise.
        serde_json::to_string(&(&self.front_end, &self.detector)).unwrap_or_default()
    }

    /// Whether these are the settings `auscult fit` has without options.
    pub fn is_default(&self) -> bool {
        self.preset == Some(Preset::default())
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(preset) = self.preset {
            return write!(formatter, "preset {preset}");
        }
        let detector = &self.detector;
        let several = detector.views.len() > 1;
        let convention = self.front_end.settings.get("convention").and_then(|name| name.as_str());
        match convention {
            Some(convention) => write!(formatter, "{} {convention}, ", self.front_end.name)?,
            None => write!(formatter, "{}, ", self.front_end)?,
        }
        match detector.bands {
            BandSettings::Whole if several => formatter.write_str("whole, 2 views")?,
            BandSettings::Whole => formatter.write_str("global")?,
            BandSettings::Windows { width, .. } => {
                write!(formatter, "{} {width}", if several { "adabeam" } else { "beam" })?;
            }
        }
        match (detector.neighbours, detector.exponent) {
            (0, _) => formatter.write_str(", plain distance")?,
            (neighbours, exponent) => write!(formatter, ", K {neighbours}, exponent {exponent}")?,
        }
        if detector.aggregation != Combine::Mean {
            write!(formatter, ", {} of bands", detector.aggregation)?;
        }
        if several && detector.fusion != Combine::Mean {
            write!(formatter, ", {} of views", detector.fusion)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use auscult_core::{ClipSettings, Method, features::Ensemble};

    use super::*;

    fn candidates() -> Vec<Candidate> {
        grid(ClipSettings::default().check().unwrap(), &[]).unwrap()
    }

    #[test]
    fn the_papers_settings_of_every_front_end_come_first() {
        let length = ClipSettings::default().check().unwrap();
        for (candidate, (name, convention, _)) in candidates().iter().zip(&FRONT_ENDS[..LPC]) {
            let front_end =
                FrontEndSettings::named(name, Some(convention)).unwrap().build(length).unwrap();
            assert_eq!(candidate.front_end, front_end.identity());
            assert_eq!(candidate.detector, BeamSettings::paper(Method::AdaBeam, &*front_end));
        }
        let is_lpc = |candidate: &Candidate| candidate.front_end.name == "lpc";
        let dear = candidates().iter().position(is_lpc).unwrap();
        assert!(candidates()[dear..].iter().all(is_lpc), "what is dear comes last");
        let presets = presets(Preset::ALL, &FrontEnds::standard(), length).unwrap();
        let names: Vec<String> = presets.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["preset fast", "preset best", "preset paper"]);
        assert_eq!(presets.iter().filter(|candidate| candidate.is_default()).count(), 1);
        assert!(presets.iter().all(|preset| preset.changes < candidates()[0].changes));
    }

    #[test]
    fn no_candidate_is_there_twice_and_all_are_valid() {
        let keys: BTreeSet<String> = candidates().iter().map(Candidate::key).collect();
        assert_eq!(keys.len(), candidates().len());
        assert_eq!(keys.len(), 4 * 3 * 7 * 7 + 7 * 7);
        for candidate in candidates() {
            let identity = &candidate.front_end;
            let length = ClipSettings::default().check().unwrap();
            let built = FrontEndSettings::from_identity(identity).unwrap().build(length).unwrap();
            candidate.detector.check(built.axis().len()).unwrap();
        }
    }

    #[test]
    fn further_front_ends_are_tried_on_groups_of_their_bands() {
        let length = ClipSettings::default().check().unwrap();
        let more =
            FrontEndSettings::named("log-mel", Some("kaldi")).unwrap().build(length).unwrap();
        let all = grid(length, std::slice::from_ref(&more)).unwrap();
        assert_eq!(all[4].front_end, more.identity(), "in its turn");
        let of_more = all.iter().filter(|candidate| candidate.front_end == more.identity());
        let widths: BTreeSet<Option<usize>> = of_more
            .map(|candidate| match candidate.detector.bands {
                BandSettings::Windows { width, .. } => Some(width),
                BandSettings::Whole => None,
            })
            .collect();
        assert_eq!(widths, BTreeSet::from([None, Some(38), Some(76)]));
        let several = Ensemble::new(vec![
            more,
            FrontEndSettings::named("mfcc", None).unwrap().build(length).unwrap(),
        ]);
        let error = grid(length, &[Arc::new(several.unwrap())]).unwrap_err().to_string();
        assert!(
            error.starts_with("log-mel (kaldi) + mfcc (kaldi) is several front ends"),
            "{error}"
        );
    }

    #[test]
    fn settings_are_said_in_words() {
        let all = candidates();
        assert_eq!(all[0].to_string(), "log-mel s15, adabeam 38, K 1, exponent 1");
        let words: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), all.len(), "two candidates read the same");
        assert!(words.contains("mfcc librosa, global, plain distance"));
        assert!(words.contains("lpc spectrum, beam 1600, K 2, exponent auto, max of bands"));
    }
}

//! How far a threshold can be trusted, and what is missing where it cannot.

use std::fmt;

use super::{Calibration, FalseAlarmRate, Promise};
use crate::{Basis, CalibrationScheme, plural};

/// What a threshold is worth.
///
/// # Examples
///
/// ```
/// use auscult_core::{Basis, Calibration, CalibrationScheme, Promise, Standing};
///
/// let scores: Vec<f64> = (1..=19).map(f64::from).collect();
/// let of = |basis| {
///     let calibration = Calibration::new(basis, scores.clone());
///     Standing::of(&calibration, Promise::default(), CalibrationScheme::Auto)
/// };
/// assert!(of(Basis::Visits).is_promised());
/// // Files of one visit say nothing about the next visit.
/// assert!(matches!(of(Basis::Files), Standing::Provisional(_)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// The false-alarm rate is promised.
    Promised,
    /// Clips are judged; more false alarms than the rate are to be expected.
    Provisional(Lack),
    /// There are too few normal clips to judge at all.
    Undecided(Lack),
}

/// Why a rate cannot be promised. It displays as a sentence without its full stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lack {
    /// The promise that cannot be made.
    pub promise: Promise,
    /// Calibration scores there are.
    pub clips: usize,
    /// How many independent clips they are worth.
    pub effective: f64,
    /// What was left out to get them.
    pub basis: Basis,
    /// How many of those there are.
    pub groups: usize,
    /// What is missing.
    pub missing: Missing,
    /// Whether any rate could be promised with these: visits were left out, or somebody vouches for what was.
    pub is_vouched_for: bool,
}

/// What is missing for a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Normal clips.
    Clips,
    /// Visits: clips of the ones there are score alike.
    Independence,
    /// A second visit: nothing is known of how the machine varies from one to the next.
    Visits,
}

impl Standing {
    /// What the threshold of a calibration is worth under a promise.
    ///
    /// A rate is promised for new visits, so visits must have been left out. Whoever chooses to
    /// leave out files, blocks or clips vouches that those are as independent as visits.
    pub fn of(calibration: &Calibration, promise: Promise, scheme: CalibrationScheme) -> Self {
        let basis = calibration.basis();
        let is_vouched_for = basis == Basis::Visits || scheme.is_chosen();
        let (clips, effective) = (calibration.scores().len(), calibration.effective_count());
        let groups = calibration.group_count();
        let lack =
            |missing| Lack { promise, clips, effective, basis, groups, missing, is_vouched_for };
        match calibration.threshold(promise) {
            None if effective + 1.0 < clips as f64 => Self::Undecided(lack(Missing::Independence)),
            None => Self::Undecided(lack(Missing::Clips)),
            Some(_) if !is_vouched_for => Self::Provisional(lack(Missing::Visits)),
            Some(_) if !calibration.keeps(promise) => {
                Self::Provisional(lack(Missing::Independence))
            }
            Some(_) => Self::Promised,
        }
    }

    /// Whether the false-alarm rate is promised.
    pub fn is_promised(self) -> bool {
        self == Self::Promised
    }

    /// What the promise rests on beside left-out visits: that these are as independent as visits.
    /// `None` if nothing is promised, or visits were left out.
    pub fn condition(self, basis: Basis) -> Option<String> {
        self.is_promised().then(|| condition(basis)).flatten()
    }

    /// What is missing; `None` if the rate is promised.
    pub fn lack(self) -> Option<Lack> {
        match self {
            Self::Promised => None,
            Self::Provisional(lack) | Self::Undecided(lack) => Some(lack),
        }
    }
}

/// What a promise that does not rest on left-out visits rests on.
fn condition(basis: Basis) -> Option<String> {
    (basis != Basis::Visits)
        .then(|| format!("if {basis} are as independent of each other as visits on other days"))
}

impl Lack {
    /// The rate that can be promised now, instead of the one that was asked for; `None` if none can.
    pub fn promised_now(&self) -> Option<FalseAlarmRate> {
        self.is_vouched_for.then(|| self.promise.smallest_rate(self.effective)).flatten()
    }

    /// How many more visits would do, of about as many clips as they have now.
    fn more_visits(&self) -> (usize, usize) {
        let needed = self.promise.calibration_floor();
        let groups = self.groups.max(1);
        let worth = (self.effective / groups as f64).max(1.0);
        let more = ((needed as f64 - self.effective) / worth).ceil().max(1.0);
        (more as usize, (self.clips / groups).max(1))
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { promise, clips, .. } = self;
        let needed = promise.calibration_floor();
        match self.missing {
            Missing::Clips if *clips == 0 => write!(
                formatter,
                "a false-alarm rate of {promise} needs {needed} normal clips that can be left out, and none can: a visit is \
                 left out only where enough others stay (six, with the presets best and fast); record at least {needed} \
                 more, on several visits",
            )?,
            Missing::Clips => write!(
                formatter,
                "a false-alarm rate of {promise} needs {needed} normal clips, and there are {clips}: record at least {} \
                 more, on several visits",
                needed.saturating_sub(*clips).max(1)
            )?,
            Missing::Independence => {
                let (visits, clips) = self.more_visits();
                let (one, more) = match self.basis {
                    Basis::Visits => ("visit", "visit"),
                    Basis::Files => ("file", "file"),
                    Basis::Blocks | Basis::Clips => ("recording", "recording"),
                };
                write!(
                    formatter,
                    "a false-alarm rate of {promise} cannot be promised yet, because clips of the same {one} score alike: \
                     record about {} of {}",
                    plural(visits, &format!("more {more}")),
                    plural(clips, "clip")
                )?;
            }
            Missing::Visits => {
                let visits = needed.saturating_sub(1).max(1);
                write!(
                    formatter,
                    "{}, and other days sound different: say which visit each recording is from (sub-folders or a manifest \
                     column), and record on other days, up to {} of ten clips or so; a second one helps most",
                    match self.basis {
                        Basis::Files => "no second visit is known",
                        _ => "all references come from one recording",
                    },
                    plural(visits, "more visit")
                )?;
            }
        }
        match self.promised_now() {
            Some(rate) => {
                write!(formatter, "; {rate} can be promised now")?;
                condition(self.basis).map_or(Ok(()), |condition| write!(formatter, " {condition}"))
            }
            None => write!(formatter, "; nothing can be promised now"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::calibration::CalibrationClip;

    fn standing(basis: Basis, scheme: CalibrationScheme, clips: usize, groups: usize) -> Standing {
        let clip = |index: usize| CalibrationClip {
            score: (index % groups) as f64 + 1e-6 * index as f64,
            group: index % groups,
            domain: None,
        };
        let calibration = Calibration::of_clips(basis, (0..clips).map(clip).collect());
        Standing::of(&calibration, Promise::default(), scheme)
    }

    #[test]
    fn only_left_out_visits_promise_unless_somebody_vouches() {
        use CalibrationScheme::{Auto, Clips, Files, Split};
        assert!(standing(Basis::Visits, Auto, 30, 30).is_promised());
        for (basis, chosen) in [(Basis::Files, Files), (Basis::Clips, Clips)] {
            assert!(standing(basis, chosen, 30, 30).is_promised());
            for scheme in [Auto, Split] {
                let lack = standing(basis, scheme, 30, 30).lack().unwrap();
                assert_eq!(lack.missing, Missing::Visits);
            }
        }
    }

    proptest! {
        #[test]
        fn what_can_be_promised_now_is_promised_when_asked_for(
            scores in prop::collection::vec((0.0..10.0_f64, 0_usize..12), 1..80),
            alike in 0.0..1.0_f64,
            confidence in prop::option::of(prop_oneof![Just(0.5), Just(0.9), Just(0.99)]),
        ) {
            let clip = |&(score, group): &(f64, usize)| CalibrationClip {
                score: alike * group as f64 + (1.0 - alike) * score,
                group,
                domain: None,
            };
            let calibration = Calibration::of_clips(Basis::Visits, scores.iter().map(clip).collect());
            let promise = Promise {
                confidence: confidence.map(|confidence| confidence.try_into().unwrap()),
                ..Promise::default()
            };
            let of = |promise| Standing::of(&calibration, promise, CalibrationScheme::Auto);
            if let Some(rate) = of(promise).lack().and_then(|lack| lack.promised_now()) {
                prop_assert!(rate > promise.rate);
                let typed = rate.to_string().parse().unwrap();
                prop_assert_eq!(of(Promise { rate: typed, ..promise }), Standing::Promised);
            }
        }
    }

    #[test]
    fn what_is_missing_is_told_in_numbers() {
        let few = standing(Basis::Visits, CalibrationScheme::Auto, 12, 12);
        assert!(matches!(few, Standing::Undecided(_)));
        let text = few.lack().unwrap().to_string();
        assert!(text.contains("there are 12: record at least 7 more"), "{text}");
        assert!(text.ends_with("8 % can be promised now"), "{text}");
        for (clips, per_visit) in [(15, 3), (50, 10)] {
            let alike = standing(Basis::Visits, CalibrationScheme::Auto, clips, 5).lack().unwrap();
            let text = alike.to_string();
            assert!(
                text.contains(&format!("record about 14 more visits of {per_visit} clips")),
                "{text}"
            );
            assert!(text.ends_with("17 % can be promised now"), "{text}");
        }
        let files = standing(Basis::Files, CalibrationScheme::Auto, 12, 12).lack().unwrap();
        assert_eq!(files.missing, Missing::Clips);
        assert!(files.to_string().ends_with("nothing can be promised now"), "{files}");
        let vouched = standing(Basis::Files, CalibrationScheme::Files, 12, 12).lack().unwrap();
        let text = vouched.to_string();
        assert!(text.contains("8 % can be promised now if files are as independent"), "{text}");
        let blocks = standing(Basis::Blocks, CalibrationScheme::Auto, 50, 50).lack().unwrap();
        assert!(blocks.to_string().contains("up to 18 more visits"), "{blocks}");
        assert!(blocks.to_string().ends_with("nothing can be promised now"), "{blocks}");
    }
}

//! What the positions of a feature vector mean.

use std::ops::Range;

use serde::Serialize;

/// The ordered axis of a feature vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    meaning: AxisMeaning,
    level: Level,
    len: usize,
    hertz: Hertz,
}

/// Where the frequencies of positions are.
#[derive(Debug, Clone, PartialEq)]
enum Hertz {
    /// Nowhere.
    Unknown,
    /// `len + 1` edges in hertz, ascending.
    Edges(Vec<f64>),
    /// Edges of carriers in hertz, and edges of the rates that every carrier has one after the other.
    Modulation { carriers: Vec<f64>, rates: Vec<f64> },
    /// One range for all positions of a part.
    Parts(Vec<AxisPart>),
    /// Axes with their names, one after the other.
    Joined(Vec<(String, Axis)>),
}

/// A run of positions that stand for one thing together, such as the values of a row of tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisPart {
    /// What it is, if its frequencies do not say it all; may be empty.
    pub name: String,
    /// How many positions it has.
    pub len: usize,
    /// The frequencies it stands for, if it does.
    pub hertz: Option<Range<f64>>,
}

/// What one position stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AxisMeaning {
    /// A range of frequencies.
    Frequency,
    /// A cepstral coefficient: fine structure grows along the axis, hertz do not exist.
    Cepstrum,
    /// How fast the loudness of a range of frequencies (the carrier) changes: see [`Axis::rates`].
    Modulation,
    /// Something only the front end knows.
    Other,
}

/// How a feature value relates to sound level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// Natural logarithm of power.
    NaturalLogPower,
    /// Decibels.
    Decibels,
    /// Magnitude; 20 log10 of a ratio is decibels.
    Magnitude,
    /// Inverse of a magnitude.
    InverseMagnitude,
    /// No level.
    None,
}

impl Axis {
    /// A frequency axis from its edges: position `i` covers `edges[i]..edges[i + 1]` hertz.
    pub fn frequency(edges: Vec<f64>, level: Level) -> Self {
        let len = edges.len().saturating_sub(1);
        Self { meaning: AxisMeaning::Frequency, level, len, hertz: Hertz::Edges(edges) }
    }

    /// An axis of `len` cepstral coefficients.
    pub fn cepstrum(len: usize) -> Self {
        Self { meaning: AxisMeaning::Cepstrum, level: Level::None, len, hertz: Hertz::Unknown }
    }

    /// An axis of `len` positions without a meaning known here.
    pub fn other(len: usize) -> Self {
        Self { meaning: AxisMeaning::Other, level: Level::None, len, hertz: Hertz::Unknown }
    }

    /// An axis of modulation rates, carrier by carrier, from edges in hertz: carrier `i` covers the
    /// frequencies `carriers[i]..carriers[i + 1]`, and in each, position `j` covers the rates
    /// `rates[j]..rates[j + 1]`.
    ///
    /// ```
    /// use auscult_core::features::Axis;
    ///
    /// let axis = Axis::modulation(vec![30.0, 500.0, 8000.0], vec![0.5, 1.5, 2.5, 3.0]);
    /// assert_eq!(axis.len(), 6);
    /// assert_eq!(axis.hertz(4..5), Some(500.0..8000.0));
    /// assert_eq!(axis.rates(4..5), Some(1.5..2.5));
    /// ```
    pub fn modulation(carriers: Vec<f64>, rates: Vec<f64>) -> Self {
        let len = carriers.len().saturating_sub(1) * rates.len().saturating_sub(1);
        let hertz = Hertz::Modulation { carriers, rates };
        Self { meaning: AxisMeaning::Modulation, level: Level::None, len, hertz }
    }

    /// An axis of parts, one after the other.
    ///
    /// ```
    /// use auscult_core::features::{Axis, AxisPart};
    ///
    /// let row = |hertz| AxisPart { name: String::new(), len: 3, hertz: Some(hertz) };
    /// let axis = Axis::parts(vec![row(0.0..500.0), row(500.0..2000.0)]);
    /// assert_eq!(axis.hertz(1..5), Some(0.0..2000.0));
    /// ```
    pub fn parts(parts: Vec<AxisPart>) -> Self {
        let len = parts.iter().map(|part| part.len).sum();
        Self { hertz: Hertz::Parts(parts), ..Self::other(len) }
    }

    /// Several axes with their names, one after the other.
    pub fn joined(axes: Vec<(String, Self)>) -> Self {
        let len = axes.iter().map(|(_, axis)| axis.len()).sum();
        Self { hertz: Hertz::Joined(axes), ..Self::other(len) }
    }

    /// Number of positions (the paper's F).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the axis has no positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What one position stands for.
    pub fn meaning(&self) -> AxisMeaning {
        self.meaning
    }

    /// How values relate to sound level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The frequencies in hertz that a range of positions covers, if the axis has frequencies; of a
    /// modulation, those of the carriers.
    pub fn hertz(&self, positions: Range<usize>) -> Option<Range<f64>> {
        match &self.hertz {
            Hertz::Unknown => None,
            Hertz::Edges(edges) => Some(*edges.get(positions.start)?..*edges.get(positions.end)?),
            Hertz::Modulation { carriers, rates } => {
                let covered = covered_rows(&positions, rates.len().checked_sub(1)?)?;
                Some(*carriers.get(covered.start)?..*carriers.get(covered.end)?)
            }
            Hertz::Joined(_) => {
                let (_, axis, own) = self.member(&positions)?;
                axis.hertz(own)
            }
            Hertz::Parts(_) => self
                .touched(&positions)
                .map(|part| part.hertz.clone())
                .reduce(|all, more| {
                    let (all, more) = (all?, more?);
                    Some(all.start.min(more.start)..all.end.max(more.end))
                })
                .flatten(),
        }
    }

    /// The modulation rates in hertz that a range of positions covers, if the axis has them: how many
    /// times a second the loudness of its carriers rises and falls.
    pub fn rates(&self, positions: Range<usize>) -> Option<Range<f64>> {
        match &self.hertz {
            Hertz::Modulation { rates, .. } => {
                let bins = rates.len().checked_sub(1)?;
                let carriers = covered_rows(&positions, bins)?;
                let (first, last) = match carriers.len() {
                    1 => (positions.start % bins, (positions.end - 1) % bins),
                    // The end of one carrier and the start of the next one.
                    _ => (0, bins - 1),
                };
                (positions.end <= self.len).then(|| rates[first]..rates[last + 1])
            }
            Hertz::Joined(_) => {
                let (_, axis, own) = self.member(&positions)?;
                axis.rates(own)
            }
            _ => None,
        }
    }

    /// The names of the parts a range of positions covers, each once; empty if they have none.
    pub fn part_names(&self, positions: Range<usize>) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        if let Some((name, axis, own)) = self.member(&positions) {
            names.push(name);
            names.extend(axis.part_names(own));
        }
        for part in self.touched(&positions) {
            if !part.name.is_empty() && !names.contains(&part.name.as_str()) {
                names.push(&part.name);
            }
        }
        names
    }

    /// The positions counted from the start of the joined axis they lie in; the same positions of
    /// any other axis.
    pub fn own_positions(&self, positions: Range<usize>) -> Range<usize> {
        self.member(&positions).map_or(positions, |(_, _, own)| own)
    }

    /// Positions of a range whose values have a level and stand for these frequencies: those of the
    /// range itself where they do, otherwise those of the first joined axis that has levels. `None` if
    /// there are none.
    pub(crate) fn levelled(
        &self,
        positions: &Range<usize>,
        hertz: Option<&Range<f64>>,
    ) -> Option<Range<usize>> {
        if self.level_of(positions) != Level::None {
            return Some(positions.clone());
        }
        let Hertz::Joined(members) = &self.hertz else { return None };
        let mut start = 0;
        members.iter().find_map(|(_, axis)| {
            let begins = start;
            start += axis.len();
            let Hertz::Edges(edges) = &axis.hertz else { return None };
            if axis.level == Level::None {
                return None;
            }
            let Some(hertz) = hertz else { return Some(begins..start) };
            let touches = |at: &usize| edges[*at] < hertz.end && edges[*at + 1] > hertz.start;
            let first = (0..axis.len()).find(touches)?;
            let last = (0..axis.len()).rfind(touches)?;
            Some(begins + first..begins + last + 1)
        })
    }

    /// How the values of a range of positions relate to sound level.
    fn level_of(&self, positions: &Range<usize>) -> Level {
        self.member(positions).map_or(self.level, |(_, axis, _)| axis.level)
    }

    /// The joined axis a range of positions lies in, and where in it.
    fn member(&self, positions: &Range<usize>) -> Option<(&str, &Self, Range<usize>)> {
        let Hertz::Joined(members) = &self.hertz else { return None };
        let mut start = 0;
        members.iter().find_map(|(name, axis)| {
            let begins = start;
            start += axis.len();
            let inside = begins <= positions.start && positions.end <= start;
            let own = || positions.start - begins..positions.end - begins;
            inside.then(|| (name.as_str(), axis, own()))
        })
    }

    /// The parts a range of positions touches.
    fn touched(&self, positions: &Range<usize>) -> impl Iterator<Item = &AxisPart> {
        let parts: &[AxisPart] = match &self.hertz {
            Hertz::Parts(parts) => parts,
            _ => &[],
        };
        let mut start = 0;
        let (from, to) = (positions.start, positions.end);
        parts.iter().filter(move |part| {
            let begins = start;
            start += part.len;
            begins < to && from < start
        })
    }

    /// The difference in decibels between two values at one position, if values have a level.
    pub fn decibels(&self, value: f32, reference: f32) -> Option<f64> {
        self.level.decibels(value, reference)
    }

    /// The same at a position of a joined axis.
    pub(crate) fn decibels_at(&self, position: usize, value: f32, reference: f32) -> Option<f64> {
        self.level_of(&(position..position + 1)).decibels(value, reference)
    }
}

impl Level {
    /// The difference in decibels between two values.
    fn decibels(self, value: f32, reference: f32) -> Option<f64> {
        let (value, reference) = (f64::from(value), f64::from(reference));
        match self {
            Self::NaturalLogPower => Some((value - reference) * 10.0 / std::f64::consts::LN_10),
            Self::Decibels => Some(value - reference),
            Self::Magnitude => Some(20.0 * (value / reference).log10()),
            Self::InverseMagnitude => Some(20.0 * (reference / value).log10()),
            Self::None => None,
        }
    }
}

/// The rows of `width` positions that a range touches; `None` if there are none.
fn covered_rows(positions: &Range<usize>, width: usize) -> Option<Range<usize>> {
    let last = positions.end.checked_sub(1)?;
    (width > 0 && positions.start <= last).then(|| positions.start / width..last / width + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modulation_has_two_frequencies() {
        let modulation =
            || Axis::modulation(vec![30.0, 500.0, 2000.0, 8000.0], vec![0.5, 1.5, 2.5, 3.0]);
        let joined = Axis::joined(vec![
            ("mfcc".to_owned(), Axis::cepstrum(10)),
            ("modulation".to_owned(), modulation()),
        ]);
        let cases = [
            (0..1, Some(30.0..500.0), Some(0.5..1.5)),
            (4..6, Some(500.0..2000.0), Some(1.5..3.0)),
            (2..4, Some(30.0..2000.0), Some(0.5..3.0)),
            (0..9, Some(30.0..8000.0), Some(0.5..3.0)),
            (8..10, None, None),
            (4..4, None, None),
        ];
        for (positions, hertz, rates) in cases {
            let axis = modulation();
            assert_eq!(axis.hertz(positions.clone()), hertz, "{positions:?}");
            assert_eq!(axis.rates(positions.clone()), rates, "{positions:?}");
            let later = positions.start + 10..positions.end + 10;
            assert_eq!(joined.hertz(later.clone()), hertz, "{positions:?}");
            assert_eq!(joined.rates(later), rates, "{positions:?}");
        }
        assert_eq!(modulation().meaning(), AxisMeaning::Modulation);
        assert_eq!(modulation().decibels(1.0, 2.0), None);
        assert_eq!(joined.rates(0..5), None);
        assert_eq!(Axis::modulation(vec![], vec![]).rates(0..1), None);
    }

    #[test]
    fn hertz_of_a_band_run_from_its_first_edge_to_its_last() {
        let axis = Axis::frequency(vec![0.0, 100.0, 250.0, 500.0], Level::Decibels);
        assert_eq!(axis.hertz(1..3), Some(100.0..500.0));
        assert_eq!(axis.hertz(1..4), None);
        assert_eq!(Axis::cepstrum(3).hertz(0..1), None);
    }

    #[test]
    fn decibels_follow_the_level_of_the_axis() {
        let edges = vec![0.0, 1.0];
        let tenfold = |level| Axis::frequency(edges.clone(), level);
        let ten = 10.0_f32;
        assert!((tenfold(Level::Magnitude).decibels(ten, 1.0).unwrap() - 20.0).abs() < 1e-9);
        assert!((tenfold(Level::InverseMagnitude).decibels(ten, 1.0).unwrap() + 20.0).abs() < 1e-9);
        assert!(
            (tenfold(Level::NaturalLogPower).decibels(ten.ln(), 0.0).unwrap() - 10.0).abs() < 1e-5
        );
    }
}

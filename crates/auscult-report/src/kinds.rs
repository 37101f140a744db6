//! Anomalies that resemble each other are one kind: one card with a count, not ten copies.

use std::cmp::{Ordering, Reverse};

use auscult::{Verdict, explain::times_a_second};

use crate::{
    ReportClip,
    bands::furthest_band_name,
    difference::{Difference, Part},
};

/// Clips that differ from normal alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kind {
    /// Indices of its clips, the furthest first; never empty.
    clips: Vec<usize>,
}

/// At most this many kinds have a card; the clips of the others are in the table.
pub(crate) const MOST_KINDS: usize = 6;

/// Differences at least this alike are one kind: 1 is the same shape, 0 nothing in common.
const ALIKE: f64 = 0.7;

/// The kinds among anomalous clips: the one with most clips first, and of equal ones the one with the furthest clip.
///
/// A clip joins the first kind whose furthest clip it resembles: in the third octaves that are louder or quieter, or,
/// where those are not known or nothing is louder, in the band that differs most.
pub(crate) fn of(clips: &[ReportClip<'_>]) -> Vec<Kind> {
    let mut anomalous: Vec<usize> =
        (0..clips.len()).filter(|&at| clips[at].verdict() == Some(Verdict::Anomalous)).collect();
    anomalous.sort_by(|&a, &b| further(&clips[a], &clips[b]));
    let mut kinds: Vec<Kind> = Vec::new();
    for at in anomalous {
        match kinds.iter_mut().find(|kind| are_alike(&clips[kind.leader()], &clips[at])) {
            Some(kind) => kind.clips.push(at),
            None => kinds.push(Kind { clips: vec![at] }),
        }
    }
    // Sorting is stable: what is equally frequent stays in the order of its scores.
    kinds.sort_by_key(|kind| Reverse(kind.clips.len()));
    kinds
}

fn further(a: &ReportClip<'_>, b: &ReportClip<'_>) -> Ordering {
    let score = |clip: &ReportClip<'_>| clip.score().unwrap_or(f64::NEG_INFINITY);
    score(b).total_cmp(&score(a))
}

fn are_alike(leader: &ReportClip<'_>, clip: &ReportClip<'_>) -> bool {
    let likeness =
        leader.difference.as_ref().zip(clip.difference.as_ref()).and_then(|(a, b)| a.likeness(b));
    likeness.map_or_else(
        || {
            has_parts(leader) == has_parts(clip)
                && furthest_band_name(leader) == furthest_band_name(clip)
        },
        |likeness| likeness >= ALIKE,
    )
}

fn has_parts(clip: &ReportClip<'_>) -> bool {
    !parts(clip).is_empty()
}

fn parts(clip: &ReportClip<'_>) -> Vec<Part> {
    clip.difference.as_ref().map(Difference::parts).unwrap_or_default()
}

impl Kind {
    /// The furthest clip.
    pub(crate) fn leader(&self) -> usize {
        self.clips[0]
    }

    /// All of them, the furthest first.
    pub(crate) fn clips(&self) -> &[usize] {
        &self.clips
    }

    /// The same in as few words as say something.
    pub(crate) fn short_name(&self, clips: &[ReportClip<'_>]) -> String {
        let name = self.name(clips);
        name.split_once("; ").map_or(name.clone(), |(first, _)| first.to_owned())
    }

    /// What it is in words of the machine: decibels and hertz, beats, or else the band that differs.
    pub(crate) fn name(&self, clips: &[ReportClip<'_>]) -> String {
        what_differs(&clips[self.leader()])
    }
}

/// What differs in a clip: decibels and hertz, beats, or else the band that differs most.
pub(crate) fn what_differs(clip: &ReportClip<'_>) -> String {
    let reason = clip.explanation.as_ref().and_then(|explanation| explanation.bands.first());
    let beat = reason.and_then(|reason| reason.modulations.first()).map(|line| {
        format!("{} beats {}", crate::text::hertz(&line.hertz), times_a_second(line.rate))
    });
    let mut words: Vec<String> = parts(clip).iter().take(2).map(Part::describe).collect();
    words.extend(beat);
    if words.is_empty() {
        return crate::bands::furthest(clip);
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{difference::ThirdOctaves, testing::clip_with};

    fn clip(score: f64, hertz: f32, level: f32) -> ReportClip<'static> {
        let step = std::f32::consts::TAU * hertz / 16_000.0;
        let mut random = auscult::random::Random::of(1, &[]);
        let noise: Vec<f32> = (0..16_000).map(|_| random.symmetric(0.05)).collect();
        let tone: Vec<f32> = noise
            .iter()
            .enumerate()
            .map(|(at, noise)| (at as f32 * step).sin() * level + noise)
            .collect();
        let difference =
            ThirdOctaves::of(&tone, 16_000).against(&ThirdOctaves::of(&noise, 16_000), None);
        ReportClip { difference: Some(difference), ..clip_with(score, Verdict::Anomalous) }
    }

    #[test]
    fn one_kind_for_each_way_to_differ_and_the_frequent_first() {
        let clips = [
            clip(2.0, 1_000.0, 0.1),
            clip_with(0.5, Verdict::Normal),
            clip(3.0, 4_000.0, 0.1),
            clip(5.0, 1_000.0, 0.3),
            clip(f64::NAN, 1_000.0, 0.2),
        ];
        let kinds = of(&clips);
        assert_eq!(kinds.len(), 2);
        assert_eq!(kinds[1].clips(), [2]);
        assert_eq!(kinds[0].clips().len(), 3);
        assert!(
            kinds[0].name(&clips).contains(" dB at 0.89\u{2013}1.12 kHz"),
            "{}",
            kinds[0].name(&clips)
        );
    }

    #[test]
    fn clips_that_cannot_be_read_again_are_grouped_by_their_band() {
        let clips = [clip_with(2.0, Verdict::Anomalous), clip_with(3.0, Verdict::Anomalous)];
        assert_eq!(of(&clips), [Kind { clips: vec![1, 0] }]);
        assert_eq!(of(&[]), []);
    }
}

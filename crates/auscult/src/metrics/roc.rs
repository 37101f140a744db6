//! Areas under the ROC curve.

use std::cmp::Ordering;

/// Share of pairs in which the anomaly scores higher; ties count half. `None` if one side is empty.
///
/// # Examples
///
/// ```
/// use auscult::metrics::auc;
///
/// assert_eq!(auc(&[1.0, 2.0], &[2.0, 3.0]), Some(0.875));
/// assert_eq!(auc(&[1.0], &[]), None);
/// ```
pub fn auc(normal: &[f64], anomalous: &[f64]) -> Option<f64> {
    let pairs = (normal.len() as f64) * (anomalous.len() as f64);
    if pairs == 0.0 {
        return None;
    }
    let curve = Curve::of(normal, anomalous);
    // Counted in half pairs: whole numbers, so that no digit is lost.
    let halves: u64 = curve.steps().map(|(from, to)| (to.0 - from.0) * (from.1 + to.1)).sum();
    Some(halves as f64 / (2.0 * pairs))
}

/// The AUC without each group of clips in turn; where that leaves nothing to compare, `whole`.
///
/// Clips are scores with the index of their group, below `groups`.
pub fn auc_without_groups(
    normal: &[(f64, usize)],
    anomalous: &[(f64, usize)],
    groups: usize,
    whole: f64,
) -> Vec<f64> {
    let rest = |clips: &[(f64, usize)], group: usize| -> Vec<f64> {
        clips.iter().filter(|(_, other)| *other != group).map(|(score, _)| *score).collect()
    };
    (0..groups)
        .map(|group| auc(&rest(normal, group), &rest(anomalous, group)).unwrap_or(whole))
        .collect()
}

/// Area under the ROC curve up to a share of false positives, standardised as `McClish` does: 0.5 is
/// chance, 1 is perfect. `None` if one side is empty.
///
/// The same number as scikit-learn's `roc_auc_score(max_fpr=share)`. It can be below 0.5, down to
/// 0.474 for a share of 0.1.
pub fn partial_auc(normal: &[f64], anomalous: &[f64], share: f64) -> Option<f64> {
    if normal.is_empty() || anomalous.is_empty() {
        return None;
    }
    let (negatives, positives) = (normal.len() as f64, anomalous.len() as f64);
    let rate = |(false_alarms, hits): (u64, u64)| {
        (false_alarms as f64 / negatives, hits as f64 / positives)
    };
    let curve = Curve::of(normal, anomalous);
    let mut area = 0.0;
    for (from, to) in curve.steps().map(|(from, to)| (rate(from), rate(to))) {
        if to.0 <= share {
            area += (to.0 - from.0) * f64::midpoint(from.1, to.1);
            continue;
        }
        let height = from.1 + (to.1 - from.1) * (share - from.0) / (to.0 - from.0);
        area += (share - from.0) * f64::midpoint(from.1, height);
        break;
    }
    let (least, most) = (share * share / 2.0, share);
    Some(0.5 * (1.0 + (area - least) / (most - least)))
}

/// The partial AUC as the description of DCASE 2020 writes it: the share of pairs an anomaly wins
/// against the `floor(share * normals)` highest normal scores; ties win nothing.
///
/// `None` if there is no such normal clip or no anomaly.
pub fn partial_auc_dcase2020(normal: &[f64], anomalous: &[f64], share: f64) -> Option<f64> {
    let count = (share * normal.len() as f64).floor() as usize;
    if count == 0 || anomalous.is_empty() {
        return None;
    }
    let mut highest = normal.to_vec();
    highest.sort_by(|a, b| b.total_cmp(a));
    let wins = anomalous
        .iter()
        .map(|score| highest[..count].iter().filter(|&other| score > other).count())
        .sum::<usize>();
    Some(wins as f64 / (count * anomalous.len()) as f64)
}

/// Counts of false alarms and hits, one point a distinct score, from the strictest threshold on.
struct Curve(Vec<(u64, u64)>);

impl Curve {
    fn of(normal: &[f64], anomalous: &[f64]) -> Self {
        let mut normal = normal.to_vec();
        let mut anomalous = anomalous.to_vec();
        normal.sort_by(|a, b| b.total_cmp(a));
        anomalous.sort_by(|a, b| b.total_cmp(a));
        let mut points = vec![(0, 0)];
        let (mut false_alarms, mut hits) = (0, 0);
        loop {
            let next = match (normal.get(false_alarms), anomalous.get(hits)) {
                (None, None) => break,
                (Some(&score), None) | (None, Some(&score)) => score,
                (Some(&a), Some(&b)) => {
                    if a.partial_cmp(&b) == Some(Ordering::Less) {
                        b
                    } else {
                        a
                    }
                }
            };
            while normal.get(false_alarms).is_some_and(|&score| is_reached(score, next)) {
                false_alarms += 1;
            }
            while anomalous.get(hits).is_some_and(|&score| is_reached(score, next)) {
                hits += 1;
            }
            points.push((false_alarms as u64, hits as u64));
        }
        Self(points)
    }

    fn steps(&self) -> impl Iterator<Item = ((u64, u64), (u64, u64))> + '_ {
        self.0.windows(2).map(|pair| (pair[0], pair[1]))
    }
}

/// What is not a number reaches every threshold, so that a curve always ends.
fn is_reached(score: f64, threshold: f64) -> bool {
    score.partial_cmp(&threshold) != Some(Ordering::Less)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores() -> impl Strategy<Value = Vec<f64>> {
        // Few distinct values, so that ties are common.
        prop::collection::vec((0_i32..12).prop_map(f64::from), 1..30)
    }

    #[test]
    fn what_is_not_a_number_ends_too() {
        let odd = [f64::NAN, 1.0, -f64::NAN, f64::INFINITY];
        assert!((0.0..=1.0).contains(&auc(&odd, &odd).unwrap()));
        assert!(auc(&[f64::NAN], &[1.0, 2.0]).is_some());
    }

    #[test]
    fn groups_leave_with_all_their_clips() {
        let normal = [(1.0, 0), (2.0, 1), (3.0, 2)];
        let anomalous = [(2.0, 0), (4.0, 1), (0.0, 2)];
        // Without group 0: 4 and 0 against 2 and 3.
        assert_eq!(auc_without_groups(&normal, &anomalous, 3, 0.7), [0.5, 0.25, 0.875]);
        assert_eq!(auc_without_groups(&normal[..1], &anomalous[..1], 2, 0.7), [0.7, 1.0]);
    }

    proptest! {
        #[test]
        fn auc_is_the_share_of_pairs_won(normal in scores(), anomalous in scores()) {
            let wins: f64 = anomalous.iter().flat_map(|a| normal.iter().map(move |n| {
                match a.total_cmp(n) { Ordering::Greater => 1.0, Ordering::Equal => 0.5, Ordering::Less => 0.0 }
            })).sum();
            let share = wins / (normal.len() * anomalous.len()) as f64;
            prop_assert!((auc(&normal, &anomalous).unwrap() - share).abs() < 1e-12);
        }

        #[test]
        fn increasing_maps_change_nothing(normal in scores(), anomalous in scores()) {
            let map = |scores: &[f64]| scores.iter().map(|s| (s / 5.0).exp() + s).collect::<Vec<_>>();
            let (mapped_normal, mapped_anomalous) = (map(&normal), map(&anomalous));
            prop_assert_eq!(auc(&normal, &anomalous), auc(&mapped_normal, &mapped_anomalous));
            prop_assert_eq!(
                partial_auc(&normal, &anomalous, 0.1),
                partial_auc(&mapped_normal, &mapped_anomalous, 0.1)
            );
        }

        #[test]
        fn turning_scores_round_turns_the_auc_round(normal in scores(), anomalous in scores()) {
            let negative = |scores: &[f64]| scores.iter().map(|s| -s).collect::<Vec<_>>();
            let turned = auc(&negative(&normal), &negative(&anomalous)).unwrap();
            prop_assert!((auc(&normal, &anomalous).unwrap() + turned - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_partial_auc_of_everything_is_the_auc(normal in scores(), anomalous in scores()) {
            let whole = partial_auc(&normal, &anomalous, 1.0).unwrap();
            prop_assert!((whole - auc(&normal, &anomalous).unwrap()).abs() < 1e-12);
        }

        #[test]
        fn partial_aucs_stay_in_their_range(normal in scores(), anomalous in scores()) {
            let value = partial_auc(&normal, &anomalous, 0.1).unwrap();
            prop_assert!((0.473..=1.0 + 1e-12).contains(&value), "{value}");
        }
    }
}

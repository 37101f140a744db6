//! How many independent clips correlated ones are worth.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::conformal::CalibrationClip;

/// The effective count of clips in groups: n / (1 + (m - 1) r), where m is the size of a group and
/// r the share of variance that lies between groups (intraclass correlation of ranks).
///
/// r is taken at its upper 95 % limit: with few groups it is hardly known, and a correlation
/// underestimated by luck would promise too much. `clips` ascend by score. With one clip in each group it is the plain
/// count, and of one group alone it is one; it is never below the number of groups.
pub(super) fn count(clips: &[CalibrationClip]) -> f64 {
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    // Ranks instead of scores: a few huge scores would decide the variance alone.
    for (rank, clip) in clips.iter().enumerate() {
        groups.entry(clip.group).or_default().push(rank as f64);
    }
    let (count, group_count) = (clips.len() as f64, groups.len() as f64);
    if groups.len() == clips.len() {
        return count;
    }
    // How one group differs from the next cannot be seen from one.
    if groups.len() == 1 {
        return group_count;
    }
    let mean = (count - 1.0) / 2.0;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for ranks in groups.values() {
        let size = ranks.len() as f64;
        let own = ranks.iter().sum::<f64>() / size;
        between += size * (own - mean).powi(2);
        within += ranks.iter().map(|rank| (rank - own).powi(2)).sum::<f64>();
        squares += size * size;
    }
    let between = between / (group_count - 1.0);
    let within = within / (count - group_count);
    // The usual size of a group, and the size that a clip finds itself in.
    let usual = (count - squares / count) / (group_count - 1.0);
    let ratio = between / within.max(f64::MIN_POSITIVE) / smallest_ratio(group_count, count);
    let correlation = ((ratio - 1.0) / (ratio + usual - 1.0)).clamp(0.0, 1.0);
    (count / (1.0 + (squares / count - 1.0) * correlation)).max(group_count)
}

/// Independent groups have a larger ratio of variances than this in 95 % of cases.
fn smallest_ratio(groups: f64, clips: f64) -> f64 {
    FisherSnedecor::new(groups - 1.0, clips - groups)
        .map_or(1.0, |ratios| ratios.inverse_cdf(0.05))
        .max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clips(groups: &[usize]) -> Vec<CalibrationClip> {
        let clip = |(rank, &group): (usize, &usize)| CalibrationClip {
            score: rank as f64,
            group,
            domain: None,
        };
        groups.iter().enumerate().map(clip).collect()
    }

    #[test]
    fn groups_that_mix_are_worth_more_than_one_clip_each() {
        let mixed: Vec<usize> = (0..400).map(|rank| rank * 7 % 20).collect();
        let worth = count(&clips(&mixed));
        assert!((200.0..=400.0).contains(&worth), "{worth}");
        assert_eq!(count(&clips(&[0, 1, 2, 3])), 4.0, "one clip in each group");
        assert_eq!(count(&clips(&[0])), 1.0);
        assert_eq!(count(&clips(&[])), 0.0);
    }

    #[test]
    fn one_group_says_nothing_of_others() {
        assert_eq!(count(&clips(&[3; 30])), 1.0);
    }

    #[test]
    fn groups_that_keep_apart_are_worth_little_more_than_one_clip_each() {
        let apart = count(&clips(&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]));
        assert!((4.0..5.0).contains(&apart), "{apart}");
    }
}

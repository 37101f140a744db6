//! Area under the curve, and what it would be without each group.

/// Scores of one kind of clip, each with the group its clip belongs to.
pub type Grouped = [(f64, usize)];

/// An AUC and its values without each group in turn (the delete-one-group jackknife).
#[derive(Debug, Clone, PartialEq)]
pub struct JackknifedAuc {
    /// Share of pairs in which the anomalous clip scores higher; ties count half.
    pub auc: f64,
    /// The same without group 0, 1, ...
    pub without: Vec<f64>,
}

impl JackknifedAuc {
    /// Compares every anomalous clip with every normal one.
    ///
    /// 0.5 where there is nothing to compare.
    pub fn of(normal: &Grouped, anomalous: &Grouped, groups: usize) -> Self {
        let mut total = 0.0;
        // Wins of pairs with a clip of the group: by its normal clips, by its anomalous ones, by both.
        let mut touching = vec![0.0; groups];
        for &(anomalous, anomalous_group) in anomalous {
            for &(normal, normal_group) in normal {
                let win = match anomalous.partial_cmp(&normal) {
                    Some(std::cmp::Ordering::Greater) => 1.0,
                    Some(std::cmp::Ordering::Less) => 0.0,
                    _ => 0.5,
                };
                total += win;
                touching[anomalous_group] += win;
                if normal_group != anomalous_group {
                    touching[normal_group] += win;
                }
            }
        }
        let count = |scores: &Grouped, group| scores.iter().filter(|(_, g)| *g == group).count();
        let share = |wins: f64, normal: usize, anomalous: usize| match normal * anomalous {
            0 => 0.5,
            pairs => wins / pairs as f64,
        };
        let auc = share(total, normal.len(), anomalous.len());
        let without = |group: usize| {
            let normal_left = normal.len() - count(normal, group);
            let anomalous_left = anomalous.len() - count(anomalous, group);
            match normal_left * anomalous_left {
                0 => auc,
                _ => share(total - touching[group], normal_left, anomalous_left),
            }
        };
        Self { auc, without: (0..groups).map(without).collect() }
    }
}

/// The standard error the jackknife gives for values without each group; 0 for fewer than two.
pub fn jackknife_error(without: &[f64]) -> f64 {
    if without.len() < 2 {
        return 0.0;
    }
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
    ((count - 1.0) / count * squares).sqrt()
}

/// Student's t for a two-sided 95 % interval, by the Cornish-Fisher expansion (within 1 % from 3
/// degrees of freedom on; too small below).
pub fn two_sided_95(degrees: usize) -> f64 {
    let degrees = degrees.max(1) as f64;
    1.960 + 2.372 / degrees + 2.823 / degrees.powi(2) + 2.556 / degrees.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_count_half_and_groups_leave_with_all_their_clips() {
        let normal = [(1.0, 0), (2.0, 1), (3.0, 2)];
        let anomalous = [(2.0, 0), (4.0, 1), (0.0, 2)];
        let auc = JackknifedAuc::of(&normal, &anomalous, 3);
        assert!((auc.auc - 4.5 / 9.0).abs() < 1e-12);
        for group in 0..3 {
            let rest = |scores: &[(f64, usize)]| -> Vec<(f64, usize)> {
                scores.iter().copied().filter(|(_, g)| *g != group).collect()
            };
            let direct = JackknifedAuc::of(&rest(&normal), &rest(&anomalous), 3).auc;
            assert!((auc.without[group] - direct).abs() < 1e-12);
        }
    }

    #[test]
    fn the_jackknife_error_of_a_mean_is_the_standard_error() {
        let values = [1.0, 4.0, 2.0, 7.0];
        let without: Vec<f64> = values.iter().map(|value| (14.0 - value) / 3.0).collect();
        let variance = values.iter().map(|value| (value - 3.5_f64).powi(2)).sum::<f64>() / 3.0;
        assert!((jackknife_error(&without) - (variance / 4.0).sqrt()).abs() < 1e-12);
        assert!(jackknife_error(&[0.5]).abs() < 1e-12);
    }

    #[test]
    fn students_t_is_close_to_the_tables() {
        for (degrees, table) in [(3, 3.182), (7, 2.365), (30, 2.042)] {
            assert!((two_sided_95(degrees) / table - 1.0).abs() < 0.01);
        }
    }
}

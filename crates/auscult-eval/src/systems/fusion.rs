//! Scores of several systems as one.

use auscult_core::Combine;

use super::SystemScores;
use crate::{Error, Result};

/// Combines systems whose scores are standardised by their own left-out scores: nothing is taken
/// from the test clips.
///
/// # Errors
///
/// [`Error::Dataset`] if a member has no left-out scores or another number of test clips.
pub fn fuse(members: &[(&str, &SystemScores)], combine: Combine) -> Result<SystemScores> {
    let wrong = |reason: String| Error::Dataset { kind: "fusion".to_owned(), reason };
    let standardised: Result<Vec<SystemScores>> = members
        .iter()
        .map(|(name, scores)| {
            standardise(scores).ok_or_else(|| {
                wrong(format!(
                    "{name} has no left-out scores that differ; leave it out of the fusion"
                ))
            })
        })
        .collect();
    let standardised = standardised?;
    let same_len = |of: fn(&SystemScores) -> usize| {
        standardised.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]))
    };
    if standardised.is_empty()
        || !same_len(|scores| scores.test.len())
        || !same_len(|scores| scores.left_out.len())
    {
        return Err(wrong("the members scored different clips".to_owned()));
    }
    let over = |of: fn(&SystemScores) -> &Vec<f64>| -> Vec<f64> {
        let count = of(&standardised[0]).len();
        (0..count)
            .map(|at| {
                combine.over(
                    standardised
                        .iter()
                        .map(|scores| of(scores)[at])
                        .collect::<Vec<_>>()
                        .into_iter(),
                )
            })
            .collect()
    };
    Ok(SystemScores {
        test: over(|scores| &scores.test),
        left_out: over(|scores| &scores.left_out),
    })
}

fn standardise(scores: &SystemScores) -> Option<SystemScores> {
    let count = scores.left_out.len() as f64;
    let mean = scores.left_out.iter().sum::<f64>() / count;
    let variance = scores.left_out.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count;
    if !(variance > 0.0 && variance.is_finite()) {
        return None;
    }
    let standardise =
        |scores: &[f64]| scores.iter().map(|score| (score - mean) / variance.sqrt()).collect();
    Some(SystemScores { test: standardise(&scores.test), left_out: standardise(&scores.left_out) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_count_in_their_own_deviations() {
        let small = SystemScores { test: vec![0.3], left_out: vec![0.1, 0.3] };
        let large = SystemScores { test: vec![2000.0], left_out: vec![1000.0, 3000.0] };
        let members = [("small", &small), ("large", &large)];
        let mean = fuse(&members, Combine::Mean).unwrap();
        assert!((mean.test[0] - 0.5).abs() < 1e-9, "1 and 0 deviations");
        assert!(fuse(&members, Combine::Min).unwrap().test[0].abs() < 1e-9);
        let none = SystemScores { test: vec![1.0], left_out: Vec::new() };
        let error = fuse(&[("none", &none)], Combine::Mean).unwrap_err().to_string();
        assert!(error.contains("none has no left-out scores"), "{error}");
    }
}

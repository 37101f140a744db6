//! 5. What is done: results that a later run takes up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tuning::{Candidate, Error, Evaluation, Result, Study};

/// Results of a study so far, as JSON holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyState {
    study: serde_json::Value,
    /// By the candidate's key.
    results: BTreeMap<String, Evaluation>,
}

impl StudyState {
    /// Nothing done yet.
    pub fn new(study: &Study) -> Self {
        Self { study: study.fingerprint(), results: BTreeMap::new() }
    }

    /// Takes up what another run left; `None` if that run had other clips or settings.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if the bytes are no state.
    pub fn resume(bytes: &[u8], study: &Study) -> Result<Option<Self>> {
        let state: Self = serde_json::from_slice(bytes)
            .map_err(|error| Error::Unreadable { reason: error.to_string() })?;
        Ok((state.study == study.fingerprint()).then_some(state))
    }

    /// The state as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a result is not a number.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| Error::Unreadable { reason: error.to_string() })
    }

    /// Adds a result.
    pub fn insert(&mut self, evaluation: Evaluation) {
        self.results.insert(evaluation.candidate.key(), evaluation);
    }

    /// Whether a candidate has a result.
    pub fn has(&self, candidate: &Candidate) -> bool {
        self.results.contains_key(&candidate.key())
    }

    /// How many results there are.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether nothing is done.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The results of these candidates, as far as they are there.
    pub fn results(&self, candidates: &[Candidate]) -> Vec<Evaluation> {
        candidates
            .iter()
            .filter_map(|candidate| self.results.get(&candidate.key()).cloned())
            .collect()
    }
}

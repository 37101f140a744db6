//! 8a. What a run will cost, measured on its first clips.

use std::{collections::HashSet, num::NonZeroUsize, time::Instant};

use serde::Serialize;

use crate::{ClipReference, Plan, Result, ShardScorer};

/// Clips that are scored to see what one costs.
const TRIED: usize = 32;

/// What a run will come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Rows of the manifest.
    pub clips: u64,
    /// Shards they make.
    pub shards: usize,
    /// Clips that were scored to find out.
    pub tried: usize,
    /// Of those, how many had an error.
    pub errors: usize,
    /// Rows that a row of the manifest becomes: more than one where recordings are cut into clips.
    pub rows_per_clip: f64,
    /// Processor time of a row of the manifest, in seconds, as far as one thread shows it.
    pub seconds_per_clip: f64,
    /// Processor time of all, in hours.
    pub processor_hours: f64,
    /// How long all will take with these threads, in seconds.
    pub seconds: f64,
    /// Threads.
    pub jobs: usize,
}

impl Estimate {
    /// Scores a few clips, spread over the first shard, on one thread.
    ///
    /// # Errors
    ///
    /// If the manifest cannot be read, or the work was stopped.
    pub fn of(plan: &Plan, scorer: &ShardScorer<'_>) -> Result<Self> {
        scorer.models.check(plan)?;
        let first = plan.shards()?.next().transpose()?.map_or_else(Vec::new, |shard| shard.clips);
        let step = first.len().div_ceil(TRIED).max(1);
        let tried: Vec<ClipReference> = first.into_iter().step_by(step).collect();
        let jobs = scorer.jobs.get();
        let control = scorer.control.quiet();
        let scorer = ShardScorer { jobs: NonZeroUsize::MIN, control: &control, ..*scorer };
        // Models are opened and transforms planned once, not for every clip.
        let distinct: HashSet<Option<&str>> =
            tried.iter().map(|clip| clip.machine.as_deref()).collect();
        scorer.score(&tried[..distinct.len().min(tried.len())])?;
        let began = Instant::now();
        let rows = scorer.score(&tried)?;
        let seconds_per_clip = began.elapsed().as_secs_f64() / tried.len().max(1) as f64;
        let whole = seconds_per_clip * plan.clips() as f64;
        Ok(Self {
            clips: plan.clips(),
            shards: plan.shard_count(),
            tried: tried.len(),
            errors: rows.iter().filter(|row| row.error.is_some()).count(),
            rows_per_clip: rows.len() as f64 / tried.len().max(1) as f64,
            seconds_per_clip,
            processor_hours: whole / 3_600.0,
            seconds: whole / jobs as f64,
            jobs,
        })
    }
}

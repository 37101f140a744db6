//! Archives: plans, shards, rows.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use auscult::{Control, FrontEnds, audio::ChannelRule, fetch::Encryption};
use auscult_archive::{
    ArchiveRow, ClipReference, Models, Plan, Result, ScoreArchive, Settings, Shard, ShardScorer,
    Shards, Sound, columns::Values, row::table,
};
use pyo3::prelude::*;

use crate::{
    control,
    error::{OrRaise, from_json},
    threads,
};

/// What a manifest asks for.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct ArchivePlan(Arc<Plan>);

#[pymethods]
impl ArchivePlan {
    #[staticmethod]
    fn read(py: Python<'_>, manifest: PathBuf, shard_clips: usize) -> PyResult<Self> {
        let plan = py.detach(|| Plan::read(&manifest, shard_clips)).or_raise(py)?;
        Ok(Self(Arc::new(plan)))
    }

    fn clips(&self) -> u64 {
        self.0.clips()
    }

    fn shard_count(&self) -> usize {
        self.0.shard_count()
    }

    /// The folder that paths are relative to.
    fn base(&self) -> PathBuf {
        let folder = self.0.manifest().parent().unwrap_or(std::path::Path::new(""));
        std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
    }

    fn shards(&self, py: Python<'_>) -> PyResult<ArchiveShards> {
        let shards = Shards::new(Arc::clone(&self.0)).or_raise(py)?;
        Ok(ArchiveShards(Mutex::new(shards)))
    }
}

/// The shards of a plan, one after the other.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct ArchiveShards(Mutex<Shards<Arc<Plan>>>);

#[pymethods]
impl ArchiveShards {
    /// The next one: its index, and its clips as JSON.
    fn take(&self, py: Python<'_>) -> PyResult<Option<(usize, String)>> {
        let next = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).next());
        let Some(shard) = next.transpose().or_raise(py)? else { return Ok(None) };
        Ok(Some((shard.index, serde_json::to_string(&shard.clips).or_raise(py)?)))
    }
}

/// How clips become rows.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ArchiveOptions {
    model: PathBuf,
    base: PathBuf,
    channel: Option<String>,
    hop_seconds: Option<f64>,
    insecure: bool,
    /// Threads; those of the package if not given.
    jobs: Option<usize>,
}

/// Scores clips by a model, or by those of many machines.
#[pyclass(frozen, module = "auscult._native")]
pub(crate) struct ArchiveScorer {
    models: Models,
    settings: Settings,
    sound: Sound,
    jobs: Option<NonZeroUsize>,
}

#[pymethods]
impl ArchiveScorer {
    #[staticmethod]
    fn open(py: Python<'_>, options: ArchiveOptions) -> PyResult<Self> {
        let channel: Option<ChannelRule> =
            options.channel.map(|channel| channel.parse()).transpose().or_raise(py)?;
        let models = py.detach(|| Models::open(&options.model, &FrontEnds::standard()));
        let encryption =
            if options.insecure { Encryption::NotRequired } else { Encryption::Required };
        Ok(Self {
            models: models.or_raise(py)?,
            settings: Settings { channel, hop_seconds: options.hop_seconds },
            sound: Sound::new(options.base, encryption),
            jobs: options.jobs.and_then(NonZeroUsize::new),
        })
    }

    fn settings_hash(&self) -> String {
        self.settings.hash()
    }

    /// The rows of clips that are given as JSON: a list a column.
    fn score<'py>(
        &self,
        py: Python<'py>,
        clips: &str,
        sink: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let clips: Vec<ClipReference> = from_json(clips).or_raise(py)?;
        let score = |scorer: ShardScorer<'_>| scorer.score(&clips);
        let rows: Vec<ArchiveRow> = self.watched(py, sink, score)?;
        let column = |(name, values): (String, Values)| {
            let values = match values {
                Values::Text(texts) => texts.into_pyobject(py)?,
                Values::Numbers(numbers) => numbers.into_pyobject(py)?,
            };
            Ok((name, values.into_any()))
        };
        table(&rows).columns.into_iter().map(column).collect()
    }

    /// Scores a shard into a folder, unless its results are there; what became of it, as JSON.
    fn write(
        &self,
        py: Python<'_>,
        shard: (usize, String),
        out: PathBuf,
        replace: bool,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let (index, clips) = shard;
        let shard = Shard { index, clips: from_json(&clips).or_raise(py)? };
        let write =
            |scorer: ShardScorer<'_>| ScoreArchive { scorer, out: &out, replace }.shard(&shard);
        serde_json::to_string(&self.watched(py, sink, write)?).or_raise(py)
    }

    /// Looks at the results that are there before any work begins.
    fn prepare(
        &self,
        py: Python<'_>,
        plan: &ArchivePlan,
        out: PathBuf,
        replace: bool,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.watched(py, sink, |scorer| {
            ScoreArchive { scorer, out: &out, replace }.prepare(&plan.0)
        })
    }

    /// Scores all that is not scored yet; what became of it, as JSON.
    fn run(
        &self,
        py: Python<'_>,
        plan: &ArchivePlan,
        out: PathBuf,
        replace: bool,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let run =
            |scorer: ShardScorer<'_>| ScoreArchive { scorer, out: &out, replace }.run(&plan.0);
        serde_json::to_string(&self.watched(py, sink, run)?).or_raise(py)
    }
}

impl ArchiveScorer {
    /// Does work with a scorer that reports to `sink` and can be interrupted.
    fn watched<T: Send>(
        &self,
        py: Python<'_>,
        sink: &Bound<'_, PyAny>,
        work: impl FnOnce(ShardScorer<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let usual = NonZeroUsize::new(threads::pool(py)?.current_num_threads());
        let jobs = self.jobs.or(usual).unwrap_or(NonZeroUsize::MIN);
        let Self { models, settings, sound, .. } = self;
        control::watch(py, sink, |control: &Control| {
            work(ShardScorer { models, settings, sound, jobs, control })
        })
    }
}

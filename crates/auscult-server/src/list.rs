//! Lists: parts of them, and the list of machines, which is made once for everybody who asks.

use std::{
    collections::HashMap,
    io::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use axum::body::Bytes;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{Problem, Result};

/// A part of a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The part.
    pub(crate) items: Vec<T>,
    /// What to give as `after` for the next part; `null` if this was the last one.
    pub(crate) next: Option<String>,
}

/// Which part of a list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// At most so many, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub(crate) limit: Option<u32>,
    /// The `next` of the part before.
    #[param(max_length = 400)]
    pub(crate) after: Option<String>,
}

impl Part {
    pub(crate) fn limit(&self) -> Result<usize> {
        match self.limit.unwrap_or(100) {
            limit @ 1..=1000 => Ok(limit as usize),
            other => Err(Problem::invalid("limit", format!("limit = {other}: 1 to 1000"))),
        }
    }

    /// What `after` stands for.
    pub(crate) fn after<T: serde::de::DeserializeOwned>(&self) -> Result<Option<T>> {
        let Some(text) = &self.after else { return Ok(None) };
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let found = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        found.map(Some).ok_or_else(|| {
            Problem::invalid(
                "after",
                "after is not the `next` of an earlier part; leave it out to begin",
            )
        })
    }
}

impl<T> Page<T> {
    /// Of one thing more than wanted: if it is there, there is a next part.
    pub(crate) fn of<K: Serialize>(mut items: Vec<T>, limit: usize, key: impl Fn(&T) -> K) -> Self {
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more).map(key);
        let next = last
            .and_then(|key| serde_json::to_vec(&key).ok())
            .map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        Self { items, next }
    }
}

/// A body that was made, plain and compressed.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) plain: Bytes,
    pub(crate) gzip: Bytes,
    pub(crate) etag: String,
    commits: u64,
    writes: u64,
    at: Instant,
}

impl Made {
    pub(crate) fn new(plain: Vec<u8>, commits: u64, writes: u64) -> Self {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        // Writing to memory cannot fail.
        let gzip = encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default();
        let etag = crate::layers::etag_of(&plain);
        Self { plain: plain.into(), gzip: gzip.into(), etag, commits, writes, at: Instant::now() }
    }
}

/// The list of machines as it was made last, a query each.
#[derive(Debug, Default)]
pub(crate) struct ListCache {
    made: tokio::sync::Mutex<HashMap<String, Made>>,
    writes: AtomicU64,
}

/// A list that is this old may be shown although a clip has come since.
const FRESH: Duration = Duration::from_millis(250);

/// Queries that are remembered.
const MOST: usize = 16;

impl ListCache {
    /// Somebody has changed something and wants to see it.
    pub(crate) fn forget(&self) {
        self.writes.fetch_add(1, Ordering::AcqRel);
    }

    /// The list for a query: the one that was made last if it is still true, or one that is made now, once for
    /// everybody who waits for it.
    pub(crate) async fn get(
        &self,
        query: &str,
        commits: u64,
        make: impl AsyncFnOnce() -> Result<Vec<u8>>,
    ) -> Result<Made> {
        let mut made = self.made.lock().await;
        let writes = self.writes.load(Ordering::Acquire);
        if let Some(known) = made.get(query)
            && known.writes == writes
            && (known.commits == commits || known.at.elapsed() < FRESH)
        {
            return Ok(known.clone());
        }
        let plain = make().await?;
        let new = tokio::task::spawn_blocking(move || Made::new(plain, commits, writes)).await;
        let new = new.map_err(|error| Problem::internal("the list could not be made", &error))?;
        if made.len() >= MOST {
            made.clear();
        }
        made.insert(query.to_owned(), new.clone());
        Ok(new)
    }
}

//! Vectors that were computed before, kept on the disk: one cache for learning, tuning and benchmarks.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use auscult_core::{
    BandSettings, ClipLength, ClipVectors, Extractor, FrontEnd, FrontEndIdentity, View,
    features::{Axis, NetworkSize},
    memory,
};
use serde::Serialize;
use serde_json::json;

/// A folder with the vectors of clips, by front end and by the samples of the clip.
///
/// Only front ends with a network are worth it: the others compute faster than a file is read. It never grows beyond
/// its limit; the oldest entries go first. A damaged entry is computed again, and a folder that cannot be written costs
/// time, not results.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use auscult::{ClipSettings, ClipVectors, FrontEnd, FrontEndSpec, FrontEnds, VectorCache};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Arc::new(VectorCache::new(folder.path()));
/// let length = ClipSettings { seconds: 1.0, ..ClipSettings::default() }.check()?;
/// let front_end = FrontEnds::standard().named(&FrontEndSpec::of("mfcc"), length)?;
/// let front_end = cache.around(front_end, length);
/// let mut vectors = ClipVectors::for_front_end(&*front_end);
/// front_end.extractor().extract_into(&[0.1; 16_000], &mut vectors)?;
/// assert_eq!(cache.facts()?.entries, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct VectorCache {
    folder: PathBuf,
    most_bytes: u64,
    /// Bytes in the folder as far as this process knows; `None` before it has looked.
    bytes: Mutex<Option<u64>>,
}

/// What a cache has grown to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CacheFacts {
    /// Where it is.
    pub folder: PathBuf,
    /// Vectors in it.
    pub entries: usize,
    /// Bytes they take.
    pub bytes: u64,
    /// The most bytes it may take.
    pub most_bytes: u64,
    /// The same by front end.
    pub front_ends: Vec<FrontEndFacts>,
}

/// What a cache has of one front end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FrontEndFacts {
    /// The front end, as far as the cache says; empty of entries that older programs left.
    pub name: String,
    /// Its vectors.
    pub entries: usize,
    /// Bytes they take.
    pub bytes: u64,
}

/// Changes when the form of the files or what stands in them changes.
const FORM: u32 = 6;

/// Bytes of the checksum at the end of a file.
const SUM_LEN: usize = 16;

/// The vectors of one clip are never so long.
const LARGEST_ENTRY: u64 = 1 << 30;

/// What a cache may take where nobody says otherwise: the vectors of about 140,000 clips of CED-tiny.
const MOST_BYTES: u64 = 1 << 30;

/// After making room the cache is this full, so that not every entry makes room for itself.
const FILLED: f64 = 0.8;

/// What says which front end a folder is of.
const NAME_FILE: &str = "front_end.json";

impl VectorCache {
    /// A cache in a folder, which need not exist yet, of at most 1 GiB.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::with_limit(folder, MOST_BYTES)
    }

    /// A cache of at most this many bytes.
    pub fn with_limit(folder: impl Into<PathBuf>, most_bytes: u64) -> Self {
        Self { folder: folder.into(), most_bytes, bytes: Mutex::new(None) }
    }

    /// The user's: `$AUSCULT_CACHE/features`, or in the user's cache folder. `None` without a home folder.
    pub fn of_user() -> Option<Self> {
        auscult_files::cache_folder("features").map(Self::new)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A front end that looks here before it computes clips of one length.
    pub fn around(
        self: &Arc<Self>,
        front_end: Arc<dyn FrontEnd>,
        length: ClipLength,
    ) -> Arc<dyn FrontEnd> {
        let identity = front_end.identity();
        let key = json!({
            "form": FORM,
            "front_end": identity,
            "sample_rate": length.sample_rate(),
            "samples": length.samples(),
        });
        let key = blake3::hash(key.to_string().as_bytes()).to_hex();
        let folder = self.folder.join(&key[..16]);
        Arc::new(CachedFrontEnd { cache: Arc::clone(self), front_end, folder })
    }

    /// What it has grown to; a folder that is not there has nothing.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn facts(&self) -> io::Result<CacheFacts> {
        let mut facts = CacheFacts {
            folder: self.folder.clone(),
            most_bytes: self.most_bytes,
            ..CacheFacts::default()
        };
        for folder in folders(&self.folder)? {
            let mut own = FrontEndFacts { name: name_in(&folder), ..FrontEndFacts::default() };
            for entry in entries_below(&folder)? {
                own.entries += 1;
                own.bytes += entry.bytes;
            }
            facts.entries += own.entries;
            facts.bytes += own.bytes;
            facts.front_ends.push(own);
        }
        facts.front_ends.sort_by_key(|own| std::cmp::Reverse(own.bytes));
        Ok(facts)
    }

    /// Removes every entry; says what there was. Nothing else in the folder is touched.
    ///
    /// # Errors
    ///
    /// If an entry cannot be removed.
    pub fn clear(&self) -> io::Result<CacheFacts> {
        let facts = self.facts()?;
        for folder in folders(&self.folder)? {
            for entry in entries_below(&folder)? {
                remove(&entry.path)?;
            }
            remove(&folder.join(NAME_FILE))?;
            for below in folders(&folder)? {
                // One that holds something of somebody else stays.
                let _ = fs::remove_dir(below);
            }
            let _ = fs::remove_dir(folder);
        }
        *self.known_bytes() = Some(0);
        Ok(facts)
    }

    fn known_bytes(&self) -> std::sync::MutexGuard<'_, Option<u64>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room if `more` bytes would be too many.
    fn grow(&self, more: u64) -> io::Result<()> {
        let mut bytes = self.known_bytes();
        let before = match *bytes {
            Some(bytes) => bytes,
            None => self.facts()?.bytes,
        };
        let mut after = before.saturating_add(more);
        if after > self.most_bytes {
            let mut entries = Vec::new();
            for folder in folders(&self.folder)? {
                entries.extend(entries_below(&folder)?);
            }
            entries.sort_by_key(|entry| entry.written);
            after = entries.iter().map(|entry| entry.bytes).sum::<u64>().saturating_add(more);
            let wanted = (FILLED * self.most_bytes as f64) as u64;
            for entry in entries {
                if after <= wanted {
                    break;
                }
                remove(&entry.path)?;
                after = after.saturating_sub(entry.bytes);
            }
        }
        *bytes = Some(after);
        Ok(())
    }
}

/// A file of the cache.
struct Entry {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// Folders of front ends have names of 16 digits, those of clips of two: nothing else is ours.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_named = [2, 16].contains(&name.len()) && name.bytes().all(|c| c.is_ascii_hexdigit());
        is_named && path.symlink_metadata().is_ok_and(|found| found.is_dir())
    };
    let paths: io::Result<Vec<PathBuf>> =
        found.map(|entry| entry.map(|entry| entry.path())).collect();
    Ok(paths?.into_iter().filter(is_ours).collect())
}

fn entries_below(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for below in folders(folder)? {
        for found in fs::read_dir(&below)? {
            let path = found?.path();
            if path.extension().is_some_and(|end| end == "vec") {
                // Another process may have made room meanwhile.
                let Ok(facts) = path.symlink_metadata() else { continue };
                let written = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                entries.push(Entry { path, bytes: facts.len(), written });
            }
        }
    }
    Ok(entries)
}

fn name_in(folder: &Path) -> String {
    let bytes = auscult_files::read_at_most(&folder.join(NAME_FILE), 1 << 20).unwrap_or_default();
    let identity: Option<FrontEndIdentity> = serde_json::from_slice(&bytes).ok();
    identity.map(|identity| identity.to_string()).unwrap_or_default()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A front end that looks into a cache first.
#[derive(Debug)]
struct CachedFrontEnd {
    cache: Arc<VectorCache>,
    front_end: Arc<dyn FrontEnd>,
    /// Where its vectors with these settings are.
    folder: PathBuf,
}

impl FrontEnd for CachedFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        self.front_end.identity()
    }

    fn axis(&self) -> &Axis {
        self.front_end.axis()
    }

    fn views(&self) -> &'static [View] {
        self.front_end.views()
    }

    fn default_bands(&self) -> BandSettings {
        self.front_end.default_bands()
    }

    fn network(&self) -> Option<NetworkSize> {
        self.front_end.network()
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(CachedExtractor {
            cache: Arc::clone(&self.cache),
            folder: self.folder.clone(),
            identity: self.front_end.identity(),
            extractor: self.front_end.extractor(),
        })
    }
}

struct CachedExtractor {
    cache: Arc<VectorCache>,
    folder: PathBuf,
    identity: FrontEndIdentity,
    extractor: Box<dyn Extractor>,
}

impl Extractor for CachedExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        self.extractor.for_each_frame(samples, sink)
    }

    fn extract_into(
        &mut self,
        samples: &[f32],
        vectors: &mut ClipVectors,
    ) -> auscult_core::Result<()> {
        let name = memory::digest(samples);
        let path = self.folder.join(&name[..2]).join(format!("{name}.vec"));
        if load(&path, vectors).is_some() {
            return Ok(());
        }
        self.extractor.extract_into(samples, vectors)?;
        // A cache that cannot be written costs time, not results.
        let _ = self.store(&path, vectors);
        Ok(())
    }
}

impl CachedExtractor {
    fn store(&self, path: &Path, vectors: &ClipVectors) -> io::Result<()> {
        let mut bytes: Vec<u8> = vectors
            .views()
            .flat_map(|(_, vector)| vector.iter().flat_map(|value| value.to_le_bytes()))
            .collect();
        let sum = blake3::hash(&bytes);
        bytes.extend_from_slice(&sum.as_bytes()[..SUM_LEN]);
        self.cache.grow(bytes.len() as u64)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let name = self.folder.join(NAME_FILE);
        if !name.exists() {
            let identity = serde_json::to_vec(&self.identity)?;
            auscult_files::write_atomically(&name, &identity).map_err(io::Error::other)?;
        }
        let mut file = auscult_files::AtomicFile::create(path).map_err(io::Error::other)?;
        file.write_all(&bytes)?;
        // An entry that a power cut leaves damaged is computed again: waiting for the disk would buy nothing.
        file.finish_unsynced().map_err(io::Error::other)
    }
}

/// Fills the vectors with what a file holds; `None` if it holds nothing of this form, or something damaged.
fn load(path: &Path, vectors: &mut ClipVectors) -> Option<()> {
    let bytes = auscult_files::read_at_most(path, LARGEST_ENTRY).ok()?;
    let (payload, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_LEN)?)?;
    if blake3::hash(payload).as_bytes()[..SUM_LEN] != *sum {
        return None;
    }
    let (values, rest) = payload.as_chunks::<4>();
    let values: Vec<f32> = values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    rest.is_empty().then_some(())?;
    vectors.take_values(&values).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use auscult_core::ClipSettings;

    use super::*;

    /// Counts how often it computes.
    #[derive(Debug)]
    struct Counting {
        inner: Arc<dyn FrontEnd>,
        computed: Arc<AtomicUsize>,
    }

    struct CountingExtractor(Box<dyn Extractor>, Arc<AtomicUsize>);

    impl FrontEnd for Counting {
        fn identity(&self) -> FrontEndIdentity {
            self.inner.identity()
        }
        fn axis(&self) -> &Axis {
            self.inner.axis()
        }
        fn views(&self) -> &'static [View] {
            self.inner.views()
        }
        fn default_bands(&self) -> BandSettings {
            self.inner.default_bands()
        }
        fn extractor(&self) -> Box<dyn Extractor> {
            Box::new(CountingExtractor(self.inner.extractor(), Arc::clone(&self.computed)))
        }
    }

    impl Extractor for CountingExtractor {
        fn for_each_frame(
            &mut self,
            samples: &[f32],
            sink: &mut dyn FnMut(&[f32]),
        ) -> auscult_core::Result<()> {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.0.for_each_frame(samples, sink)
        }
    }

    fn length() -> ClipLength {
        ClipSettings { seconds: 0.5, ..ClipSettings::default() }.check().unwrap()
    }

    fn counting() -> (Arc<dyn FrontEnd>, Arc<AtomicUsize>) {
        let inner = auscult_core::FrontEndSettings::default().build(length()).unwrap();
        let computed = Arc::new(AtomicUsize::new(0));
        (Arc::new(Counting { inner, computed: Arc::clone(&computed) }), computed)
    }

    fn clip(seed: usize) -> Vec<f32> {
        (0..8000).map(|at| ((at * (seed + 3)) as f32 * 0.01).sin()).collect()
    }

    fn vectors_of(front_end: &dyn FrontEnd, samples: &[f32]) -> Vec<Vec<f32>> {
        let mut vectors = ClipVectors::for_front_end(front_end);
        front_end.extractor().extract_into(samples, &mut vectors).unwrap();
        vectors.views().map(|(_, vector)| vector.to_vec()).collect()
    }

    #[test]
    fn a_clip_is_computed_once_and_comes_back_with_its_bits() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(VectorCache::new(folder.path()));
        let (plain, computed) = counting();
        let front_end = cache.around(Arc::clone(&plain), length());
        let first = vectors_of(&*front_end, &clip(1));
        assert_eq!(first, vectors_of(&*front_end, &clip(1)));
        assert_eq!(computed.load(Ordering::SeqCst), 1);
        assert_ne!(first, vectors_of(&*front_end, &clip(2)));
        // Another process finds it, too; clips of another length are others.
        let other = Arc::new(VectorCache::new(folder.path()));
        assert_eq!(first, vectors_of(&*other.around(Arc::clone(&plain), length()), &clip(1)));
        assert_eq!(computed.load(Ordering::SeqCst), 2);
        let facts = other.facts().unwrap();
        assert_eq!((facts.entries, facts.front_ends.len()), (2, 1));
        assert!(facts.front_ends[0].name.starts_with("log-mel"), "{facts:?}");
    }

    #[test]
    fn damaged_entries_are_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Arc::new(VectorCache::new(folder.path()));
        let (plain, computed) = counting();
        let front_end = cache.around(plain, length());
        let first = vectors_of(&*front_end, &clip(1));
        let entry = entries_below(&folders(folder.path()).unwrap()[0]).unwrap().remove(0);
        let mut bytes = fs::read(&entry.path).unwrap();
        bytes[7] ^= 1;
        for damaged in [bytes, b"short".to_vec(), Vec::new()] {
            fs::write(&entry.path, damaged).unwrap();
            assert_eq!(first, vectors_of(&*front_end, &clip(1)));
        }
        assert_eq!(computed.load(Ordering::SeqCst), 4);
    }

    #[test]
    fn it_stays_below_its_limit_and_clearing_takes_only_what_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let entry = 2 * 128 * 4 + SUM_LEN as u64;
        let cache = Arc::new(VectorCache::with_limit(folder.path(), 10 * entry));
        let (plain, _) = counting();
        let front_end = cache.around(plain, length());
        for seed in 0..30 {
            vectors_of(&*front_end, &clip(seed));
            assert!(cache.facts().unwrap().bytes <= 10 * entry);
        }
        assert!(cache.facts().unwrap().entries >= 7);
        fs::write(folder.path().join("mine.txt"), "mine").unwrap();
        let cleared = cache.clear().unwrap();
        assert!(cleared.entries >= 7);
        assert_eq!(cache.facts().unwrap().entries, 0);
        assert!(folder.path().join("mine.txt").exists());
        assert_eq!(VectorCache::new("/nowhere/at/all").facts().unwrap().entries, 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_nothing_but_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Arc::new(VectorCache::new(file));
        let (plain, computed) = counting();
        let front_end = cache.around(plain, length());
        assert_eq!(vectors_of(&*front_end, &clip(1)), vectors_of(&*front_end, &clip(1)));
        assert_eq!(computed.load(Ordering::SeqCst), 2);
    }
}

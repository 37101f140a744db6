//! 3. Features: each clip's vectors, computed once and kept by the content of its file.

use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{ClipRules, Reading};
use auscult_audio::{ChannelRule, Extent};
use auscult_core::{ClipSettings, ClipVectors, Extractor, FrontEnd, View};
use rayon::prelude::*;
use serde_json::json;

use crate::{
    Error, Result,
    datasets::{Archives, ClipFile},
};

/// The vectors of one clip are never so long.
const LARGEST_CACHED: u64 = 1 << 30;

/// Turns files into vectors, with a cache on the disk.
///
/// Each front end of an ensemble has a cache of its own, whatever ensemble it is in.
#[derive(Debug)]
pub struct Features {
    front_end: Arc<dyn FrontEnd>,
    reading: Reading,
    /// The front ends of an ensemble, or the front end itself.
    parts: Vec<Part>,
}

/// A front end whose vectors are kept.
#[derive(Debug)]
struct Part {
    front_end: Arc<dyn FrontEnd>,
    /// Where its vectors with these settings are kept.
    folder: Option<PathBuf>,
}

impl Features {
    /// Reads the first clip of each file, on one channel; `cache` is the folder shared by all
    /// front ends, `None` computes everything anew.
    ///
    /// # Errors
    ///
    /// If a setting is out of range.
    pub fn new(
        front_end: Arc<dyn FrontEnd>,
        clip: ClipSettings,
        channel: ChannelRule,
        cache: Option<&Path>,
    ) -> Result<Self> {
        let reading =
            Reading::new(clip, channel, None, ClipRules::protocol()).map_err(|error| {
                Error::Dataset { kind: "reading".to_owned(), reason: error.to_string() }
            })?;
        let folder = |front_end: &Arc<dyn FrontEnd>| {
            let identity = json!({
                "form": FORM,
                "front_end": front_end.identity(),
                "sample_rate": clip.sample_rate,
                "seconds": clip.seconds,
                "channel": format!("{channel:?}"),
            });
            cache.map(|cache| cache.join(&hash(identity.to_string().as_bytes())[..16]))
        };
        let front_ends: Vec<Arc<dyn FrontEnd>> = match front_end.ensemble() {
            Some(ensemble) => ensemble.front_ends().map(Arc::clone).collect(),
            None => vec![Arc::clone(&front_end)],
        };
        let part = |front_end| Part { folder: folder(&front_end), front_end };
        let parts = front_ends.into_iter().map(part).collect();
        Ok(Self { front_end, reading, parts })
    }

    /// The front end.
    pub fn front_end(&self) -> &Arc<dyn FrontEnd> {
        &self.front_end
    }

    /// The vectors of every file, in order and on all cores; the reason in words where a file could
    /// not be used. `done` hears of each file, and stops the work by returning `false`: `None` then.
    pub fn of(
        &self,
        files: &[&ClipFile],
        archives: &Archives,
        done: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<std::result::Result<ClipVectors, String>>> {
        let worker = || self.parts.iter().map(|part| part.front_end.extractor()).collect();
        files
            .par_iter()
            .map_init(worker, |extractors: &mut Vec<_>, file| {
                let found = self.of_file(file, archives, extractors);
                done().then_some(found)
            })
            .collect()
    }

    fn of_file(
        &self,
        file: &ClipFile,
        archives: &Archives,
        extractors: &mut [Box<dyn Extractor>],
    ) -> std::result::Result<ClipVectors, String> {
        let mut bytes = file.bytes(archives).map_err(|error| error.to_string())?;
        let name = hash(&bytes);
        let mut samples: Option<Vec<f32>> = None;
        let mut vectors = Vec::with_capacity(self.parts.len());
        for (part, extractor) in self.parts.iter().zip(extractors) {
            if let Some(kept) = part.load(&name) {
                vectors.push(kept);
                continue;
            }
            // Read once, and only if something is missing.
            let clip = match samples.take() {
                Some(clip) => clip,
                None => self.clip(file, std::mem::take(&mut bytes))?,
            };
            vectors.push(part.compute(&clip, &name, &mut **extractor)?);
            samples = Some(clip);
        }
        match self.front_end.ensemble() {
            Some(ensemble) => ensemble.join(&vectors).map_err(|error| error.to_string()),
            None => vectors.pop().ok_or_else(|| "the front end gave no vectors".to_owned()),
        }
    }

    /// The samples of a file's first clip.
    fn clip(&self, file: &ClipFile, bytes: Vec<u8>) -> std::result::Result<Vec<f32>, String> {
        let mut clips = self
            .reading
            .clips_of_stream(&file.label(), Cursor::new(bytes))
            .map_err(|error| error.to_string())?;
        let clip = clips
            .next()
            .ok_or_else(|| "it holds no sound".to_owned())?
            .map_err(|error| error.to_string())?;
        // What is left of a file that was cut off is not the clip others have judged.
        if clip.extent == Extent::CutByDamage {
            let reason = clips.next().and_then(std::result::Result::err);
            return Err(
                reason.map_or_else(|| "it is damaged".to_owned(), |error| error.to_string())
            );
        }
        // Some front ends would make numbers of it; every one is asked the same.
        if !self.reading.rules().takes(clip.condition) {
            return Err(clip.condition.to_string());
        }
        Ok(clip.samples)
    }
}

impl Part {
    /// Where the vectors of a file are kept, by the hash of its content.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(&name[..2]).join(format!("{name}.vec")))
    }

    fn compute(
        &self,
        samples: &[f32],
        name: &str,
        extractor: &mut dyn Extractor,
    ) -> std::result::Result<ClipVectors, String> {
        let mut vectors = ClipVectors::for_front_end(&*self.front_end);
        extractor.extract_into(samples, &mut vectors).map_err(|error| error.to_string())?;
        if let Some(path) = self.path(name) {
            // A cache that cannot be written costs time, not results.
            let _ = store(&path, &vectors);
        }
        Ok(vectors)
    }

    /// What the cache holds; `None` if it holds nothing of this form, or something damaged.
    fn load(&self, name: &str) -> Option<ClipVectors> {
        let bytes = auscult_files::read_at_most(&self.path(name)?, LARGEST_CACHED).ok()?;
        let (payload, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_LEN)?)?;
        if blake3::hash(payload).as_bytes()[..SUM_LEN] != *sum {
            return None;
        }
        let axis_len = self.front_end.axis().len();
        let views = self.front_end.views();
        if payload.len() != 4 * axis_len * views.len() || axis_len == 0 {
            return None;
        }
        let (values, _) = payload.as_chunks::<4>();
        let values: Vec<f32> = values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        let of_view = |(&view, values): (&View, &[f32])| (view, values.to_vec());
        let views = views.iter().zip(values.chunks_exact(axis_len)).map(of_view).collect();
        ClipVectors::from_views(views).ok()
    }
}

/// Changes when the form of the files or what stands in them changes.
const FORM: u32 = 5;

/// Bytes of the checksum at the end of a file.
const SUM_LEN: usize = 16;

fn store(path: &Path, vectors: &ClipVectors) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut bytes: Vec<u8> = vectors
        .views()
        .flat_map(|(_, vector)| vector.iter().flat_map(|value| value.to_le_bytes()))
        .collect();
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(&sum.as_bytes()[..SUM_LEN]);
    auscult_files::write_atomically(path, &bytes).map_err(std::io::Error::other)
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

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

/// Turns files into vectors, with a cache on the disk.
#[derive(Debug)]
pub struct Features {
    front_end: Arc<dyn FrontEnd>,
    reading: Reading,
    /// Where vectors of this front end with these settings are kept.
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
        let identity = json!({
            "form": FORM,
            "front_end": front_end.identity(),
            "sample_rate": clip.sample_rate,
            "seconds": clip.seconds,
            "channel": format!("{channel:?}"),
        });
        let folder = cache.map(|cache| cache.join(&hash(identity.to_string().as_bytes())[..16]));
        Ok(Self { front_end, reading, folder })
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
        let worker = || (self.front_end.extractor(), ClipVectors::for_front_end(&*self.front_end));
        files
            .par_iter()
            .map_init(worker, |(extractor, vectors), file| {
                let found = self.of_file(file, archives, &mut **extractor, vectors);
                done().then_some(found)
            })
            .collect()
    }

    fn of_file(
        &self,
        file: &ClipFile,
        archives: &Archives,
        extractor: &mut dyn Extractor,
        vectors: &mut ClipVectors,
    ) -> std::result::Result<ClipVectors, String> {
        let bytes = file.bytes(archives).map_err(|error| error.to_string())?;
        let kept = self.folder.as_ref().map(|folder| {
            let name = hash(&bytes);
            folder.join(&name[..2]).join(format!("{name}.vec"))
        });
        if let Some(found) = kept.as_deref().and_then(|path| self.load(path)) {
            return Ok(found);
        }
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
        extractor.extract_into(&clip.samples, vectors).map_err(|error| error.to_string())?;
        if let Some(path) = kept {
            // A cache that cannot be written costs time, not results.
            let _ = store(&path, vectors);
        }
        Ok(vectors.clone())
    }

    /// What the cache holds; `None` if it holds nothing of this form, or something damaged.
    fn load(&self, path: &Path) -> Option<ClipVectors> {
        let bytes = fs::read(path).ok()?;
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
const FORM: u32 = 4;

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

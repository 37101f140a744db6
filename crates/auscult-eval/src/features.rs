//! 3. Features: the vectors of each file's first clip.

use std::{io::Cursor, sync::Arc};

use auscult::{ClipRules, Reading};
use auscult_audio::{ChannelRule, Extent};
use auscult_core::{ClipSettings, ClipVectors, Extractor, FrontEnd};
use rayon::prelude::*;

use crate::{
    Error, Result,
    datasets::{Archives, ClipFile},
};

/// Turns files into vectors. What is kept from run to run is kept by the front end: see [`auscult::VectorCache`].
#[derive(Debug)]
pub struct Features {
    front_end: Arc<dyn FrontEnd>,
    reading: Reading,
}

impl Features {
    /// Reads the first clip of each file, on one channel.
    ///
    /// # Errors
    ///
    /// If a setting is out of range.
    pub fn new(
        front_end: Arc<dyn FrontEnd>,
        clip: ClipSettings,
        channel: ChannelRule,
    ) -> Result<Self> {
        let reading =
            Reading::new(clip, channel, None, ClipRules::protocol()).map_err(|error| {
                Error::Dataset { kind: "reading".to_owned(), reason: error.to_string() }
            })?;
        Ok(Self { front_end, reading })
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
        files
            .par_iter()
            .map_init(
                || self.front_end.extractor(),
                |extractor, file| {
                    let found = self.of_file(file, archives, &mut **extractor);
                    done().then_some(found)
                },
            )
            .collect()
    }

    fn of_file(
        &self,
        file: &ClipFile,
        archives: &Archives,
        extractor: &mut dyn Extractor,
    ) -> std::result::Result<ClipVectors, String> {
        let bytes = file.bytes(archives).map_err(|error| error.to_string())?;
        let samples = self.clip(file, bytes)?;
        let mut vectors = ClipVectors::for_front_end(&*self.front_end);
        extractor.extract_into(&samples, &mut vectors).map_err(|error| error.to_string())?;
        Ok(vectors)
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

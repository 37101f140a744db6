//! Embeddings that somebody else computed, as a front end of every protocol.

mod npy;

use std::{
    collections::BTreeMap,
    io::Cursor,
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::Reading;
use auscult_core::{
    BandSettings, Extractor, FrontEnd, FrontEndIdentity, Method, View, features::Axis, memory,
};
use rayon::prelude::*;
use serde_json::json;

use crate::{
    Error, Result,
    datasets::{Archives, ClipFile, Dataset},
    systems::SystemSettings,
};

/// What a clip's own embedding is.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenFrames {
    /// Frame after frame.
    pub values: Vec<f32>,
    /// Numbers in a frame.
    pub features: usize,
    /// Whether it is one vector, which is all views there are.
    pub is_vector: bool,
}

/// A front end whose frames were computed by somebody else.
///
/// A front end is handed sound, not names: frames are found by the samples of their clip, so the clips of a data set are
/// read once to learn which is which.
#[derive(Debug, Clone)]
pub struct GivenFrontEnd {
    identity: FrontEndIdentity,
    axis: Axis,
    views: &'static [View],
    bands: BandSettings,
    frames: Arc<BTreeMap<String, Vec<f32>>>,
}

impl GivenFrontEnd {
    /// What it is called where nobody gives it a name.
    pub const NAME: &str = "own";

    /// The largest file of an embedding.
    const LARGEST_FILE: u64 = 1 << 30;

    /// The embeddings that a table names: a CSV file with the columns `path` (a clip of the data sets) and `features` (an
    /// npy file with a vector, or frames x features), both beside the table unless they begin with `/`.
    ///
    /// # Errors
    ///
    /// If the table or an npy file cannot be read, embeddings differ in their number of features, or none is of a clip
    /// of the data sets.
    pub fn from_table(
        table: &Path,
        band_width: Option<usize>,
        datasets: &[Dataset],
        reading: &Reading,
    ) -> Result<Self> {
        let rows = rows_of(table)?;
        let found: Vec<Option<(&ClipFile, GivenFrames)>> = clips_of(datasets)
            .par_iter()
            .map(|clip| {
                let Some(row) = rows.get(&name_of(clip)) else { return Ok(None) };
                let read = auscult_files::read_at_most(&row.features, Self::LARGEST_FILE);
                let bytes = read.map_err(Error::read(&row.features))?;
                let frames = npy::read(&bytes).map_err(|reason| Error::Table {
                    path: table.to_owned(),
                    line: row.line,
                    reason: format!("{}: {reason}", row.features.display()),
                })?;
                Ok(Some((*clip, frames)))
            })
            .collect::<Result<_>>()?;
        let found: Vec<(&ClipFile, GivenFrames)> = found.into_iter().flatten().collect();
        let whose = table.display().to_string();
        if found.is_empty() {
            let reason = format!(
                "none of its {} paths is a clip of the data; a path is from the folder of the table, or whole",
                rows.len()
            );
            return Err(Error::Dataset { kind: whose, reason });
        }
        Self::new(Self::NAME, &whose, band_width, found, reading)
    }

    /// A front end called `name` of the embeddings of clips; `whose` names them in errors.
    ///
    /// # Errors
    ///
    /// If embeddings differ in their number of features.
    pub fn new(
        name: &str,
        whose: &str,
        band_width: Option<usize>,
        clips: Vec<(&ClipFile, GivenFrames)>,
        reading: &Reading,
    ) -> Result<Self> {
        let features = clips.first().map_or(0, |(_, frames)| frames.features);
        if let Some((clip, other)) = clips.iter().find(|(_, frames)| frames.features != features) {
            let reason = format!(
                "{} has {} features and others have {features}; all must have as many",
                clip.label(),
                other.features
            );
            return Err(Error::Dataset { kind: whose.to_owned(), reason });
        }
        let are_vectors = clips.iter().all(|(_, frames)| frames.is_vector);
        let views: &'static [View] =
            if are_vectors { &[View::Mean] } else { &[View::Mean, View::Max] };
        let archives = Archives::default();
        let by_sound = |(clip, frames): (&ClipFile, GivenFrames)| {
            // What cannot be read has no clip to be found by; the run names it.
            let bytes = clip.bytes(&archives).ok()?;
            let mut read = reading.clips_of_stream(&clip.label(), Cursor::new(bytes)).ok()?;
            let samples = read.next()?.ok()?.samples;
            Some((memory::digest(&samples), frames.values))
        };
        let frames: BTreeMap<String, Vec<f32>> =
            clips.into_par_iter().filter_map(by_sound).collect();
        let settings = json!({ "own": digest(&frames) });
        Ok(Self {
            identity: FrontEndIdentity { name: name.to_owned(), settings },
            axis: Axis::other(features),
            views,
            bands: band_width.map_or(BandSettings::Whole, BandSettings::touching),
            frames: Arc::new(frames),
        })
    }

    /// What is run with it beside a protocol's systems: global matching, and with bands BEAM and, where there are frames,
    /// AdaBEAM.
    pub fn systems(&self) -> Vec<SystemSettings> {
        systems_of(&self.identity.name, self.bands != BandSettings::Whole, self.views.len() > 1)
    }
}

/// What is run with an own front end.
pub fn systems_of(name: &str, has_bands: bool, has_frames: bool) -> Vec<SystemSettings> {
    let mut methods = vec![("global", Method::Global)];
    if has_bands {
        methods.push(("BEAM", Method::Beam));
        if has_frames {
            methods.push(("AdaBEAM", Method::AdaBeam));
        }
    }
    let system = |(called, method): (&str, Method)| {
        let mut system = SystemSettings {
            name: format!("{name} {called}"),
            group: "Own front ends".to_owned(),
            front_end: name.to_owned(),
            ..SystemSettings::default()
        };
        system.compare.method = Some(method);
        system
    };
    methods.into_iter().map(system).collect()
}

/// Every clip of the data sets, in order.
pub fn clips_of(datasets: &[Dataset]) -> Vec<&ClipFile> {
    datasets.iter().flat_map(|dataset| &dataset.clips).map(|clip| &clip.file).collect()
}

fn digest(frames: &BTreeMap<String, Vec<f32>>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (clip, values) in frames {
        hasher.update(clip.as_bytes());
        hasher.update(memory::digest(values).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Where the embedding of a clip is.
struct Row {
    line: u64,
    features: PathBuf,
}

/// Rows by the clip they are of.
fn rows_of(table: &Path) -> Result<BTreeMap<String, Row>> {
    let wrong = |line: u64, reason: String| Error::Table { path: table.to_owned(), line, reason };
    let mut reader = csv::Reader::from_path(table).map_err(|error| wrong(1, error.to_string()))?;
    let headers = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    let column = |name: &str| {
        let found = headers.iter().position(|header| header.trim().eq_ignore_ascii_case(name));
        let names: Vec<&str> = headers.iter().collect();
        found.ok_or_else(|| {
            wrong(
                1,
                format!(
                    "no column {name}; needed are path and features, and there are {}",
                    names.join(", ")
                ),
            )
        })
    };
    let (path, features) = (column("path")?, column("features")?);
    let folder = table.parent().unwrap_or(Path::new(""));
    let mut rows = BTreeMap::new();
    for (record, line) in reader.records().zip(2_u64..) {
        let record = record.map_err(|error| wrong(line, error.to_string()))?;
        let line = record.position().map_or(line, csv::Position::line);
        let value = |column: usize, name: &str| match record.get(column).map(str::trim) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(wrong(line, format!("{name} is empty"))),
        };
        let clip = clip_at(folder, value(path, "path")?);
        let row = Row { line, features: folder.join(value(features, "features")?) };
        let name = name_of(&clip);
        if let Some(first) = rows.insert(name.clone(), row) {
            return Err(wrong(line, format!("{name} stands in line {} already", first.line)));
        }
    }
    Ok(rows)
}

/// A file, or an entry of an archive: `dev_fan.zip:fan/train/one.wav`.
fn clip_at(folder: &Path, path: &str) -> ClipFile {
    match path.split_once(".zip:") {
        Some((archive, entry)) => ClipFile::Archived {
            archive: folder.join(format!("{archive}.zip")),
            entry: entry.to_owned(),
        },
        None => ClipFile::Plain(folder.join(path)),
    }
}

/// One name for a file, however it is written.
fn name_of(clip: &ClipFile) -> String {
    match clip {
        ClipFile::Plain(path) => {
            path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string()
        }
        ClipFile::Archived { archive, entry } => {
            let archive = archive.canonicalize().unwrap_or_else(|_| archive.clone());
            ClipFile::Archived { archive, entry: entry.clone() }.label()
        }
    }
}

impl FrontEnd for GivenFrontEnd {
    fn identity(&self) -> FrontEndIdentity {
        self.identity.clone()
    }

    fn axis(&self) -> &Axis {
        &self.axis
    }

    fn views(&self) -> &'static [View] {
        self.views
    }

    fn default_bands(&self) -> BandSettings {
        self.bands
    }

    fn extractor(&self) -> Box<dyn Extractor> {
        Box::new(GivenExtractor(self.clone()))
    }
}

struct GivenExtractor(GivenFrontEnd);

impl Extractor for GivenExtractor {
    fn for_each_frame(
        &mut self,
        samples: &[f32],
        sink: &mut dyn FnMut(&[f32]),
    ) -> auscult_core::Result<()> {
        let GivenFrontEnd { identity, axis, frames, .. } = &self.0;
        let found = frames.get(&memory::digest(samples)).ok_or_else(|| {
            let reason = format!("{} has no embedding of this clip", identity.name);
            auscult_core::Error::FrontEnd { reason }
        })?;
        found.chunks_exact(axis.len()).for_each(sink);
        Ok(())
    }
}

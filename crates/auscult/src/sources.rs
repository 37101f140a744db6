//! 1. Sources: what the caller names becomes a list of recordings.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use auscult_audio::{
    Expanded, Label, LabelFolder, Location, MemorySound, Note, SampleColumn, Source, UnknownLabel,
};

use auscult_core::{Control, Event, plural};

use crate::{Error, LabelFolders, RateCount, Result};

/// Recordings to read, in an order that never changes.
///
/// # Examples
///
/// ```no_run
/// use auscult::Sources;
///
/// let monday = Sources::of(["monday/", "extra.wav"])?.of_visit("monday");
/// println!("{} recordings", monday.len());
/// # Ok::<(), auscult::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Sources {
    list: Vec<Source>,
    problems: Vec<auscult_audio::Error>,
    notes: Vec<Note>,
    label_folders: Vec<LabelFolder>,
    /// Whether recordings have been labelled by them.
    label_folders_used: bool,
}

impl Sources {
    /// The recordings that paths stand for: files, folders with all their sub-folders, manifests (CSV, JSON lines), glob
    /// patterns, or `-` for standard input.
    ///
    /// An input that cannot be used is a problem of this list, not an error, as long as another one can be.
    ///
    /// # Errors
    ///
    /// [`Error::NoSources`] if there is no recording at all.
    pub fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        Self::expand(paths, None)
    }

    /// As [`Sources::of`], but every `.csv` file is a recording and not a manifest: `samples` says which column
    /// holds its samples, and their rate.
    ///
    /// # Errors
    ///
    /// As [`Sources::of`].
    pub fn of_tables<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        samples: &SampleColumn,
    ) -> Result<Self> {
        Self::expand(paths, Some(samples))
    }

    fn expand<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        samples: Option<&SampleColumn>,
    ) -> Result<Self> {
        let inputs: Vec<OsString> =
            paths.into_iter().map(|path| path.as_ref().as_os_str().to_owned()).collect();
        let Expanded { sources, problems, notes, label_folders, .. } =
            auscult_audio::expand_with(&inputs, samples);
        if sources.is_empty() {
            return Err(Error::NoSources { problems });
        }
        Ok(Self { list: sources, problems, notes, label_folders, label_folders_used: false })
    }

    /// Sound that is in memory already; it is read as the same samples in files are.
    ///
    /// # Errors
    ///
    /// [`Error::NoSources`] if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use auscult::{Sources, audio::MemorySound};
    ///
    /// let hum = MemorySound::new("hum", 16_000, vec![0.1; 160_000])?;
    /// assert_eq!(Sources::of_sounds([hum])?.of_visit("monday").len(), 1);
    /// # Ok::<(), auscult::Error>(())
    /// ```
    pub fn of_sounds(sounds: impl IntoIterator<Item = MemorySound>) -> Result<Self> {
        let source = |sound| Source::new(Location::Memory(sound));
        let list: Vec<Source> = sounds.into_iter().map(source).collect();
        if list.is_empty() {
            return Err(Error::NoSources { problems: Vec::new() });
        }
        Ok(Self { list, ..Self::default() })
    }

    /// These recordings and then those of another list.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.list.extend(other.list);
        self.problems.extend(other.problems);
        self.notes.extend(other.notes);
        self.label_folders.extend(other.label_folders);
        self
    }

    /// These recordings, all of one visit.
    #[must_use]
    pub fn of_visit(mut self, visit: impl Into<String>) -> Self {
        let visit = visit.into();
        for source in &mut self.list {
            source.visit = Some(visit.clone());
        }
        self
    }

    /// These recordings, all of one domain.
    #[must_use]
    pub fn of_domain(mut self, domain: impl Into<String>) -> Self {
        let domain = domain.into();
        for source in &mut self.list {
            source.domain = Some(domain.clone());
        }
        self
    }

    /// The recordings of each machine that manifests name, and those of none.
    pub fn by_machine(self) -> BTreeMap<Option<String>, Self> {
        let mut machines: BTreeMap<Option<String>, Self> = BTreeMap::new();
        for source in self.list {
            machines.entry(source.machine.clone()).or_default().list.push(source);
        }
        machines
    }

    /// How many recordings there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The recordings.
    pub fn list(&self) -> &[Source] {
        &self.list
    }

    /// The sample rate that all recordings have, in Hz, from their headers: with it nothing is resampled.
    ///
    /// Recordings that cannot be read do not count, as long as another one can be.
    ///
    /// # Errors
    ///
    /// [`Error::SeveralRates`] if they have different ones, [`Error::RateOfLiveSound`] if one of them is live, and
    /// [`Error::Audio`] if none can be read.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use auscult::{ClipSettings, Learn, Machine, Preset, Sources};
    ///
    /// let recordings = Sources::of(["bearing/"])?;
    /// let clip = ClipSettings { sample_rate: recordings.native_rate()?, ..ClipSettings::default() };
    /// let bearing =
    ///     Machine::learn(recordings, &Learn { clip, preset: Preset::Fast, ..Learn::default() })?;
    /// # Ok::<(), auscult::Error>(())
    /// ```
    pub fn native_rate(&self) -> Result<u32> {
        if self.list.iter().any(Source::is_live) {
            return Err(Error::RateOfLiveSound);
        }
        let mut rates: BTreeMap<u32, RateCount> = BTreeMap::new();
        let mut unread = None;
        for source in &self.list {
            match auscult_audio::native_rate(&source.location) {
                Ok(rate) => {
                    let first = || RateCount { rate, files: 0, example: source.label.clone() };
                    rates.entry(rate).or_insert_with(first).files += 1;
                }
                Err(error) => unread = unread.or(Some(error)),
            }
        }
        let mut rates: Vec<RateCount> = rates.into_values().collect();
        match (rates.pop(), unread) {
            (Some(only), _) if rates.is_empty() => Ok(only.rate),
            (Some(last), _) => {
                rates.push(last);
                Err(Error::SeveralRates { rates })
            }
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(Error::NoSources { problems: Vec::new() }),
        }
    }

    /// The length that all recordings have, in seconds, if they agree and are 1 to 10 s long: the natural length of a
    /// clip. Recordings that cannot be read do not count, and nobody knows the length of a live one.
    pub fn common_seconds(&self) -> Option<f64> {
        // Looking into a pipe would take its sound away.
        if self.list.iter().any(Source::is_live) {
            return None;
        }
        let mut range: Option<(f64, f64)> = None;
        for source in &self.list {
            let Ok(seconds) = auscult_audio::header_seconds(&source.location) else { continue };
            // The first long one ends it: long recordings are cut.
            let seconds = seconds.filter(|seconds| (1.0..LONGEST_CLIP).contains(seconds))?;
            let (shortest, longest) = range.unwrap_or((seconds, seconds));
            let (shortest, longest) = (shortest.min(seconds), longest.max(seconds));
            if shortest < SAME_LENGTH * longest {
                return None;
            }
            range = Some((shortest, longest));
        }
        range.map(|(shortest, _)| ((shortest * 100.0).floor() / 100.0).max(1.0))
    }

    /// Inputs and rows of manifests that gave no recording.
    pub fn problems(&self) -> &[auscult_audio::Error] {
        &self.problems
    }

    /// What else is worth knowing, such as sound in formats that are not read.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Folders whose names are labels.
    pub fn label_folders(&self) -> &[LabelFolder] {
        &self.label_folders
    }

    /// Whether folder names can only be labels: there are normal and anomalous ones that say nothing else, and every
    /// recording lies in one of them.
    pub fn has_clear_labels(&self) -> bool {
        let are_clear = self.label_folders.iter().all(|folder| folder.is_clear);
        let has_both = self.has_label(Label::Normal) && self.has_label(Label::Anomaly);
        are_clear && has_both && self.are_all_labelled()
    }

    fn has_label(&self, label: Label) -> bool {
        self.label_folders.iter().any(|folder| folder.label == label)
    }

    fn are_all_labelled(&self) -> bool {
        let lies_in_one = |source: &Source| {
            let path = source.location.path();
            path.is_some_and(|path| self.label_folders.iter().any(|it| path.starts_with(&it.path)))
        };
        self.list.iter().all(lies_in_one)
    }

    /// Takes out what nothing may be learnt from: recordings kept for testing, labelled as anomalous,
    /// labelled with a word that nobody knows, or without a label where folders are labels and one says normal.
    ///
    /// # Errors
    ///
    /// [`Error::AllForTesting`], [`Error::NoneNormal`] if nothing is left.
    pub(crate) fn keep_normal(&mut self) -> Result<Vec<(Source, NotNormal)>> {
        let list = std::mem::take(&mut self.list);
        let reason = |source: &Source| match &source.truth {
            _ if source.is_for_test => Some(NotNormal::ForTesting),
            Some(Ok(Label::Anomaly)) => Some(NotNormal::Anomalous),
            Some(Err(UnknownLabel(label))) => Some(NotNormal::UnknownLabel(label.clone())),
            None if self.label_folders_used && self.has_label(Label::Normal) => {
                Some(NotNormal::Unlabelled)
            }
            Some(Ok(Label::Normal)) | None => None,
        };
        let mut left_out = Vec::new();
        let mut normal = Vec::new();
        for source in list {
            match reason(&source) {
                Some(reason) => left_out.push((source, reason)),
                None => normal.push(source),
            }
        }
        self.list = normal;
        let is_test = |(_, reason): &(Source, NotNormal)| *reason == NotNormal::ForTesting;
        match self.list.is_empty() {
            true if left_out.iter().all(is_test) => Err(Error::AllForTesting),
            true => Err(Error::NoneNormal),
            false => Ok(left_out),
        }
    }

    /// Gives recordings in folders whose names are labels those labels, if they are to be used.
    ///
    /// # Errors
    ///
    /// [`Error::LabelFolders`] if there are such folders, not all recordings lie in normal ones, and nobody said what
    /// they are.
    pub(crate) fn apply_label_folders(&mut self, label_folders: LabelFolders) -> Result<()> {
        let is_all_normal = !self.has_label(Label::Anomaly) && self.are_all_labelled();
        match label_folders {
            _ if self.label_folders.is_empty() => Ok(()),
            LabelFolders::Ignore => Ok(()),
            LabelFolders::Unknown if !is_all_normal => {
                let name = |folder: &LabelFolder| folder.path.display().to_string();
                Err(Error::LabelFolders { folders: self.label_folders.iter().map(name).collect() })
            }
            LabelFolders::Use | LabelFolders::Unknown => {
                self.label_folders_used = true;
                for source in &mut self.list {
                    let folders = self.label_folders.iter();
                    folders.for_each(|folder| label_by_folder(source, folder));
                }
                Ok(())
            }
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Source>, Vec<auscult_audio::Error>) {
        (self.list, self.problems)
    }
}

/// Longer recordings are cut into clips of this length, in seconds.
const LONGEST_CLIP: f64 = 10.0;

/// Recorders cut a little early or late: lengths that differ by less are the same.
const SAME_LENGTH: f64 = 0.98;

/// Labels a recording below the folder; the visit is then the folder below that, if there is one, or above it.
fn label_by_folder(source: &mut Source, folder: &LabelFolder) {
    let Some(path) = source.location.path() else { return };
    let Ok(below) = path.strip_prefix(&folder.path) else { return };
    source.truth.get_or_insert(Ok(folder.label));
    let name = folder.path.file_name().map(|name| name.to_string_lossy());
    let is_this = |visit: &String| {
        Some(visit.as_str()) == name.as_deref() || Path::new(visit) == folder.path.as_path()
    };
    if source.visit.as_ref().is_some_and(is_this) {
        let mut parts = below.components();
        let first = parts.next().filter(|_| parts.next().is_some());
        let first = first.map(|part| part.as_os_str().to_string_lossy().into_owned());
        source.visit = first.or_else(|| folder.visit.clone());
    }
}

/// Why a recording is not one to learn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotNormal {
    ForTesting,
    Anomalous,
    UnknownLabel(String),
    Unlabelled,
}

/// Reports recordings that are not learnt from; returns how many of them have a label that is not known, which is a
/// failure and not a choice.
pub(crate) fn report_not_normal(sources: &[(Source, NotNormal)], control: &Control) -> usize {
    let count = |wanted: &NotNormal| sources.iter().filter(|(_, reason)| reason == wanted).count();
    let mut unknown = 0;
    for (source, reason) in sources {
        if let NotNormal::UnknownLabel(label) = reason {
            unknown += 1;
            let (name, label) = (&source.label, UnknownLabel(label.clone()));
            control.report(Event::Problem(&format!("skipped {name}: {label}")));
        }
    }
    let for_testing = count(&NotNormal::ForTesting);
    if for_testing > 0 {
        let recordings = plural(for_testing, "recording");
        let why = "that the manifest keeps for testing (split: test)";
        control.report(Event::Note(&format!("left out {recordings} {why}")));
    }
    let anomalous = count(&NotNormal::Anomalous);
    if anomalous > 0 {
        let recordings = plural(anomalous, "recording");
        let why = "labelled as anomalous: a model learns from normal sound";
        control.report(Event::Note(&format!("left out {recordings} {why}")));
    }
    let unlabelled = count(&NotNormal::Unlabelled);
    if unlabelled > 0 {
        let recordings = plural(unlabelled, "recording");
        let why = "outside the folders that are called normal";
        control.report(Event::Note(&format!("left out {recordings} {why}")));
    }
    unknown
}

/// What can be read: a path, or [`Sources`].
pub trait IntoSources {
    /// The recordings.
    ///
    /// # Errors
    ///
    /// [`Error::NoSources`] if there is none.
    fn into_sources(self) -> Result<Sources>;
}

impl IntoSources for Sources {
    fn into_sources(self) -> Result<Sources> {
        Ok(self)
    }
}

impl<P: AsRef<Path>> IntoSources for P {
    fn into_sources(self) -> Result<Sources> {
        Sources::of([self])
    }
}

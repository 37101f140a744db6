//! The clips of a training run: those of a data set that are learned from, read when they are drawn.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io::Cursor,
    path::Path,
};

use auscult::{ClipRules, ClipSettings, Reading};
use auscult_eval::{
    datasets::{Archives, Dataset, DatasetClip, Split, empty_folders},
    fine_tuning::LabelsOf,
};
use auscult_finetune::{ClipOrigin, LabelledClips};
use clap::ValueEnum;

use crate::{
    args::{LabelName, TrainArguments},
    context::Context,
};

/// Normal training clips of a data set.
pub(crate) struct Labelled {
    clips: Vec<DatasetClip>,
    labels: Vec<String>,
    archives: Archives,
    reading: Reading,
    origin: ClipOrigin,
}

impl Labelled {
    /// Those that the options of a training choose.
    pub(crate) fn open(arguments: &TrainArguments, context: &Context) -> anyhow::Result<Self> {
        let mut dataset = Dataset::open(arguments.dataset, &arguments.data, None)?;
        dataset.keep(&arguments.machine, &arguments.split)?;
        for remark in dataset.remarks() {
            context.printer.note(remark);
        }
        refuse_empty_classes(&dataset, arguments)?;
        let clip = ClipSettings { seconds: arguments.clip_seconds, ..ClipSettings::default() };
        Self::of(&dataset, arguments.labels.into(), clip, origin(arguments))
    }

    /// All that a data set has.
    pub(crate) fn of(
        dataset: &Dataset,
        labels: LabelsOf,
        clip: ClipSettings,
        origin: ClipOrigin,
    ) -> anyhow::Result<Self> {
        let clips = dataset.clips.iter().filter(|clip| clip.split == Split::Train);
        let clips: Vec<DatasetClip> = clips.cloned().collect();
        let labels = clips.iter().map(|clip| label(clip, labels)).collect();
        let channel = origin.channel.parse()?;
        let reading = Reading::new(clip, channel, None, ClipRules::protocol())?;
        Ok(Self { clips, labels, archives: Archives::default(), reading, origin })
    }
}

/// The options that choose clips, as they were given.
fn origin(arguments: &TrainArguments) -> ClipOrigin {
    let roots = arguments.data.iter().map(|root| root.display().to_string());
    let labels = arguments.labels.to_possible_value();
    let mut options = BTreeMap::from([
        ("--data".to_owned(), roots.collect::<Vec<_>>().join(" ")),
        ("--dataset".to_owned(), arguments.dataset.to_string()),
        ("--labels".to_owned(), labels.map(|it| it.get_name().to_owned()).unwrap_or_default()),
    ]);
    for (name, values) in [("--machine", &arguments.machine), ("--split", &arguments.split)] {
        if !values.is_empty() {
            options.insert(name.to_owned(), values.join(" "));
        }
    }
    ClipOrigin { channel: arguments.channel.clone(), options }
}

/// A class that lost all its clips would be missing from the encoder without a word.
fn refuse_empty_classes(dataset: &Dataset, arguments: &TrainArguments) -> anyhow::Result<()> {
    let section = |clip: &DatasetClip| label(clip, LabelsOf::Sections);
    let of_split = |split: Split| {
        let clips = dataset.clips.iter().filter(move |clip| clip.split == split);
        clips.map(section).collect::<BTreeSet<String>>()
    };
    let with_clips = of_split(Split::Train);
    if let Some(name) = of_split(Split::Test).difference(&with_clips).next() {
        anyhow::bail!(
            "class {name:?} has no clips to train on, only test clips; add some, or leave it out \
             by naming the others after --machine or --split"
        );
    }
    // A part of a data set that was not named may well be empty.
    if !arguments.split.is_empty() {
        return Ok(());
    }
    for root in &arguments.data {
        let is_wanted = |folder: &Path| {
            let within = folder.strip_prefix(root).unwrap_or(folder);
            let is_named = |name| within.iter().any(|part| part == OsStr::new(name));
            arguments.machine.is_empty() || arguments.machine.iter().any(is_named)
        };
        // An empty folder for tests is none of training's business.
        let is_of_tests = |folder: &Path| folder.iter().any(|part| part == "test");
        let folders = empty_folders(root)?;
        let empty = folders.iter().find(|it| is_wanted(it) && !is_of_tests(it));
        if let Some(folder) = empty {
            anyhow::bail!(
                "{} holds no clips: its class would be empty; put recordings into it or remove it",
                folder.display()
            );
        }
    }
    Ok(())
}

impl From<LabelName> for LabelsOf {
    fn from(name: LabelName) -> Self {
        match name {
            LabelName::Sections => Self::Sections,
            LabelName::Attributes => Self::Attributes,
        }
    }
}

fn label(clip: &DatasetClip, labels: LabelsOf) -> String {
    let attributes = match labels {
        LabelsOf::Sections => "",
        LabelsOf::Attributes => clip.attributes.as_str(),
    };
    format!("{} {} {attributes}", clip.machine, clip.section).trim().to_owned()
}

impl LabelledClips for Labelled {
    fn name(&self, clip: usize) -> String {
        let DatasetClip { machine, name, .. } = &self.clips[clip];
        format!("{machine}/{name}")
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn samples(&self, clip: usize) -> Result<Vec<f32>, String> {
        let file = &self.clips[clip].file;
        let label = file.label();
        // The clip is named already.
        let bare = |error: &dyn std::fmt::Display| {
            let text = error.to_string();
            text.strip_prefix(&format!("{label}: ")).map_or(text.clone(), str::to_owned)
        };
        let bytes = file.bytes(&self.archives).map_err(|error| bare(&error))?;
        let mut clips = self
            .reading
            .clips_of_stream(&label, Cursor::new(bytes))
            .map_err(|error| bare(&error))?;
        let clip = clips.next().ok_or_else(|| "it holds no sound".to_owned())?;
        Ok(clip.map_err(|error| bare(&error))?.samples)
    }

    fn origin(&self) -> ClipOrigin {
        self.origin.clone()
    }
}

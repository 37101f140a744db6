//! `auscult train`: an encoder learns to tell labelled clips apart.

use crate::{Outcome, args::TrainArguments, printer::Printer};

#[cfg(not(feature = "training"))]
pub(super) fn run(_: &TrainArguments, _: &Printer) -> anyhow::Result<Outcome> {
    anyhow::bail!(
        "this program was built without training; build it with: cargo build --release -p auscult-cli \
         --features training"
    )
}

#[cfg(feature = "training")]
pub(super) use with_training::run;

#[cfg(feature = "training")]
mod with_training {
    use std::{collections::BTreeSet, ffi::OsStr, io::Cursor, path::Path, time::Duration};

    use auscult_audio::{CheckedReadSettings, ClipRange, ClipReader, ReadSettings};
    use auscult_core::ClipSettings;
    use auscult_eval::datasets::{Archives, Dataset, DatasetClip, Split, empty_folders};
    use auscult_training::finetune::{
        Adaptation, Compute, FinetuneSettings, Finetuned, Flow, LabelledClips, MomentStorage,
        RunPlace, finetune,
    };
    use serde_json::json;

    use super::{Outcome, Printer, TrainArguments};
    use crate::{
        args::{DeviceName, LabelName},
        front_ends, interrupt,
        printer::count,
        progress, reading,
    };

    pub(in crate::commands) fn run(
        arguments: &TrainArguments,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        anyhow::ensure!(
            !arguments.out.is_file(),
            "{} is a file; give a folder after --out",
            arguments.out.display()
        );
        let settings = settings(arguments)?;
        settings.check()?;
        let clips = Labelled::open(arguments, printer)?;
        let checkpoint = front_ends::library().checkpoint(&arguments.front_end)?;
        let place = place(arguments)?;
        let bar = progress::bar(settings.steps, "steps");
        let done = finetune(&checkpoint, &clips, &settings, &place, &mut |facts| {
            bar.set_position(facts.step as u64);
            let (loss, accuracy) = (facts.loss, 100.0 * facts.accuracy);
            bar.set_message(format!("loss {loss:.3}, {accuracy:.0} % right"));
            if interrupt::is_asked() { Flow::Stop } else { Flow::GoOn }
        });
        bar.finish_and_clear();
        tell(&done?, &clips, arguments, printer)
    }

    fn settings(arguments: &TrainArguments) -> anyhow::Result<FinetuneSettings> {
        let numbers = &arguments.numbers;
        let adaptation = match numbers.lora {
            None => Adaptation::Full,
            Some(rank) => Adaptation::Lora {
                rank,
                alpha: numbers.lora_alpha.unwrap_or(rank as f64),
                targets: numbers.lora_targets.iter().map(|name| name.parse()).collect::<Result<
                    _,
                    auscult_training::Error,
                >>(
                )?,
            },
        };
        let &[first, second] = numbers.betas.as_slice() else {
            anyhow::bail!("--betas takes two numbers, got {:?}", numbers.betas)
        };
        Ok(FinetuneSettings {
            steps: numbers.steps,
            batch: numbers.batch,
            accumulation: numbers.accumulation,
            learning_rate: numbers.learning_rate,
            warm_up: numbers.warm_up,
            weight_decay: numbers.weight_decay,
            betas: [first, second],
            epsilon: numbers.epsilon,
            largest_gradient: numbers.largest_gradient,
            margin: numbers.margin,
            scale: numbers.scale,
            time_mask: numbers.time_mask,
            frequency_mask: numbers.frequency_mask,
            mask_share: numbers.mask_share,
            adaptation,
            moments: if numbers.half_moments { MomentStorage::Bf16 } else { MomentStorage::F32 },
            least_clips: numbers.least_clips,
            seed: numbers.seed,
            checkpoint_every: numbers.checkpoint_every,
        })
    }

    fn place(arguments: &TrainArguments) -> anyhow::Result<RunPlace> {
        let at_most = arguments.at_most_minutes.map(|minutes| {
            Duration::try_from_secs_f64(minutes * 60.0).map_err(|error| {
                anyhow::anyhow!("--at-most-minutes must be at least 0, got {minutes} ({error})")
            })
        });
        Ok(RunPlace {
            folder: arguments.out.clone(),
            clip: ClipSettings { seconds: arguments.clip_seconds, ..ClipSettings::default() },
            at_most: at_most.transpose()?,
            compute: match arguments.device {
                DeviceName::Cpu => Compute::Cpu,
                DeviceName::Gpu => Compute::Gpu,
            },
        })
    }

    /// Normal training clips of a data set.
    struct Labelled {
        clips: Vec<DatasetClip>,
        labels: Vec<String>,
        archives: Archives,
        reading: CheckedReadSettings,
    }

    impl Labelled {
        fn open(arguments: &TrainArguments, printer: &Printer) -> anyhow::Result<Self> {
            let mut dataset = Dataset::open(arguments.dataset, &arguments.data, None)?;
            dataset.keep(&arguments.machine, &arguments.split)?;
            for remark in dataset.remarks() {
                printer.note(remark);
            }
            refuse_empty_classes(&dataset, arguments)?;
            let clips: Vec<DatasetClip> =
                dataset.clips.into_iter().filter(|clip| clip.split == Split::Train).collect();
            let labels = clips.iter().map(|clip| label(clip, arguments.labels)).collect();
            let reading = ReadSettings {
                sample_rate: 16_000,
                channel: reading::channel(&arguments.channel)?,
                clip_seconds: arguments.clip_seconds,
                hop_seconds: None,
                range: ClipRange::First,
            };
            let reading = reading.check()?;
            Ok(Self { clips, labels, archives: Archives::default(), reading })
        }
    }

    /// A class that lost all its clips would be missing from the encoder without a word.
    fn refuse_empty_classes(dataset: &Dataset, arguments: &TrainArguments) -> anyhow::Result<()> {
        let section = |clip: &DatasetClip| label(clip, LabelName::Sections);
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
        // A part of a data set that is not asked for may well be empty.
        if !arguments.split.is_empty() {
            return Ok(());
        }
        for root in &arguments.data {
            let is_asked_for = |folder: &Path| {
                let within = folder.strip_prefix(root).unwrap_or(folder);
                let is_named = |name| within.iter().any(|part| part == OsStr::new(name));
                arguments.machine.is_empty() || arguments.machine.iter().any(is_named)
            };
            // An empty folder for tests is none of training's business.
            let is_of_tests = |folder: &Path| folder.iter().any(|part| part == "test");
            let folders = empty_folders(root)?;
            let empty = folders.iter().find(|it| is_asked_for(it) && !is_of_tests(it));
            if let Some(folder) = empty {
                anyhow::bail!(
                    "{} holds no clips: its class would be empty; put recordings into it or remove it",
                    folder.display()
                );
            }
        }
        Ok(())
    }

    fn label(clip: &DatasetClip, labels: LabelName) -> String {
        let attributes = match labels {
            LabelName::Sections => "",
            LabelName::Attributes => clip.attributes.as_str(),
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
            let bytes = file.bytes(&self.archives).map_err(|error| error.to_string())?;
            let mut reader =
                ClipReader::from_stream(&file.label(), Cursor::new(bytes), &self.reading)
                    .map_err(|error| error.to_string())?;
            let clip = reader.next().ok_or_else(|| "it holds no sound".to_owned())?;
            Ok(clip.map_err(|error| error.to_string())?.samples)
        }
    }

    fn tell(
        done: &Finetuned,
        clips: &Labelled,
        arguments: &TrainArguments,
        printer: &Printer,
    ) -> anyhow::Result<Outcome> {
        let mut names = clips.labels.clone();
        names.sort();
        names.dedup();
        let last = done.curve.last();
        if arguments.json {
            let facts = json!({
                "encoder": done.encoder,
                "steps": done.curve.len(),
                "continued_from": done.continued_from,
                "complete": done.is_complete,
                "clips": clips.labels.len(),
                "classes": names.len(),
                "loss": last.map(|facts| facts.loss),
                "accuracy": last.map(|facts| facts.accuracy),
            });
            printer.line(serde_json::to_string_pretty(&facts)?)?;
        } else {
            let (steps, classes) = (count(done.curve.len(), "step"), names.len());
            let clips = count(clips.labels.len(), "clip");
            printer.line(format!("trained    {steps} on {clips} of {classes} classes"))?;
            if let Some(facts) = last {
                let (loss, accuracy) = (facts.loss, 100.0 * facts.accuracy);
                printer.line(format!("at the end loss {loss:.4}, {accuracy:.1} % right"))?;
            }
            let (encoder, name) = (done.encoder.display(), &arguments.front_end);
            printer.line(format!("use it     --front-end {name} --encoder {encoder}"))?;
        }
        if !done.is_complete {
            printer.problem("stopped before all steps; the same command goes on from here");
            return Ok(Outcome::Incomplete);
        }
        Ok(Outcome::Done)
    }
}

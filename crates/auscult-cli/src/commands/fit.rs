//! `auscult fit`: normal recordings in, a model file out.

use std::{collections::BTreeMap, sync::Arc};

use auscult_audio::{ClipRange, Extent, Source};
use auscult_core::{
    BandSettings, Basis, BeamSettings, ClipSettings, ClipVectors, FrontEnd, FrontEndSettings, Method,
    Model, ModelSettings, Provenance, References, memory,
};
use serde::Serialize;

use crate::{
    Outcome,
    args::{Clips, FitArguments, FrontEndArguments, InputArguments},
    printer::Printer,
    reading::{self, FileOutcome, Reading, clip_name},
};

pub(crate) fn run(arguments: &FitArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let (clip, front_end) = front_end(&arguments.front_end)?;
    let settings = model_settings(arguments, clip, &*front_end)?;
    let reading = self::reading(&arguments.input, &arguments.front_end, clip, front_end)?;
    let visits = &arguments.visits;
    let (sources, found_all) = reading::expand(
        &arguments.input.paths,
        visits.visit.as_deref(),
        visits.domain.as_deref(),
        printer,
    )?;
    let gathered = gather(sources, &reading, None, printer)?;
    anyhow::ensure!(
        gathered.read_all,
        "stopped: no model was written, {} is as it was",
        arguments.output.display()
    );
    let model = Model::fit(settings, gathered.references)?;
    auscult_store::save(&model, &arguments.output)?;
    let summary = Summary::new(&model, &arguments.output.display().to_string(), &gathered.counts);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&summary)?)?;
    } else {
        printer.text(&summary.to_string())?;
    }
    warn_about_calibration(&model, printer);
    let complete = found_all && gathered.counts.skipped == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// The front end named on the command line.
pub(super) fn front_end(
    arguments: &FrontEndArguments,
) -> anyhow::Result<(ClipSettings, Arc<dyn FrontEnd>)> {
    let clip =
        ClipSettings { sample_rate: arguments.sample_rate, seconds: arguments.clip_seconds };
    let settings = FrontEndSettings::named(&arguments.front_end, arguments.convention.as_deref())?;
    Ok((clip, settings.build(clip.check()?)?))
}

/// How the command line wants sound to be read.
pub(super) fn reading(
    input: &InputArguments,
    front_end: &FrontEndArguments,
    clip: ClipSettings,
    built: Arc<dyn FrontEnd>,
) -> anyhow::Result<Reading> {
    let channel = reading::channel(&front_end.channel)?;
    Reading::new(built, clip, channel, input.hop_seconds, range(input.clips))
}

pub(super) fn range(clips: Clips) -> ClipRange {
    match clips {
        Clips::All => ClipRange::All,
        Clips::First => ClipRange::First,
    }
}

fn model_settings(
    arguments: &FitArguments,
    clip: ClipSettings,
    front_end: &dyn FrontEnd,
) -> anyhow::Result<ModelSettings> {
    let one_view = front_end.views().len() < 2;
    let name = &arguments.front_end.front_end;
    let method = match arguments.method {
        None if one_view => Method::Beam,
        None => Method::AdaBeam,
        Some(Method::AdaBeam) if one_view => {
            anyhow::bail!("adabeam needs two views and {name} has one; use --method beam")
        }
        Some(method) => method,
    };
    let mut detector = BeamSettings::paper(method, front_end);
    if arguments.fuse.is_some() {
        anyhow::ensure!(!one_view, "--fuse needs two views and {name} has one; leave it out");
        anyhow::ensure!(method != Method::Beam, "--fuse needs two views; use --method adabeam or global");
        detector.views = front_end.views().to_vec();
    }
    match (arguments.band_width, arguments.band_stride, detector.bands) {
        (None, None, _) => {}
        (_, _, BandSettings::Whole) => {
            anyhow::bail!("global matching has no bands; leave out --band-width and --band-stride")
        }
        (width, stride, BandSettings::Windows { width: paper, .. }) => {
            let width = width.unwrap_or(paper);
            detector.bands = BandSettings::Windows { width, stride: stride.unwrap_or(width) };
        }
    }
    let detector = BeamSettings {
        metric: arguments.metric,
        neighbours: arguments.neighbours,
        exponent: arguments.density_exponent,
        rule: arguments.density_rule,
        aggregation: arguments.aggregate,
        fusion: arguments.fuse.unwrap_or_default(),
        ..detector
    };
    detector.clone().check(front_end.axis().len())?;
    Ok(ModelSettings {
        channel: arguments.front_end.channel.clone(),
        max_references: arguments.max_references,
        false_alarm_rate: arguments.false_alarm_rate,
        ..ModelSettings::new(clip, front_end, detector)
    })
}

/// References and what was left out.
pub(super) struct Gathered {
    pub(super) references: References,
    pub(super) counts: Counts,
    /// False if a stop was asked for.
    pub(super) read_all: bool,
}

/// How many clips came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) files: usize,
    pub(super) clips: usize,
    pub(super) skipped: usize,
    pub(super) copies: usize,
    pub(super) clipped: usize,
}

/// Reads normal recordings into references, telling what was skipped and why.
///
/// Exact copies of another reference are left out: a copy would be its own nearest neighbour, and
/// local density normalisation would divide by nothing.
pub(super) fn gather(
    sources: Vec<Source>,
    reading: &Reading,
    known: Option<&References>,
    printer: &Printer,
) -> anyhow::Result<Gathered> {
    let front_end = &reading.front_end;
    let mut references = References::new(front_end.views(), front_end.axis().len());
    let mut counts = Counts::default();
    let mut seen: BTreeMap<String, String> = known
        .map(|known| known.provenance().iter().map(|from| (from.digest.clone(), from.source.clone())))
        .into_iter()
        .flatten()
        .collect();
    let read_all = reading::read_all(
        sources,
        reading,
        printer,
        |worker, clip, condition| {
            if !condition.is_usable() || clip.extent == Extent::CutByDamage {
                return Err(condition.to_string());
            }
            let extracted = worker.extractor.extract_into(&clip.samples, &mut worker.vectors);
            extracted.map_err(|error| error.to_string())?;
            Ok((worker.vectors.clone(), memory::digest(&clip.samples)))
        },
        |file| {
            remember(file, &mut references, &mut seen, &mut counts, printer)
        },
    )?;
    if references.is_empty() && read_all {
        anyhow::bail!("no usable clip among {} files: nothing to learn from", counts.files);
    }
    Ok(Gathered { references, counts, read_all })
}

type Extracted = Result<(ClipVectors, String), String>;

fn remember(
    file: FileOutcome<Extracted>,
    references: &mut References,
    seen: &mut BTreeMap<String, String>,
    counts: &mut Counts,
    printer: &Printer,
) -> anyhow::Result<()> {
    counts.files += 1;
    let label = &file.source.label;
    for clip in file.clips {
        let name = clip_name(label, clip.start_seconds);
        match clip.result {
            // The problem below says what happened to the rest of the file.
            Err(_) if clip.extent == Extent::CutByDamage => {}
            Err(reason) => {
                counts.skipped += 1;
                printer.problem(format!("skipped {name}: {reason}"));
            }
            Ok((_, digest)) if seen.contains_key(&digest) => {
                counts.copies += 1;
                printer.note(format!("left out {name}: the same sound as {}", seen[&digest]));
            }
            Ok((vectors, digest)) => {
                if !matches!(clip.condition, auscult_core::ClipCondition::Usable) {
                    counts.clipped += 1;
                    printer.note(format!("{name} is {}", clip.condition));
                }
                seen.insert(digest.clone(), name);
                counts.clips += 1;
                let provenance = Provenance {
                    source: label.clone(),
                    start_seconds: clip.start_seconds,
                    visit: file.source.visit.clone(),
                    domain: file.source.domain.clone(),
                    digest,
                };
                references.push(&vectors, provenance)?;
            }
        }
    }
    if let Some(problem) = file.problem {
        counts.skipped += 1;
        printer.problem(format!("skipped {problem}"));
    }
    Ok(())
}

/// Says what the threshold cannot be trusted for.
pub(super) fn warn_about_calibration(model: &Model, printer: &Printer) {
    let rate = model.settings().false_alarm_rate;
    let (have, need) = (model.calibration().scores().len(), rate.calibration_floor());
    if have < need {
        printer.note(format!(
            "no verdicts yet: a false-alarm rate of {rate} needs {need} normal clips, {} more than the {have} here",
            need - have
        ));
    }
    match model.calibration().basis() {
        Basis::Visits => {}
        Basis::Files => printer.note(
            "all references count as one visit: verdicts are calibrated by leaving out files, which promises \
             too few false alarms if the files were recorded together; record on other days and add them \
             (sub-folders, a manifest column or --visit name the visit)",
        ),
        Basis::Clips => printer.note(
            "all references come from one recording: verdicts are calibrated by leaving out single clips, \
             which promises too few false alarms; record on other days and add them",
        ),
    }
}

/// What `fit` tells at the end.
#[derive(Debug, Serialize)]
struct Summary {
    model: String,
    front_end: String,
    references: usize,
    visits: usize,
    bands: usize,
    calibrated_by: &'static str,
    false_alarm_rate: f64,
    threshold: Option<f64>,
    #[serde(flatten)]
    counts: serde_json::Value,
}

impl Summary {
    fn new(model: &Model, path: &str, counts: &Counts) -> Self {
        let visits: std::collections::BTreeSet<_> =
            model.references().provenance().iter().filter_map(|from| from.visit.as_ref()).collect();
        Self {
            model: path.to_owned(),
            front_end: model.settings().front_end.to_string(),
            references: model.references().len(),
            visits: visits.len(),
            bands: model.detector().beam().layout().bands().len(),
            calibrated_by: model.calibration().basis().name(),
            false_alarm_rate: model.settings().false_alarm_rate.into(),
            threshold: model.threshold(),
            counts: serde_json::to_value(counts).unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |name: &str| self.counts[name].as_u64().unwrap_or(0);
        writeln!(formatter, "model       {}", self.model)?;
        writeln!(formatter, "front end   {}, {} bands", self.front_end, self.bands)?;
        writeln!(
            formatter,
            "references  {} from {} files, {} visits; {} skipped, {} copies left out",
            self.references, count("files"), self.visits, count("skipped"), count("copies")
        )?;
        match self.threshold {
            Some(threshold) => writeln!(
                formatter,
                "threshold   {threshold:.4} for at most {} % false alarms, calibrated by leaving out {}",
                self.false_alarm_rate * 100.0,
                self.calibrated_by
            ),
            None => writeln!(formatter, "threshold   none yet"),
        }
    }
}

//! `auscult fit`: normal recordings in, a model file out.

use std::sync::Arc;

use auscult_audio::ClipRange;
use auscult_core::{
    BandSettings, BeamSettings, ClipSettings, DensityExponent, FrontEnd, Method, Model,
    ModelSettings, alarm::AlarmSettings,
};

use super::{
    autoencoder,
    budget::BudgetFacts,
    gathering::{Counts, Gathered, gather},
    settings::{self, Chosen},
    summary::{Summary, warn_about_calibration},
};
use crate::{
    Outcome,
    args::{
        Clips, ComparingArguments, FitArguments, FrontEndArguments, InputArguments, MethodName,
    },
    files, front_ends,
    printer::Printer,
    quality::QualitySummary,
    reading::{self, Reading},
};

pub(crate) fn run(arguments: &FitArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    if arguments.comparing.method == Some(MethodName::Autoencoder) {
        return autoencoder::run(arguments, printer);
    }
    autoencoder::refuse_without(&arguments.typed, "--method autoencoder")?;
    let chosen = settings::chosen(arguments)?;
    let settings = model_settings(arguments, &chosen)?;
    files::check_model_target(&arguments.output)?;
    let Chosen { clip, channel, front_end, .. } = chosen;
    let reading = self::reading(&arguments.input, &channel, clip, front_end)?;
    let Gathered { references, counts, quality, .. } = read_normal(arguments, &reading, printer)?;
    let model = Model::fit(settings, references)?;
    finish(model, (counts, quality), arguments, printer)
}

/// Every normal recording the command line names.
pub(super) fn read_normal(
    arguments: &FitArguments,
    reading: &Reading,
    printer: &Printer,
) -> anyhow::Result<Gathered> {
    let visits = &arguments.visits;
    let (sources, problems) = reading::expand_normal(
        &arguments.input.paths,
        visits.visit.as_deref(),
        visits.domain.as_deref(),
        printer,
    )?;
    let mut gathered = gather(sources, reading, None, printer)?;
    gathered.counts.skipped += problems;
    if !gathered.read_all {
        return Err(stopped(arguments));
    }
    Ok(gathered)
}

/// What is said when the work was stopped.
pub(super) fn stopped(arguments: &FitArguments) -> anyhow::Error {
    let output = arguments.output.display();
    anyhow::anyhow!("stopped: no model was written, {output} is as it was")
}

/// Keeps a fitted model and tells about it.
pub(super) fn finish(
    mut model: Model,
    (counts, quality): (Counts, Option<QualitySummary>),
    arguments: &FitArguments,
    printer: &Printer,
) -> anyhow::Result<Outcome> {
    let budget = arguments.memory.at_most.map(|budget| {
        let hop_seconds = arguments.input.hop_seconds.unwrap_or(model.settings().clip.seconds);
        BudgetFacts::new(&model, budget, hop_seconds, AlarmSettings::default().clear)
    });
    let budget = budget.transpose()?;
    if let Some(budget) = &budget {
        if !budget.is_kept() {
            printer.text(&budget.describe())?;
            anyhow::bail!(
                "no model was written: no alarm rule keeps the budget of --at-most yet; allow more alarms, record \
                 more visits, or fit without --at-most"
            );
        }
        model = budget.apply(model)?;
    }
    auscult_files::save(&model, &arguments.output)?;
    let summary = Summary::new(&model, &arguments.output, counts, quality, budget);
    if arguments.json {
        printer.line(serde_json::to_string_pretty(&summary)?)?;
    } else {
        printer.text(&summary.to_string())?;
    }
    warn_about_calibration(&model, printer);
    let (neighbours, others) = (model.settings().detector.neighbours, model.references().len() - 1);
    if neighbours > others {
        printer
            .note(format!("--neighbours {neighbours}: there are {others} others, all are taken"));
    }
    let complete = summary.counts.skipped == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// The front end named on the command line.
pub(super) fn front_end(
    arguments: &FrontEndArguments,
) -> anyhow::Result<(ClipSettings, Arc<dyn FrontEnd>)> {
    let clip = ClipSettings { sample_rate: arguments.sample_rate, seconds: arguments.clip_seconds };
    Ok((clip, front_ends::asked_for(arguments, clip.check()?)?))
}

/// How the command line wants sound to be read.
pub(super) fn reading(
    input: &InputArguments,
    channel: &str,
    clip: ClipSettings,
    front_end: Arc<dyn FrontEnd>,
) -> anyhow::Result<Reading> {
    let channel = reading::channel(channel)?;
    Reading::new(front_end, clip, channel, input.hop_seconds, range(input.clips))
}

pub(super) fn range(clips: Clips) -> ClipRange {
    match clips {
        Clips::All => ClipRange::All,
        Clips::First => ClipRange::First,
    }
}

fn model_settings(arguments: &FitArguments, chosen: &Chosen) -> anyhow::Result<ModelSettings> {
    let memory = &arguments.memory;
    anyhow::ensure!(memory.max_references != Some(0), "--max-references must be at least 1, got 0");
    let detector = chosen.detector.clone();
    detector.clone().check(chosen.front_end.axis().len())?;
    Ok(ModelSettings {
        channel: chosen.channel.clone(),
        max_references: memory.max_references,
        storage: memory.storage,
        false_alarm_rate: memory.false_alarm_rate,
        confidence: memory.confidence,
        calibration: memory.calibration,
        ..ModelSettings::new(chosen.clip, &*chosen.front_end, detector)
    })
}

pub(super) fn detector_settings(
    arguments: &ComparingArguments,
    name: &str,
    front_end: &dyn FrontEnd,
) -> anyhow::Result<BeamSettings> {
    let one_view = front_end.views().len() < 2;
    let method = match arguments.method {
        None if one_view => Method::Beam,
        None => Method::AdaBeam,
        Some(MethodName::Comparing(Method::AdaBeam)) if one_view => {
            anyhow::bail!("adabeam needs two views and {name} has one; use --method beam")
        }
        Some(MethodName::Comparing(method)) => method,
        Some(MethodName::Autoencoder) => {
            anyhow::bail!("an autoencoder does not compare; here it is --back-end autoencoder")
        }
    };
    let mut detector = BeamSettings::paper(method, front_end);
    if arguments.fuse.is_some() {
        anyhow::ensure!(!one_view, "--fuse needs two views and {name} has one; leave it out");
        anyhow::ensure!(
            method != Method::Beam,
            "--fuse needs two views and beam has one; use --method adabeam or global"
        );
        detector.views = front_end.views().to_vec();
    }
    match (&mut detector.ensemble, arguments.combine_members) {
        (Some(ensemble), combine) => {
            ensemble.combine = combine.unwrap_or_default();
            anyhow::ensure!(
                arguments.band_width.is_none() && arguments.band_stride.is_none(),
                "the members of {name} have bands of their own; leave out --band-width and --band-stride"
            );
        }
        (None, Some(_)) => {
            anyhow::bail!("--combine-members needs several front ends, such as ced+mfcc")
        }
        (None, None) => detector.bands = bands(arguments, detector.bands)?,
    }
    anyhow::ensure!(
        arguments.neighbours > 0 || arguments.density_exponent != DensityExponent::Auto,
        "--density-exponent auto needs local scales; leave it out with --neighbours 0"
    );
    Ok(BeamSettings {
        metric: arguments.metric,
        neighbours: arguments.neighbours,
        exponent: arguments.density_exponent,
        rule: arguments.density_rule,
        aggregation: arguments.aggregate,
        fusion: arguments.fuse.unwrap_or_default(),
        ..detector
    })
}

/// The paper's bands, with what the command line says otherwise.
pub(super) fn bands(
    arguments: &ComparingArguments,
    paper: BandSettings,
) -> anyhow::Result<BandSettings> {
    Ok(match (arguments.band_width, arguments.band_stride, paper) {
        (None, None, paper) => paper,
        (_, _, BandSettings::Whole) => {
            anyhow::bail!("global matching has no bands; leave out --band-width and --band-stride")
        }
        (width, stride, BandSettings::Windows { width: paper, .. }) => {
            let width = width.unwrap_or(paper);
            BandSettings::Windows { width, stride: stride.unwrap_or(width) }
        }
    })
}

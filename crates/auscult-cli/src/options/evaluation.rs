//! The system that `bench eval` measures, by options.

use std::{collections::BTreeSet, sync::Arc};

use auscult::{
    BeamSettings, FrontEnd, FrontEndSpec, Preset, Sources, View,
    autoencoder::{SpectrogramFrontEnd, TrainingSettings},
    baselines::genrep::Standardisation,
    learn::few_steps,
};
use auscult_eval::{
    datasets::{ClipFile, Dataset, DatasetClip, Judging},
    given::GivenFrontEnd,
    systems::{BackEnd, SystemSettings},
};
use clap::ValueEnum;

use super::{network, presets, unused::refuse};
use crate::{
    args::{AutoencoderArguments, BackEndName, EvalArguments, SampleRate},
    context::Context,
    printer::count,
};

/// The one system's name.
const SYSTEM: &str = "system";

/// Options that the back end does not look at.
pub(crate) fn refuse_unused(arguments: &EvalArguments, context: &Context) -> anyhow::Result<()> {
    if let Some(preset) = arguments.preset {
        refuse_beside_preset(arguments, preset, context)?;
    }
    if arguments.features_from.is_some() {
        let is_network = arguments.back_end == BackEndName::Autoencoder;
        let encoder = arguments.front_end.encoder.given();
        let options =
            [("--back-end autoencoder", is_network), (encoder.unwrap_or(""), encoder.is_some())];
        refuse(&options, "has no effect on --features-from; leave one of them out")?;
        context.front_ends.refuse_unused_file("--features-from", "")?;
    }
    let is_nearest = arguments.back_end == BackEndName::Nearest;
    let only_nearest = [("--leave-one-out", arguments.leave_one_out && !is_nearest)];
    refuse(&only_nearest, "is for --back-end nearest; leave it out, or choose that")?;
    let (front_end, comparing) = (&arguments.front_end, &arguments.comparing);
    let views = ("--views", !arguments.views.is_empty());
    let method = [("--method", comparing.method.is_some()), views];
    let back_end = arguments.back_end;
    if back_end == BackEndName::Autoencoder {
        return network::refuse_comparing(front_end, comparing, &method, &context.front_ends);
    }
    arguments.autoencoder.refuse_without(&[], "--back-end autoencoder")?;
    let spec = front_end.spec();
    let says_how = spec.members()?.iter().any(|member| member.options.is_some());
    anyhow::ensure!(
        is_nearest || !says_how,
        "{} says in parentheses how references are compared, which is for --back-end nearest; leave the \
         parentheses out, or choose that",
        spec.name
    );
    if back_end.compares() {
        return Ok(());
    }
    let name = back_end.to_possible_value().map(|value| value.get_name().to_owned());
    let why = format!(
        "says how references are compared, and --back-end {} compares with none; leave it out, or choose \
         --back-end nearest",
        name.unwrap_or_default()
    );
    refuse(method.iter().chain(&comparing.given()), &why)
}

/// Whether the rate is that of the data set's own recordings.
pub(crate) fn wants_native_rate(arguments: &EvalArguments) -> bool {
    arguments.front_end.sample_rate == Some(SampleRate::Native)
}

/// The same arguments with the rate of the data set's own recordings.
pub(crate) fn at_native_rate(
    arguments: &EvalArguments,
    dataset: &Dataset,
) -> anyhow::Result<EvalArguments> {
    let groups = dataset.groups();
    let clips = groups.iter().flat_map(|group| group.train.iter().chain(&group.test));
    let path = |clip: &&DatasetClip| match &clip.file {
        ClipFile::Plain(path) => Ok(path.clone()),
        ClipFile::Archived { .. } => anyhow::bail!(
            "--sample-rate native does not look into archives ({}); give --sample-rate HZ",
            clip.file.label()
        ),
    };
    let paths = clips.map(path).collect::<anyhow::Result<Vec<_>>>()?;
    let rate = Sources::of(&paths)?.native_rate()?;
    let mut resolved = arguments.clone();
    resolved.front_end.sample_rate = Some(SampleRate::Hertz(rate));
    Ok(resolved)
}

/// A preset says all of this itself.
fn refuse_beside_preset(
    arguments: &EvalArguments,
    preset: Preset,
    context: &Context,
) -> anyhow::Result<()> {
    anyhow::ensure!(
        arguments.back_end == BackEndName::Nearest,
        "--preset {preset} compares with the nearest references; leave out --back-end"
    );
    presets::refuse_beside(preset, &arguments.front_end, &arguments.comparing)?;
    refuse(&[("--views", !arguments.views.is_empty())], "is said by the preset; leave it out")?;
    presets::refuse_weights(preset, &context.front_ends)
}

/// The front end by name, and why a member of the preset is missing, if one is.
pub(crate) fn spec(arguments: &EvalArguments) -> anyhow::Result<(FrontEndSpec, Option<String>)> {
    if arguments.features_from.is_some() {
        return Ok((FrontEndSpec::of(GivenFrontEnd::NAME), None));
    }
    let Some(preset) = arguments.preset else { return Ok((arguments.front_end.spec(), None)) };
    let length = arguments.front_end.clip().check()?;
    Ok(match &arguments.front_end.front_end {
        Some(changes) => preset.spec_with(changes, length)?,
        None => preset.spec(length),
    })
}

/// The preset, unless members of it were changed.
fn unchanged_preset(arguments: &EvalArguments) -> Option<Preset> {
    arguments.preset.filter(|_| arguments.front_end.front_end.is_none())
}

/// Which clips are judged by which others.
pub(crate) fn judging(arguments: &EvalArguments) -> Judging {
    if arguments.leave_one_out { Judging::LeaveOneOut } else { Judging::Split }
}

/// What the back end looks at.
pub(crate) fn front_end(
    arguments: &EvalArguments,
    spec: &FrontEndSpec,
    context: &Context,
) -> anyhow::Result<Arc<dyn FrontEnd>> {
    if arguments.back_end != BackEndName::Autoencoder {
        let clip = arguments.front_end.clip();
        return arguments.front_end.build_spec(spec, clip, &context.front_ends);
    }
    let form = arguments.autoencoder.network.unwrap_or_default();
    Ok(Arc::new(SpectrogramFrontEnd::new(form, arguments.front_end.clip().check()?)?))
}

/// A network of a section is trained on the section's clips alone.
pub(crate) fn warn_of_few_steps(
    arguments: &EvalArguments,
    dataset: &Dataset,
    front_end: &dyn FrontEnd,
    context: &Context,
) {
    if arguments.back_end != BackEndName::Autoencoder {
        return;
    }
    let training = arguments.autoencoder.training();
    let frames = front_end.axis().len() / training.form.bins();
    let mut groups = dataset.groups();
    groups.retain(|group| {
        let steps = training.steps(group.train.len(), frames);
        !group.test.is_empty() && few_steps(&training, steps).is_some()
    });
    let Some(least) = groups.iter().min_by_key(|group| group.train.len()) else { return };
    let steps = training.steps(least.train.len(), frames);
    if let Some(note) = few_steps(&training, steps) {
        let where_else = match groups.len() - 1 {
            0 => String::new(),
            others => format!(" (and few in {})", count(others, "other section")),
        };
        context.printer.note(format!("{}{where_else}: {note}", least.name()));
    }
}

/// The one system of an evaluation.
pub(crate) fn system(
    arguments: &EvalArguments,
    spec: &FrontEndSpec,
    front_end: &dyn FrontEnd,
    context: &Context,
) -> anyhow::Result<SystemSettings> {
    let detector = || -> anyhow::Result<BeamSettings> {
        let usual = context.front_ends.usual_detector(spec, front_end)?;
        let detector = arguments.comparing.detector_over(&usual, false, front_end)?;
        let detector =
            BeamSettings { views: views(arguments, detector.views, front_end)?, ..detector };
        detector.clone().check(front_end.axis().len())?;
        Ok(detector)
    };
    Ok(SystemSettings {
        name: SYSTEM.to_owned(),
        back_end: match arguments.back_end {
            BackEndName::Nearest => BackEnd::Nearest,
            BackEndName::Genrep => BackEnd::GenRep,
            BackEndName::Mahalanobis => BackEnd::Mahalanobis,
            BackEndName::PcaResidual => BackEnd::PcaResidual,
            BackEndName::Gmm => BackEnd::Mixture,
            BackEndName::KMeans => BackEnd::KMeans,
            BackEndName::Autoencoder => return Ok(autoencoder(arguments)),
        },
        preset: unchanged_preset(arguments),
        front_end: spec.name.clone(),
        convention: spec.convention.clone(),
        detector: arguments.back_end.compares().then(detector).transpose()?,
        standardisation: Standardisation::LeftOut,
        ..SystemSettings::default()
    })
}

/// The views that were asked for, or the method's.
fn views(
    arguments: &EvalArguments,
    of_method: Vec<View>,
    front_end: &dyn FrontEnd,
) -> anyhow::Result<Vec<View>> {
    let views = &arguments.views;
    if views.is_empty() {
        return Ok(of_method);
    }
    let (name, has) = (front_end.identity().name, front_end.views());
    anyhow::ensure!(
        front_end.members().iter().all(|member| member.views.is_empty()),
        "--views says which views are compared, and the members of {name} say so themselves in parentheses; \
         leave it out"
    );
    if let Some(view) = views.iter().find(|view| !has.contains(view)) {
        let has: Vec<String> = has.iter().map(ToString::to_string).collect();
        anyhow::bail!("--views {view}: {name} has only {}", has.join(" and "));
    }
    anyhow::ensure!(
        views.len() == views.iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(),
        "--views names a view twice; name each once"
    );
    Ok(views.clone())
}

fn autoencoder(arguments: &EvalArguments) -> SystemSettings {
    let AutoencoderArguments { network, error_score, epochs, seed } = arguments.autoencoder;
    SystemSettings {
        name: SYSTEM.to_owned(),
        back_end: BackEnd::Autoencoder,
        front_end: SpectrogramFrontEnd::NAME.to_owned(),
        convention: Some(network.unwrap_or_default().name().to_owned()),
        error_score: error_score.unwrap_or_default(),
        epochs,
        seed: Some(seed.unwrap_or(TrainingSettings::default().seed)),
        ..SystemSettings::default()
    }
}

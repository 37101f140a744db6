//! What `fit` and `model add` learn with.

use anyhow::Context as _;
use auscult::{ClipSettings, FrontEndChoice, Learn, LearnMethod, Sources};

use crate::{
    args::{FitArguments, InputArguments, MethodName, VisitArguments},
    context::Context,
    options::{front_end::rules, network, presets, settings_file, unused::refuse},
};

/// The recordings that were named, with the visit and domain that all of them have.
pub(crate) fn sources(input: &InputArguments, visits: &VisitArguments) -> anyhow::Result<Sources> {
    let mut sources = input.sources()?;
    if let Some(visit) = &visits.visit {
        sources = sources.of_visit(visit);
    }
    if let Some(domain) = &visits.domain {
        sources = sources.of_domain(domain);
    }
    Ok(sources)
}

/// Everything that decides what a model's numbers are.
pub(crate) fn learn(arguments: &FitArguments, context: &Context) -> anyhow::Result<Learn> {
    let memory = &arguments.memory;
    anyhow::ensure!(memory.max_references != Some(0), "--max-references must be at least 1, got 0");
    let clip = arguments.front_end.clip_of(&arguments.input, ClipSettings::default())?;
    let learn = Learn {
        clip,
        channel: arguments.front_end.channel(),
        hop_seconds: arguments.input.hop_seconds,
        rules: rules(arguments.input.clips),
        label_folders: arguments.visits.label_folders(),
        front_ends: context.front_ends.clone(),
        max_references: memory.max_references,
        storage: memory.storage,
        false_alarm_rate: memory.false_alarm_rate,
        confidence: memory.confidence,
        calibration: memory.calibration,
        alarm_budget: memory.at_most,
        control: context.control(),
        ..Learn::default()
    };
    let (front_end, comparing) = (&arguments.front_end, &arguments.comparing);
    if comparing.method == Some(MethodName::Autoencoder) {
        let settings = [("--settings", arguments.settings.is_some())];
        network::refuse_comparing(front_end, comparing, &settings, &context.front_ends)?;
        let network = network::model_settings(arguments);
        network.training.check()?;
        return Ok(Learn { method: LearnMethod::Autoencoder(network), ..learn });
    }
    let folds = [("--folds", arguments.folds.is_some())];
    arguments.autoencoder.refuse_without(&folds, "--method autoencoder")?;
    if let Some(path) = &arguments.settings {
        let file = settings_file::load(path, &context.front_ends)?;
        return settings_file::apply(&file, arguments, &context.front_ends, learn)
            .with_context(|| path.display().to_string());
    }
    if let Some(preset) = presets::chosen(arguments.preset, front_end, comparing)? {
        let learn = Learn { preset, ..learn };
        return presets::apply(learn, comparing);
    }
    let spec = front_end.spec();
    if let [only] = spec.members()?.as_slice()
        && only.options.is_some()
    {
        let why = "belongs in the parentheses of --front-end, where the others stand";
        refuse(&[("--method", comparing.method.is_some())], why)?;
        refuse(&comparing.given(), why)?;
    }
    let made = front_end.build_spec(&spec, clip, &context.front_ends)?;
    let usual = context.front_ends.usual_detector(&spec, &*made)?;
    let detector = comparing.detector_from(&usual, &*made)?;
    detector.clone().check(made.axis().len())?;
    let (front_end, method) = (FrontEndChoice::Custom(made), LearnMethod::Compare(detector));
    Ok(Learn { front_end, method, ..learn })
}

/// Learning more for a model that is there already: it has its own front end.
pub(crate) fn learn_more(
    input: &InputArguments,
    visits: &VisitArguments,
    context: &Context,
) -> Learn {
    Learn {
        hop_seconds: input.hop_seconds,
        rules: rules(input.clips),
        label_folders: visits.label_folders(),
        control: context.control(),
        ..Learn::default()
    }
}

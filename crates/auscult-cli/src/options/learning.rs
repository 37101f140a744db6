//! What `fit` and `model add` learn with.

use anyhow::Context as _;
use auscult::{
    ClipSettings, FrontEndChoice, LabelFolders, Learn, LearnMethod, Sources, audio::Label,
};

use crate::{
    args::{FitArguments, InputArguments, MethodName, TuneArguments, VisitArguments},
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

/// Whether folder names are labels: as was typed; otherwise they are if there is no doubt, which is then said.
pub(crate) fn label_folders(
    visits: &VisitArguments,
    sources: &Sources,
    context: &Context,
) -> LabelFolders {
    if visits.label_folders.is_some() || !sources.has_clear_labels() {
        return visits.label_folders();
    }
    let names = |wanted: Label| {
        let folders = sources.label_folders().iter().filter(|folder| folder.label == wanted);
        let names: Vec<String> = folders.map(|it| it.path.display().to_string()).collect();
        names.join(", ")
    };
    context.printer.note(format!(
        "folder names are labels: learning from {}, leaving out {} (--label-folders ignore takes them as visits)",
        names(Label::Normal),
        names(Label::Anomaly)
    ));
    LabelFolders::Use
}

/// Everything that decides what a model's numbers are.
pub(crate) fn learn(arguments: &FitArguments, context: &Context) -> anyhow::Result<Learn> {
    let memory = &arguments.memory;
    anyhow::ensure!(memory.max_references != Some(0), "--max-references must be at least 1, got 0");
    let has_length = arguments.front_end.clip_seconds.is_some() || arguments.settings.is_some();
    let usual = if has_length {
        ClipSettings::default()
    } else {
        arguments.input.usual_clip(&context.printer)?
    };
    let clip = arguments.front_end.clip_of(&arguments.input, usual)?;
    let learn = Learn {
        clip,
        clip_of_recordings: false,
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
    if let Some(preset) = arguments.preset {
        presets::refuse_beside(preset, front_end, comparing)?;
        presets::refuse_weights(preset, &context.front_ends)?;
    }
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
    if let Some(preset) = presets::chosen(arguments.preset, front_end, comparing) {
        let learn = Learn { preset, ..learn };
        return presets::apply(learn, front_end, comparing);
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
    sources: &Sources,
    context: &Context,
) -> Learn {
    Learn {
        hop_seconds: input.hop_seconds,
        rules: rules(input.clips),
        label_folders: label_folders(visits, sources, context),
        control: context.control(),
        ..Learn::default()
    }
}

/// Length and rate of the clips that settings are chosen with.
pub(crate) fn clip_to_tune(
    arguments: &TuneArguments,
    context: &Context,
) -> auscult::Result<ClipSettings> {
    let sample_rate = arguments.input.hertz(arguments.sample_rate)?;
    let seconds = match arguments.clip_seconds {
        Some(seconds) => seconds,
        None => arguments.input.usual_clip(&context.printer)?.seconds,
    };
    Ok(ClipSettings { sample_rate, seconds })
}

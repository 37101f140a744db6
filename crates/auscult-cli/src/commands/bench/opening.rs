//! What the subcommands share: opening data, progress.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{
    ClipLength, ClipRules, ClipSettings, FrontEnd, FrontEndSpec, FrontEnds, Reading,
    audio::ChannelRule, encoders::EncoderRequest,
};
use auscult_eval::{
    datasets::{Dataset, DatasetKind, Judging, Truth},
    given::GivenFrontEnd,
    protocol::Protocol,
    run::{FrontEndName, RunFacts},
};

use crate::{
    advice::describe,
    args::{DataArguments, RunArguments},
    context::Context,
};

/// Opens a data set and keeps what was asked for; says what was odd.
pub(super) fn open(
    kind: DatasetKind,
    roots: &[PathBuf],
    arguments: &DataArguments,
    sets: &[String],
    judging: Judging,
    context: &Context,
) -> anyhow::Result<Dataset> {
    let truth = Truth::open_for(kind, &arguments.truth)?;
    if truth.is_none() && !arguments.truth.is_empty() {
        context.printer.note(format!("{kind}: the ground truth given is of another year"));
    }
    let mut dataset = Dataset::open(kind, roots, truth.as_ref())?;
    let sets = if arguments.split.is_empty() { sets } else { &arguments.split };
    dataset.keep(&arguments.machine, sets)?;
    if arguments.supplemental {
        dataset.learn_from_supplemental()?;
    }
    if judging == Judging::LeaveOneOut {
        dataset.leave_one_out()?;
    }
    for remark in dataset.remarks() {
        context.printer.note(remark);
    }
    Ok(dataset)
}

/// What has nothing to be judged with.
pub(super) fn untested(dataset: &Dataset) -> Option<String> {
    let names = dataset.untested();
    (!names.is_empty()).then(|| {
        let (kind, names) = (dataset.kind, names.join(", "));
        format!("{kind}: no test clips, and so no figures: {names}; auscult data check says what is there")
    })
}

/// Names in quotes: those of systems may have commas in them.
pub(super) fn quoted<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> String {
    names.into_iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The data sets that are there; of the others the command that fetches them is printed.
pub(super) fn open_all(
    arguments: &RunArguments,
    protocol: &Protocol,
    facts: &mut RunFacts,
    context: &Context,
) -> anyhow::Result<Vec<Dataset>> {
    let data = &arguments.data;
    if let Some(kind) = arguments.dataset {
        return Ok(vec![open(kind, &data.data, data, &[], Judging::Split, context)?]);
    }
    let mut datasets = Vec::new();
    for &kind in &protocol.datasets {
        let is_only_one = protocol.datasets.len() == 1;
        let roots: Vec<PathBuf> =
            data.data.iter().filter_map(|root| kind.locate(root, is_only_one)).collect();
        if roots.is_empty() {
            let note = not_run(kind, protocol);
            context.printer.note(&note);
            facts.not_run.push(note);
        } else {
            datasets.push(open(kind, &roots, data, &protocol.sets, Judging::Split, context)?);
        }
    }
    anyhow::ensure!(
        !datasets.is_empty(),
        "none of {} is in {}; put each in a folder of its name, or say --dataset if ROOT is one of them",
        protocol.datasets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        data.data.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(" and "),
    );
    Ok(datasets)
}

fn not_run(kind: DatasetKind, protocol: &Protocol) -> String {
    format!(
        "{kind}: skipped, data set not found; auscult data download {kind} -o DATA/{kind}, then auscult bench run {} --data DATA --out RUN",
        protocol.name
    )
}

/// The embeddings that somebody computed, if the run has any.
pub(super) fn own(
    table: Option<&Path>,
    band_width: Option<usize>,
    datasets: &[Dataset],
    clip: ClipSettings,
    channel: ChannelRule,
) -> anyhow::Result<Option<GivenFrontEnd>> {
    let Some(table) = table else { return Ok(None) };
    let reading = Reading::new(clip, channel, None, ClipRules::protocol())?;
    Ok(Some(GivenFrontEnd::from_table(table, band_width, datasets, &reading)?))
}

/// A front end by name: somebody's own, built in, or an encoder on this machine.
pub(super) fn front_end(
    named: &FrontEndName,
    length: ClipLength,
    front_ends: &FrontEnds,
    own: Option<&GivenFrontEnd>,
) -> Result<Arc<dyn FrontEnd>, String> {
    if let Some(own) = own.filter(|own| own.identity().name == named.name) {
        return Ok(Arc::new(own.clone()));
    }
    let spec = FrontEndSpec {
        name: named.name.clone(),
        convention: named.convention.clone(),
        encoder: EncoderRequest { precision: named.precision, ..EncoderRequest::default() },
    };
    front_ends.named(&spec, length).map_err(|error| describe(&error.into()))
}

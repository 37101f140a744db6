//! `auscult bench list`: which protocols there are, what they need, and what of that is missing here.

use std::{collections::BTreeMap, path::Path};

use auscult::{ClipLength, ClipSettings};
use auscult_eval::{datasets::DatasetKind, protocol::Protocol, run::FrontEndName};

use super::opening;
use crate::{
    Outcome,
    args::ListArguments,
    context::Context,
    tables::protocols::{self, Listed, Needed},
};

/// The front ends of the paper's table of costs; the command measures every other one that is here, too.
const OF_COST: [&str; 4] = ["log-mel", "mfcc", "lpc", "beats-iter3"];

pub(super) fn run(arguments: &ListArguments, context: &Context) -> anyhow::Result<Outcome> {
    // Each is made once: an encoder reads its weights.
    let mut problems: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut listed = Vec::new();
    for (protocol, also) in Protocol::all()? {
        let length = protocol.clip().check()?;
        let mut needed = |(called, name)| needed(called, &name, length, &mut problems, context);
        let front_ends = protocol.front_ends().into_iter().map(&mut needed).collect();
        let datasets = protocol.datasets.iter().map(|&kind| dataset(kind, arguments)).collect();
        listed.push(Listed {
            command: format!("auscult bench run {} --data ROOT --out DIR", protocol.name),
            name: protocol.name,
            also: also.to_vec(),
            title: protocol.title,
            paper: protocol.paper,
            datasets,
            front_ends,
        });
    }
    let length = ClipSettings::default().check()?;
    let of_cost = OF_COST.map(|name| {
        let named = FrontEndName { name: name.to_owned(), convention: None, precision: None };
        needed(name.to_owned(), &named, length, &mut problems, context)
    });
    listed.push(Listed {
        name: "cost".to_owned(),
        also: vec!["table-6"],
        title: "What a clip costs on this machine".to_owned(),
        paper: "Table 6 (tab:cost_frontends)".to_owned(),
        command: "auscult bench cost".to_owned(),
        datasets: Vec::new(),
        front_ends: of_cost.into(),
    });
    if arguments.json {
        context.printer.line(serde_json::to_string_pretty(&listed)?)?;
    } else {
        context.printer.text(&protocols::describe(&listed))?;
    }
    Ok(Outcome::Done)
}

/// One of the paper's tables is no protocol.
pub(super) fn refuse_cost(protocol: &Path) -> anyhow::Result<()> {
    let is_cost = protocol == Path::new("table-6") && !protocol.exists();
    anyhow::ensure!(
        !is_cost,
        "table-6 is what a clip costs on this machine, and needs no data: auscult bench cost"
    );
    Ok(())
}

/// A front end, and why it is not here; each is made once.
fn needed(
    called: String,
    name: &FrontEndName,
    length: ClipLength,
    problems: &mut BTreeMap<String, Option<String>>,
    context: &Context,
) -> Needed {
    let make = || opening::front_end(name, length, &context.front_ends, None).err();
    let reason = problems.entry(called.clone()).or_insert_with(make).clone();
    Needed { name: called, found: Some(reason.is_none()), reason }
}

fn dataset(kind: DatasetKind, arguments: &ListArguments) -> Needed {
    let is_there = || {
        arguments.data.iter().any(|root| kind.locate(root, kind == DatasetKind::Folder).is_some())
    };
    let found = (!arguments.data.is_empty()).then(is_there);
    let reason = (found == Some(false) && kind != DatasetKind::Folder)
        .then(|| format!("auscult data download {kind} -o ROOT/{kind}"));
    Needed { name: kind.to_string(), found, reason }
}

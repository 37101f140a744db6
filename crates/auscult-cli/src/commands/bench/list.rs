//! `auscult bench list`: which protocols there are, what they need, and what of that is missing here.

use std::collections::BTreeMap;

use auscult_eval::{datasets::DatasetKind, protocol::Protocol};

use super::opening;
use crate::{
    Outcome,
    args::ListArguments,
    context::Context,
    tables::protocols::{self, Listed, Needed},
};

pub(super) fn run(arguments: &ListArguments, context: &Context) -> anyhow::Result<Outcome> {
    // Each is made once: an encoder reads its weights.
    let mut problems: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut listed = Vec::new();
    for (protocol, also) in Protocol::all()? {
        let length = protocol.clip().check()?;
        let front_ends = protocol.front_ends().into_iter().map(|(called, name)| {
            let make = || opening::front_end(&name, length, &context.front_ends, None).err();
            let reason = problems.entry(called.clone()).or_insert_with(make).clone();
            Needed { name: called, found: Some(reason.is_none()), reason }
        });
        let front_ends = front_ends.collect();
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
    if arguments.json {
        context.printer.line(serde_json::to_string_pretty(&listed)?)?;
    } else {
        context.printer.text(&protocols::describe(&listed))?;
    }
    Ok(Outcome::Done)
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

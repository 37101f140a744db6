//! The protocols that come with the program.

use std::{collections::BTreeMap, fmt::Write};

use serde::Serialize;

use super::{Align, Table};

/// A protocol and what it needs.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// Its other names: tables and figures of the paper.
    pub(crate) also: Vec<&'static str>,
    pub(crate) title: String,
    /// What it repeats.
    pub(crate) paper: String,
    pub(crate) command: String,
    pub(crate) datasets: Vec<Needed>,
    pub(crate) front_ends: Vec<Needed>,
}

/// A data set or front end.
#[derive(Debug, Serialize)]
pub(crate) struct Needed {
    pub(crate) name: String,
    /// Whether it is here; `null` if nobody said where to look.
    pub(crate) found: Option<bool>,
    /// Why not, and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// A line a protocol, then what is missing on this machine and how to get it.
pub(crate) fn describe(protocols: &[Listed]) -> String {
    let mut table = Table::new(&[
        ("protocol", Align::Left),
        ("also", Align::Left),
        ("what it is", Align::Left),
        ("data", Align::Left),
        ("front ends missing here", Align::Left),
    ]);
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    for protocol in protocols {
        let missing: Vec<&Needed> =
            protocol.front_ends.iter().filter(|needed| needed.found == Some(false)).collect();
        for needed in missing.iter().copied().chain(&protocol.datasets) {
            if let Some(reason) = &needed.reason {
                reasons.insert(&needed.name, reason);
            }
        }
        let names: Vec<&str> = missing.iter().map(|needed| &*needed.name).collect();
        let data: Vec<String> = protocol.datasets.iter().map(found).collect();
        table.row([
            protocol.name.clone(),
            protocol.also.join(", "),
            protocol.title.clone(),
            if data.is_empty() { "none".to_owned() } else { data.join(", ") },
            if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        ]);
    }
    let mut text = table.render();
    if !reasons.is_empty() {
        text.push_str("\nmissing here:\n");
    }
    for (name, reason) in reasons {
        let _ = writeln!(text, "  {name}: {reason}");
    }
    text
}

fn found(needed: &Needed) -> String {
    match needed.found {
        None => needed.name.clone(),
        Some(true) => format!("{} (found)", needed.name),
        Some(false) => format!("{} (not found)", needed.name),
    }
}

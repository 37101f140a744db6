//! `auscult bench run`: a protocol on data sets.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use auscult_core::{ClipLength, ClipSettings, FrontEnd};
use auscult_eval::{
    datasets::{Dataset, DatasetKind},
    metrics::{Domain, Label},
    protocol::Protocol,
    run::{
        FrontEndName, RunFacts, RunPlan, RunResults, RunSettings, SectionResult, evaluate,
        identities, latex, markdown, page, remove_results, remove_stale_sections,
        too_many_neighbours,
    },
};

use super::opening::{self, Bars};
use crate::{
    Outcome,
    args::{EncoderArguments, RunArguments},
    front_ends,
    output::{Format, Record, RecordWriter},
    printer::{Printer, count},
    reading,
};

/// The protocols that come with the program.
const PROTOCOLS: [(&str, &str); 10] = [
    ("table-3", include_str!("../../../../../protocols/table-3.toml")),
    ("table-5", include_str!("../../../../../protocols/table-5.toml")),
    ("figure-windows", include_str!("../../../../../protocols/figure-windows.toml")),
    ("figure-k", include_str!("../../../../../protocols/figure-k.toml")),
    ("figure-mimii", include_str!("../../../../../protocols/figure-mimii.toml")),
    ("diagnostics", include_str!("../../../../../protocols/diagnostics.toml")),
    ("genrep", include_str!("../../../../../protocols/genrep.toml")),
    ("baselines", include_str!("../../../../../protocols/baselines.toml")),
    ("trained", include_str!("../../../../../protocols/trained.toml")),
    ("my-folder", include_str!("../../../../../protocols/my-folder.toml")),
];

pub(super) fn run(arguments: &RunArguments, printer: &Printer) -> anyhow::Result<Outcome> {
    let mut protocol = protocol(&arguments.protocol)?;
    if let Some(seconds) = arguments.clip_seconds.filter(|&it| it != protocol.clip_seconds) {
        protocol.clip_seconds = seconds;
        protocol.forget_paper();
    }
    let clip = ClipSettings { sample_rate: protocol.sample_rate, seconds: protocol.clip_seconds };
    clip.check()?;
    let channel = reading::channel(&protocol.channel)?;
    let mut facts = facts();
    let datasets = open(arguments, &protocol, &mut facts, printer)?;
    for dataset in &datasets {
        facts.data.insert(dataset.kind.to_string(), dataset.fingerprint());
        facts.remarks.extend(dataset.remarks());
        if let Some(note) = too_many_neighbours(dataset, &protocol.systems) {
            printer.note(&note);
            facts.remarks.push(format!("{}: {note}", dataset.kind));
        }
        if let Some(problem) = opening::untested(dataset) {
            printer.problem(&problem);
            facts.not_run.push(problem);
        }
    }
    let named = FrontEndName::all(&protocol.systems, &protocol.diagnostics);
    let names: Vec<&str> = named.values().map(|front_end| front_end.name.as_str()).collect();
    let what = format!("{}, all that the protocol has,", names.join(", "));
    front_ends::refuse_unused_file(&what, &names.join("+"), "leave it out")?;
    facts.front_ends = identities(&named, clip.check()?, &front_end);
    claim(arguments, &protocol, &facts)?;
    let cache = opening::cache(&arguments.data);
    let bars = Bars::default();
    let settings = RunSettings {
        clip,
        channel,
        cache: cache.as_deref(),
        out: Some(&arguments.out),
        front_ends: &front_end,
        progress: &bars,
    };
    let mut sections = Vec::new();
    for dataset in &datasets {
        let Some(found) = evaluate(dataset, &protocol.systems, &protocol.diagnostics, &settings)?
        else {
            bars.finish();
            anyhow::bail!(
                "stopped; finished sections are kept in {} and the same command goes on from there",
                arguments.out.display()
            );
        };
        write_scores(&arguments.out, dataset.kind, &found.sections)?;
        sections.extend(found.sections);
        facts.missing = found.missing;
    }
    bars.finish();
    let results = RunResults::new(protocol, facts, &sections, arguments.samples);
    write(&arguments.out, &results)?;
    remove_stale_sections(&arguments.out, &results.section_files)?;
    printer.text(&markdown(&results))?;
    printer.note(format!(
        "written to {}: results.json, results.md, results.tex, index.html",
        arguments.out.display()
    ));
    let missing = results.rows.iter().filter(|row| row.problem.is_some()).count();
    if missing > 0 {
        printer
            .problem(format!("{} without a score; the reasons are above", count(missing, "cell")));
    }
    for missing in &results.facts.missing {
        printer.problem(format!("not run: {}: {}", missing.front_end, missing.reason));
    }
    let facts = &results.facts;
    let complete = missing == 0
        && results.problems.is_empty()
        && facts.not_run.is_empty()
        && facts.missing.is_empty();
    Ok(if complete { Outcome::Done } else { Outcome::Incomplete })
}

/// Makes the folder this run's, unless it is another's.
fn claim(arguments: &RunArguments, protocol: &Protocol, facts: &RunFacts) -> anyhow::Result<()> {
    let plan = RunPlan {
        protocol: protocol.clone(),
        data: facts.data.clone(),
        front_ends: facts.front_ends.clone(),
        samples: arguments.samples,
    };
    let out = &arguments.out;
    if arguments.replace {
        remove_results(out)?;
    } else {
        let differences = plan.differences(out)?;
        anyhow::ensure!(
            differences.is_empty(),
            "{} holds another run, nothing was done: {}; choose another folder with --out, or give --replace",
            out.display(),
            differences.join("; ")
        );
    }
    Ok(plan.claim(out)?)
}

/// A front end by name: built in, or an encoder on this machine.
fn front_end(asked: &FrontEndName, length: ClipLength) -> Result<Arc<dyn FrontEnd>, String> {
    let encoder = EncoderArguments {
        precision: asked.precision.unwrap_or_default(),
        ..EncoderArguments::default()
    };
    front_ends::named(&asked.name, asked.convention.as_deref(), &encoder, length)
        .map_err(|error| format!("{error:#}"))
}

fn protocol(path: &Path) -> anyhow::Result<Protocol> {
    let own = PROTOCOLS.iter().find(|(name, _)| Path::new(name) == path);
    match own.filter(|_| !path.exists()) {
        Some((name, text)) => {
            Protocol::parse(text).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))
        }
        None if path.exists() => Ok(Protocol::open(path)?),
        None => Protocol::open(path).with_context(|| {
            let names: Vec<&str> = PROTOCOLS.iter().map(|(name, _)| *name).collect();
            format!("no protocol {}; name a file or one of {}", path.display(), names.join(", "))
        }),
    }
}

/// The data sets that are there; the others are told with the command for them.
fn open(
    arguments: &RunArguments,
    protocol: &Protocol,
    facts: &mut RunFacts,
    printer: &Printer,
) -> anyhow::Result<Vec<Dataset>> {
    let data = &arguments.data;
    if let Some(kind) = arguments.dataset {
        return Ok(vec![opening::open(kind, &data.data, data, &[], printer)?]);
    }
    let mut datasets = Vec::new();
    for &kind in &protocol.datasets {
        let is_only_one = protocol.datasets.len() == 1;
        let roots: Vec<PathBuf> =
            data.data.iter().filter_map(|root| kind.locate(root, is_only_one)).collect();
        if roots.is_empty() {
            let note = not_run(kind, protocol);
            printer.note(&note);
            facts.not_run.push(note);
        } else {
            datasets.push(opening::open(kind, &roots, data, &protocol.sets, printer)?);
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
        "{kind}: not run here, the data are not at hand; auscult data download {kind} -o DATA/{kind}, then auscult bench run {} --data DATA --out RUN",
        protocol.name
    )
}

fn facts() -> RunFacts {
    let words: Vec<String> = std::env::args().collect();
    RunFacts {
        command: std::iter::once("auscult".to_owned())
            .chain(words.into_iter().skip(1))
            .collect::<Vec<_>>()
            .join(" "),
        program: format!(
            "auscult {} ({}, {})",
            env!("CARGO_PKG_VERSION"),
            env!("AUSCULT_COMMIT"),
            env!("AUSCULT_PROFILE")
        ),
        machine: machine(),
        ..RunFacts::default()
    }
}

/// Cores and, on Linux, the processor's name.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    format!("{cores} x {name}")
}

fn write(folder: &Path, results: &RunResults) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(results)?;
    for (name, text) in [
        ("results.json", json),
        ("results.md", markdown(results)),
        ("results.tex", latex(results)),
        ("index.html", page(results)),
    ] {
        auscult_files::write_atomically(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// A row a clip and system. Builds without Parquet write CSV.
fn write_scores(
    folder: &Path,
    kind: DatasetKind,
    sections: &[SectionResult],
) -> anyhow::Result<()> {
    let columns = ["system", "set", "machine", "section", "path", "label", "domain", "score"];
    let columns = columns.map(str::to_owned).to_vec();
    let csv = folder.join(format!("scores-{kind}.csv"));
    let (format, output) = if cfg!(feature = "parquet") {
        (Format::Parquet(folder.join(format!("scores-{kind}.parquet"))), None)
    } else {
        (Format::Csv, Some(csv.as_path()))
    };
    let mut writer = RecordWriter::new(&format, columns, output)?;
    for section in sections {
        for system in &section.systems {
            for (clip, &score) in section.clips.iter().zip(&system.scores) {
                writer.write(
                    Record::default()
                        .text("system", &system.system)
                        .text("set", &section.set)
                        .text("machine", &section.machine)
                        .text("section", &section.section)
                        .text("path", &clip.name)
                        .text("label", clip.label.map_or("", Label::name))
                        .text("domain", clip.domain.map_or("", Domain::name))
                        .number("score", score),
                )?;
            }
        }
    }
    writer.finish()
}

//! `auscult encoder`: what encoders there are, where they are, and whether they work.

mod pull;
mod self_test;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context as _;
use auscult::encoders::{Checkpoint, Encoder, KNOWN, KnownEncoder};
use auscult::fetch::Checksum;
use serde_json::{Value, json};

use crate::{
    Outcome,
    args::EncoderCommand,
    context::Context,
    tables::{Align, Table},
};

pub(crate) fn run(command: &EncoderCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        EncoderCommand::List { json } => list(*json, context)?,
        EncoderCommand::Pull { name, from, sha256 } => {
            pull::run(name, from.as_deref(), sha256.as_deref(), context)?;
        }
        EncoderCommand::Check { encoder } => check(encoder, context)?,
        EncoderCommand::Info { encoder, json } => info(encoder, *json, context)?,
        EncoderCommand::Convert { encoder, output } => convert(encoder, output, context)?,
    }
    Ok(Outcome::Done)
}

fn list(json: bool, context: &Context) -> anyhow::Result<()> {
    let library = context.front_ends.encoders();
    if json {
        let encoders: Vec<Value> = KNOWN
            .iter()
            .map(|known| {
                json!({
                    "name": known.name,
                    "front_end": known.architecture.name(),
                    "source": known.source,
                    "sha256": known.sha256,
                    "here": library.where_is(known),
                    "note": known.note,
                })
            })
            .collect();
        return context.printer.line(serde_json::to_string_pretty(&encoders)?);
    }
    let mut table =
        Table::new(&[("encoder", Align::Left), ("here", Align::Left), ("about", Align::Left)]);
    for known in KNOWN {
        let here = library.where_is(known).unwrap_or_else(|| "no".to_owned());
        table.row([known.name.to_owned(), here, known.note.to_owned()]);
    }
    context.printer.text(&table.render())?;
    context.printer.note(
        "fetch one with: auscult encoder pull NAME (with --from LINK where its note says so); use a file with: \
         --encoder FILE",
    );
    Ok(())
}

/// Opens a file, or an encoder of this machine by its name.
fn open(text: &str) -> anyhow::Result<(String, Checkpoint)> {
    let path = Path::new(text);
    if path.is_file() {
        let checkpoint = Checkpoint::open(path).with_context(|| text.to_owned())?;
        return Ok((text.to_owned(), checkpoint));
    }
    let Some(known) = KnownEncoder::named(text) else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        anyhow::bail!("{text} is neither a file nor an encoder; encoders: {}", names.join(", "));
    };
    if known.name == auscult::ced_tiny::NAME {
        let name = format!("{} (part of this program)", known.name);
        return Ok((name, Checkpoint::from_static(auscult::ced_tiny::WEIGHTS)?));
    }
    let path = pulled(known).filter(|path| path.is_file());
    let Some(path) = path else {
        anyhow::bail!("{} is not on this machine; fetch it: {}", known.name, pull_command(known))
    };
    let name = path.display().to_string();
    Ok((name.clone(), Checkpoint::open(&path).context(name)?))
}

/// The command that fetches an encoder; with a place for the link where none is known here.
fn pull_command(known: &KnownEncoder) -> String {
    let from = if known.source.is_empty() { " --from LINK" } else { "" };
    format!("auscult encoder pull {}{from}", known.name)
}

/// Where an encoder is kept once it is pulled.
fn pulled(known: &KnownEncoder) -> Option<PathBuf> {
    Some(auscult::front_ends::encoder_folder()?.join(known.file))
}

fn check(text: &str, context: &Context) -> anyhow::Result<()> {
    let (name, checkpoint) = open(text)?;
    let encoder = Encoder::load(&checkpoint).with_context(|| name.clone())?;
    let facts = self_test::run(&encoder).with_context(|| name.clone())?;
    context.printer.line(format!("{name} works: {}, {facts}", encoder.label()))
}

fn info(text: &str, json: bool, context: &Context) -> anyhow::Result<()> {
    let began = Instant::now();
    let (name, checkpoint) = open(text)?;
    let encoder = Encoder::load(&checkpoint).with_context(|| name.clone())?;
    let load_seconds = began.elapsed().as_secs_f64();
    let peak = peak_memory();
    if json {
        let facts = json!({
            "file": name,
            "container": checkpoint.container().to_string(),
            "file_bytes": checkpoint.bytes(),
            "tensors": checkpoint.names().count(),
            "front_end": encoder.architecture().name(),
            "encoder": encoder.name(),
            "fingerprint": encoder.fingerprint(),
            "config": encoder.config(),
            "source_sha256": checkpoint.description().source_sha256,
            "preprocessing": encoder.preprocessing(),
            "layers": encoder.last_layer(),
            "default_layer": encoder.default_layer(),
            "width": encoder.width(),
            "heads": encoder.heads(),
            "rows": encoder.rows(),
            "class_token": encoder.has_class_token(),
            "parameters": encoder.parameters(),
            "weight_bytes": encoder.weight_bytes(),
            "instructions": encoder.isa().name(),
            "load_seconds": load_seconds,
            "peak_memory_bytes": peak,
        });
        return context.printer.line(serde_json::to_string_pretty(&facts)?);
    }
    let megabytes = |bytes: usize| format!("{:.1} MB", bytes as f64 / 1e6);
    let rows = [
        ("file", name),
        ("container", format!("{}, {}", checkpoint.container(), megabytes(checkpoint.bytes()))),
        ("encoder", encoder.name()),
        ("fingerprint", encoder.fingerprint().to_owned()),
        (
            "made from",
            match &checkpoint.description().source_sha256 {
                Some(sum) => format!("a file with sha256 {sum}"),
                None => String::new(),
            },
        ),
        ("input", encoder.preprocessing().to_owned()),
        (
            "layers",
            format!(
                "0 to {}, {} if not said otherwise",
                encoder.last_layer(),
                encoder.default_layer()
            ),
        ),
        (
            "tokens",
            format!(
                "{} values, {} heads, {} frequency rows{}",
                encoder.width(),
                encoder.heads(),
                encoder.rows(),
                if encoder.has_class_token() { ", a class token" } else { "" }
            ),
        ),
        ("parameters", format!("{:.1} million", encoder.parameters() as f64 / 1e6)),
        ("in memory", format!("{} of packed weights", megabytes(encoder.weight_bytes()))),
        ("loaded in", format!("{load_seconds:.2} s")),
        ("peak memory", peak.map_or_else(|| "unknown here".to_owned(), megabytes)),
        ("runs with", encoder.isa().name().to_owned()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        context.printer.line(format!("{name:<13}{value}"))?;
    }
    Ok(())
}

/// The most memory this process had at once, where the system says it.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<usize>().ok()? * 1024)
}

fn convert(text: &str, output: &Path, context: &Context) -> anyhow::Result<()> {
    auscult::files::check_target(output)?;
    auscult::check_result_target(output, [text])?;
    let (name, checkpoint) = open(text)?;
    let encoder = Encoder::load(&checkpoint).with_context(|| name.clone())?;
    let sha256 = Checksum::Sha256.of_bytes(checkpoint.contents());
    let bytes = encoder.convert(&checkpoint, Some(sha256))?;
    let written = Encoder::load(&Checkpoint::from_bytes(bytes.clone())?)?;
    anyhow::ensure!(
        written.fingerprint() == encoder.fingerprint(),
        "the converted weights differ from those of {name}; nothing was written"
    );
    auscult::files::write_atomically(output, &bytes)?;
    context.printer.line(format!("{}: {} from {name}", output.display(), encoder.label()))
}

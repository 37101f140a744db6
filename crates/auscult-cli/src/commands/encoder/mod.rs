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
    tables::{Align, Table, encoder::EncoderFacts},
};

pub(crate) fn run(command: &EncoderCommand, context: &Context) -> anyhow::Result<Outcome> {
    match command {
        EncoderCommand::List { json } => list(*json, context)?,
        EncoderCommand::Pull { name, from, sha256, trust } => {
            pull::run(name, from.as_deref(), sha256.as_deref(), *trust, context)?;
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
    let facts = EncoderFacts { name, checkpoint: &checkpoint, encoder: &encoder, load_seconds };
    if json {
        return context.printer.line(serde_json::to_string_pretty(&facts.as_json())?);
    }
    context.printer.text(&facts.describe())
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

//! The files of a run.

use std::path::Path;

use auscult_eval::{
    datasets::DatasetKind,
    metrics::{Domain, Label},
    run::{RunFacts, RunResults, SectionResult, latex, markdown, page},
};

use super::{Cells, Format, Record, RecordWriter};

/// What a run says of the program, the command and the machine.
pub(crate) fn run_facts(command: &str) -> RunFacts {
    RunFacts {
        command: command.to_owned(),
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

/// Writes the results in every form.
pub(crate) fn write_results(folder: &Path, results: &RunResults) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(results)?;
    for (name, text) in [
        ("results.json", json),
        ("results.md", markdown(results)),
        ("results.tex", latex(results)),
        ("index.html", page(results)),
    ] {
        auscult::files::write_atomically(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}

/// A row a clip and system. Builds without Parquet write CSV.
pub(crate) fn write_scores(
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
        (Format::Csv(Cells::AsTheyAre), Some(csv.as_path()))
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

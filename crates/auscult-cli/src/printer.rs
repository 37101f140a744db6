//! Everything the program says goes through here.

use std::{fmt::Display, io::Write};

use anstyle::{AnsiColor, Style};

/// Prints results to standard output and remarks to standard error.
///
/// Colours vanish in pipes, with `NO_COLOR`, and on terminals that have none.
#[derive(Debug, Default)]
pub(crate) struct Printer;

const NOTE: Style = AnsiColor::Yellow.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();

impl Printer {
    /// One line of a result.
    pub(crate) fn line(&self, text: impl Display) -> anyhow::Result<()> {
        Ok(writeln!(anstream::stdout().lock(), "{text}")?)
    }

    /// Text of a result as it is.
    pub(crate) fn text(&self, text: &str) -> anyhow::Result<()> {
        Ok(anstream::stdout().lock().write_all(text.as_bytes())?)
    }

    /// A remark that is not a result.
    pub(crate) fn note(&self, text: impl Display) {
        remark(NOTE, "note", text);
    }

    /// Something that could not be used; the rest goes on.
    pub(crate) fn problem(&self, text: impl Display) {
        remark(ERROR, "problem", text);
    }

    /// Why the program stops, with every cause.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
        remark(ERROR, "error", chain.join(": "));
    }
}

fn remark(style: Style, kind: &str, text: impl Display) {
    // Nobody can be told that standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "{style}{kind}:{style:#} {text}");
}

/// Bold.
pub(crate) fn strong(text: impl Display) -> String {
    format!("{STRONG}{text}{STRONG:#}")
}

/// The colour of a verdict word.
pub(crate) fn verdict(word: &str) -> String {
    let style = match word {
        "normal" => GOOD,
        "anomalous" => ERROR,
        _ => NOTE,
    };
    format!("{style}{word}{style:#}")
}

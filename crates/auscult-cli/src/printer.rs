//! Everything the program says goes through here.

use std::{fmt::Display, io::Write};

use anstyle::{AnsiColor, Style};
use anyhow::Context;
pub(crate) use auscult_core::plural as count;

/// Prints results to standard output and remarks to standard error.
///
/// Colours vanish in pipes, with `NO_COLOR`, and on terminals that have none.
#[derive(Debug)]
pub(crate) struct Printer;

const NOTE: Style = AnsiColor::Yellow.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();

#[expect(clippy::unused_self, reason = "who can print is told by who is given a printer")]
impl Printer {
    /// One line of a result.
    pub(crate) fn line(&self, text: impl Display) -> anyhow::Result<()> {
        self.text(&format!("{text}\n"))
    }

    /// Text of a result as it is.
    pub(crate) fn text(&self, text: &str) -> anyhow::Result<()> {
        let mut output = anstream::stdout().lock();
        output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .context("cannot write to standard output")
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
        remark(ERROR, "error", chain(error));
    }
}

/// An error and its causes, in one line; a cause its parent already quotes is not said twice.
fn chain(error: &anyhow::Error) -> String {
    let causes = error.chain().skip(1).map(ToString::to_string);
    causes.fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

fn remark(style: Style, kind: &str, text: impl Display) {
    let text = printable(&text.to_string());
    // Nobody can be told that standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "{style}{kind}:{style:#} {text}");
}

/// The text without control characters, which a file name may bring and a terminal may obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
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

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_twice() {
        let cause = || std::io::Error::other("disk on fire");
        let quoted = anyhow::Error::new(cause()).context("cannot write a: disk on fire; run");
        assert_eq!(chain(&quoted), "cannot write a: disk on fire; run");
        let plain = Err::<(), _>(cause()).context("cannot write b").unwrap_err();
        assert_eq!(chain(&plain), "cannot write b: disk on fire");
    }

    #[test]
    fn names_of_files_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\n.wav é"), "a\u{fffd}[31m\u{fffd}.wav é");
    }
}

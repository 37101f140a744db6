//! Everything the program says goes through here.

use std::{
    fmt::Display,
    io::{IsTerminal, Write},
    ops::ControlFlow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use anyhow::Context;
pub(crate) use auscult::plural as count;
use auscult::{Event, Events};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::patience;

/// Prints results to standard output, remarks and progress to standard error.
///
/// Colours vanish in pipes, with `NO_COLOR`, and on terminals that have none; so do progress bars.
#[derive(Debug, Clone, Default)]
pub(crate) struct Printer {
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

const NOTE: Style = AnsiColor::Yellow.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();

impl Printer {
    /// One line of a result.
    pub(crate) fn line(&self, text: impl Display) -> anyhow::Result<()> {
        self.text(&format!("{text}\n"))
    }

    /// Text of a result. What names of files and models bring cannot steer a terminal; a pipe gets it as it is.
    pub(crate) fn text(&self, text: &str) -> anyhow::Result<()> {
        if std::io::stdout().is_terminal() { self.raw(&steady(text)) } else { self.raw(text) }
    }

    /// A table on a terminal, whose edge cuts lines that are too long; it may take the place of all that is there.
    pub(crate) fn screen(&self, table: &str, is_cleared: bool) -> anyhow::Result<()> {
        let clear = if is_cleared { "\u{1b}[H\u{1b}[2J" } else { "" };
        self.raw(&format!("{clear}\u{1b}[?7l{}\u{1b}[?7h", steady(table)))
    }

    fn raw(&self, text: &str) -> anyhow::Result<()> {
        self.beside_bar(|| {
            patience::writing(|| {
                let mut output = anstream::stdout().lock();
                output.write_all(text.as_bytes()).and_then(|()| output.flush())
            })
        })
        .context("cannot write to standard output")
    }

    /// A remark that is not a result.
    pub(crate) fn note(&self, text: impl Display) {
        self.remark(NOTE, "note", &text);
    }

    /// Something that could not be used; the rest goes on.
    pub(crate) fn problem(&self, text: impl Display) {
        self.remark(ERROR, "problem", &text);
    }

    /// Why the program stops, with every cause.
    pub(crate) fn error(&self, text: impl Display) {
        self.remark(ERROR, "error", &text);
    }

    fn remark(&self, style: Style, kind: &str, text: &dyn Display) {
        let text = printable(&text.to_string());
        // Nobody can be told that standard error is closed.
        self.beside_bar(|| {
            let _ = writeln!(anstream::stderr().lock(), "{style}{kind}:{style:#} {text}");
        });
    }

    /// Prints without tearing the progress bar.
    pub(crate) fn beside_bar<T>(&self, print: impl FnOnce() -> T) -> T {
        match &*self.bar() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a progress bar that counts `what`, with a name before it if it has one.
    pub(crate) fn start_bar(&self, total: usize, what: &str, name: &str) {
        self.end_bar();
        *self.bar() = new_bar(total, what, name);
    }

    /// Sets how far the bar is, with a message behind it.
    pub(crate) fn move_bar(&self, position: usize, message: String) {
        if let Some(bar) = &*self.bar() {
            bar.set_position(position as u64);
            bar.set_message(message);
        }
    }

    /// One more is done.
    pub(crate) fn advance_bar(&self) {
        if let Some(bar) = &*self.bar() {
            bar.inc(1);
        }
    }

    /// Takes the bar away.
    pub(crate) fn end_bar(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }
}

impl Events for Printer {
    fn event(&self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Started { what, total, name } => self.start_bar(total, what, name),
            Event::Advanced => self.advance_bar(),
            Event::Finished => self.end_bar(),
            Event::Problem(text) => self.problem(text),
            Event::Note(text) => self.note(text),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A bar on a terminal; none in a pipe, and none for a single thing.
fn new_bar(total: usize, what: &str, name: &str) -> Option<ProgressBar> {
    if total < 2 || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    let head = if name.is_empty() { "" } else { "{prefix} " };
    let template = format!("{head}{{bar:30}} {{pos}}/{{len}} {what}{{left}} {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        // Before the first is done nobody knows how long the others take.
        let left = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            if state.pos() > 0 && state.eta().as_secs() > 0 {
                let _ = write!(text, ", {} left", HumanDuration(state.eta()));
            }
        };
        bar.set_style(style.with_key("left", left));
    }
    bar.set_prefix(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    Some(bar)
}

/// The text without control characters, which a file name may bring and a terminal may obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|letter| if steers(letter) { REPLACED } else { letter }).collect()
}

/// The same for several lines.
pub(crate) fn without_controls(text: &str) -> String {
    let is_kept = |letter: char| matches!(letter, '\n' | '\r' | '\t') || !steers(letter);
    text.chars().map(|letter| if is_kept(letter) { letter } else { REPLACED }).collect()
}

/// The same for lines in the styles of this program.
fn steady(text: &str) -> String {
    let styles = [NOTE, ERROR, STRONG, GOOD].map(|style| style.to_string());
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        found.push_str(&without_controls(&rest[..at]));
        rest = &rest[at..];
        let known = styles.iter().map(String::as_str).chain([RESET]);
        let style = known.filter(|style| rest.starts_with(style)).max_by_key(|style| style.len());
        let (taken, shown) = style.map_or((1, "\u{fffd}"), |style| (style.len(), style));
        found.push_str(shown);
        rest = &rest[taken..];
    }
    found.push_str(&without_controls(rest));
    found
}

/// Stands for what a terminal must not get.
const REPLACED: char = '\u{fffd}';

/// Ends a style.
const RESET: &str = "\u{1b}[0m";

/// Whether a terminal would obey the character, or write what follows in another direction.
fn steers(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control()
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

/// The colour of a machine's state.
pub(crate) fn state(word: &str) -> String {
    let style = match word {
        "normal" => GOOD,
        "alarm" | "sensor-fault" => ERROR,
        _ => NOTE,
    };
    format!("{style}{word}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_cannot_steer_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\n.wav é"), "a\u{fffd}[31m\u{fffd}.wav é");
        assert_eq!(printable("gnp.\u{202e}wav"), "gnp.\u{fffd}wav");
    }

    #[test]
    fn styles_reach_the_terminal_and_nothing_else_that_it_obeys() {
        let styled = format!("{}\t{}\n", verdict("anomalous"), strong("pump"));
        assert_eq!(steady(&styled), styled);
        assert_eq!(steady("a\u{1b}]0;title\u{7}b\u{9b}2J"), "a\u{fffd}]0;title\u{fffd}b\u{fffd}2J");
        assert_eq!(steady("\u{1b}[8mhidden"), "\u{fffd}[8mhidden");
    }
}

//! Progress bars: on a terminal, never in a pipe.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that counts `what` of something with a name.
pub(crate) fn named_bar(total: usize, what: &'static str, name: &str) -> ProgressBar {
    let bar = bar(total, what);
    bar.set_prefix(name.to_owned());
    let template = format!("{{prefix}} {{bar:30}} {{pos}}/{{len}} {what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// A bar that counts `what`, with rate and time left.
pub(crate) fn bar(total: usize, what: &'static str) -> ProgressBar {
    if total < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
    let template = format!("{{bar:30}} {{pos}}/{{len}} {what}, {{per_sec}}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

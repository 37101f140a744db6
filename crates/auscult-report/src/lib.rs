#![doc = include_str!("../README.md")]

mod input;

pub use self::input::{ReportClip, ReportInput, ReportSound};

/// At most so many clips are shown in detail; the ones beyond it only stand in charts and table.
pub const MOST_DETAILS: usize = 10;

/// Renders the page: one HTML document that needs nothing else.
///
/// The same input gives the same bytes.
pub fn render(input: &ReportInput<'_>) -> String {
    format!("<!DOCTYPE html><title>{}</title>", input.clips.iter().filter_map(ReportClip::verdict).count() + input.clips.iter().filter_map(ReportClip::score).count())
}

#![doc = include_str!("../README.md")]

// The modules, in the order the page is made.

// 1. What the caller knows.
mod input;

// 2. What the sections share, and the page around them.
mod page;

// 3. The sections, from the verdict down to the settings.
mod sections;

// 4. The pictures in them.
mod charts;

// 5. Levels over time and frequency, for one of the pictures.
mod spectrum;

// 6. Pictures and sound as bytes inside the page.
mod encode;

// 7. Words and numbers.
mod bands;

mod text;

#[cfg(test)]
mod testing;

pub use self::input::{ReportClip, ReportInput, ReportSound};

/// At most so many clips are shown in detail. Sound beyond that is not in the page.
pub const MOST_DETAILS: usize = 10;

/// Renders the page: one HTML document that needs nothing else.
///
/// Clips with sound are shown in detail, the anomalous ones first and the furthest first among
/// them, at most [`MOST_DETAILS`]. Every string is escaped, no score is too odd to be drawn, and
/// the same input gives the same bytes.
pub fn render(input: &ReportInput<'_>) -> String {
    page::Page::new(input).to_string()
}

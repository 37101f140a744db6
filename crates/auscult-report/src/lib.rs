#![doc = include_str!("../README.md")]

// The modules, in the order the page is made.

// 1. What the caller knows.
mod input;

// 2. What the sections share, and the page around them; the same facts for programs.
mod page;

mod json;

// 3. The sections, from the verdict down to the settings.
mod sections;

// 4. The pictures in them.
mod charts;

// 5. Levels over time and frequency, for one of the pictures.
mod spectrum;

// 6. Pictures and sound as bytes inside the page.
mod encode;

// 7. Texts and numbers.
mod bands;

mod text;

#[cfg(test)]
mod testing;

pub use self::input::{MOST_DETAILS, Report};
use self::input::{ReportClip, ReportSound};
use auscult::{ClipRecord, Machine};

/// The page of a machine: one HTML document that needs nothing else.
///
/// [`Report`] has more to choose from: a title, notes, and the same facts as JSON.
pub fn page(machine: &Machine, records: &[ClipRecord]) -> String {
    Report::new("Machine", machine, records).render()
}

impl Report<'_> {
    /// Renders the page: one HTML document that needs nothing else.
    ///
    /// Clips with sound are shown in detail, the anomalous ones first and the furthest first among
    /// them, at most [`MOST_DETAILS`]. Every string is escaped, no score is too odd to be drawn, and
    /// the same input gives the same bytes.
    pub fn render(&self) -> String {
        page::Page::new(self).to_string()
    }

    /// The facts of the page as one JSON object, for programs; sound and pictures are left out.
    ///
    /// The same input gives the same bytes. Numbers that are not finite are `null`.
    ///
    /// # Errors
    ///
    /// Only if a number or name cannot be written as JSON, which none of this crate's types do.
    pub fn to_json(&self) -> serde_json::Result<String> {
        json::write(&page::Page::new(self))
    }
}

#![doc = include_str!("../README.md")]

// The modules, in the order the page is made.

// 1. What the caller knows, and what is read again.
mod input;

mod hearing;

// 2. What it comes to: times, states, kinds of anomalies.
mod visits;

mod health;

mod kinds;

// 3. The page of a machine, and of several; the same facts for programs.
mod page;

mod machines;

mod json;

// 4. The sections, from the answer down to the settings.
mod sections;

// 5. The pictures in them.
mod charts;

// 6. Levels over time and frequency.
mod spectrum;

mod difference;

// 7. Pictures and sound as bytes inside the page.
mod encode;

// 8. Texts and numbers.
mod bands;

mod text;

#[cfg(test)]
mod testing;

use self::input::{ReportClip, ReportSound};
pub use self::{
    difference::ThirdOctaves, encode::flac, health::State, input::Report, machines::Machines,
    spectrum::Spectrogram, visits::moment,
};
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
    /// The first screen says whether the machine is well, since when, what differs, how sure that is and what to do;
    /// `<main data-state data-changed>` says the same to programs. Anomalies that resemble each other share a card, at
    /// most six of them with their sound. Every string is escaped, no score is too odd to be drawn, and the same input
    /// gives the same bytes.
    pub fn render(&self) -> String {
        page::Page::new(self).to_string()
    }

    /// What the machine needs from its people.
    pub fn state(&self) -> State {
        page::Page::new(self).health.state
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

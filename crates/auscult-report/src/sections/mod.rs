//! The parts of the page, from the answer down to the settings.

pub(crate) mod answer;
pub(crate) mod facts;
pub(crate) mod kinds;
pub(crate) mod promise;
pub(crate) mod quality;
pub(crate) mod scores;
pub(crate) mod table;

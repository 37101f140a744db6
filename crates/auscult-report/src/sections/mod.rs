//! The parts of the page, in the order they stand on it. Each has one `write`.

pub(crate) mod details;
pub(crate) mod facts;
pub(crate) mod headline;
pub(crate) mod promise;
pub(crate) mod quality;
pub(crate) mod scores;
pub(crate) mod table;

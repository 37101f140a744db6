//! Counts beside what is known.

/// `3 of 10 test clips`; what is more than known is not a share of it.
pub(crate) fn found_of(found: usize, known: usize, what: &str) -> String {
    if found < known {
        format!("{found} of {known} {what}")
    } else {
        format!("{found} {what}, known are {known}")
    }
}

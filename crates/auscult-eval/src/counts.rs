//! Counts in sentences.

/// `1 clip`, `2 clips`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// `3 of 10 test clips`; more than there should be are no share of them.
pub(crate) fn got_of(got: usize, wanted: usize, what: &str) -> String {
    if got < wanted {
        format!("{got} of {wanted} {what}")
    } else {
        format!("{got} {what}, known are {wanted}")
    }
}

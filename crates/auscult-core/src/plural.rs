//! Counts with their nouns.

/// A count with its noun: `1 clip`, `3 clips`.
///
/// ```
/// assert_eq!(auscult_core::plural(1, "clip"), "1 clip");
/// assert_eq!(auscult_core::plural(0, "clip"), "0 clips");
/// ```
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

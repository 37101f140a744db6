//! Inputs that are patterns of names: `recordings/*/*.wav`.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

/// Whether a name with a leading dot matches a part of a pattern that does not spell the dot, or the folder above matches a
/// part that does not spell it out: `.*` are hidden names, not `..`.
pub(crate) fn is_hidden_from(pattern: &str, path: &Path) -> bool {
    let has_dot = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let parts = path.components().rev().zip(Path::new(pattern).components().rev());
    parts.into_iter().any(|(found, asked)| {
        has_dot(found) && !has_dot(asked) || found == Component::ParentDir && asked != found
    })
}

fn is_pattern(input: &str) -> bool {
    input.contains(['*', '?', '['])
}

/// An input as a pattern. Patterns are text; a name need not be.
pub(crate) fn pattern(input: &OsStr) -> Option<&str> {
    input.to_str().filter(|input| is_pattern(input))
}

/// The leading folders of a pattern that hold no wildcard.
pub(crate) fn fixed_part(pattern: &str) -> PathBuf {
    let is_fixed = |part: &OsStr| !is_pattern(&part.to_string_lossy());
    Path::new(pattern).components().take_while(|part| is_fixed(part.as_os_str())).collect()
}

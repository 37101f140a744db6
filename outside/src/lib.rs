//! A user's crate: it depends on `auscult` and nothing else, and its tests do what the documentation says.

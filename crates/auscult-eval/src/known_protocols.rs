//! The protocols that come with this crate.

use std::path::Path;

use crate::{Error, Result, protocol::Protocol};

/// Names and texts.
const KNOWN: [(&str, &str); 10] = [
    ("table-3", include_str!("../protocols/table-3.toml")),
    ("table-5", include_str!("../protocols/table-5.toml")),
    ("figure-windows", include_str!("../protocols/figure-windows.toml")),
    ("figure-k", include_str!("../protocols/figure-k.toml")),
    ("figure-mimii", include_str!("../protocols/figure-mimii.toml")),
    ("diagnostics", include_str!("../protocols/diagnostics.toml")),
    ("genrep", include_str!("../protocols/genrep.toml")),
    ("baselines", include_str!("../protocols/baselines.toml")),
    ("trained", include_str!("../protocols/trained.toml")),
    ("my-folder", include_str!("../protocols/my-folder.toml")),
];

impl Protocol {
    /// The names of the protocols that come with this crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }

    /// The protocol in this file, or the one of this name if there is no such file.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] if it is not a protocol, or there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use auscult_eval::protocol::Protocol;
    ///
    /// assert_eq!(Protocol::find("table-3")?.name, "table-3");
    /// # Ok::<(), auscult_eval::Error>(())
    /// ```
    pub fn find(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let wrong = |reason| Error::Protocol { path: path.to_owned(), reason };
        if path.exists() {
            return Self::open(path);
        }
        if let Some((_, text)) = KNOWN.iter().find(|(name, _)| Path::new(name) == path) {
            return Self::parse(text).map_err(wrong);
        }
        let names: Vec<&str> = Self::names().collect();
        Err(wrong(format!("no such protocol; name a file or one of {}", names.join(", "))))
    }
}

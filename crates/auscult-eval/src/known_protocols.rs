//! The protocols that come with this crate.

use std::path::Path;

use crate::{Error, Result, protocol::Protocol};

/// A protocol that comes with this crate.
struct Known {
    /// What it is called in its own file and in results.
    name: &'static str,
    /// What else it may be called: the paper's tables and figures.
    also: &'static [&'static str],
    text: &'static str,
}

/// In the order of the paper, then the others.
const KNOWN: [Known; 14] = [
    Known { name: "table-1", also: &[], text: include_str!("../protocols/table-1.toml") },
    Known { name: "table-2", also: &[], text: include_str!("../protocols/table-2.toml") },
    Known { name: "table-3", also: &[], text: include_str!("../protocols/table-3.toml") },
    Known { name: "table-4", also: &[], text: include_str!("../protocols/table-4.toml") },
    Known {
        name: "table-4-small",
        also: &[],
        text: include_str!("../protocols/table-4-small.toml"),
    },
    Known { name: "table-5", also: &[], text: include_str!("../protocols/table-5.toml") },
    Known {
        name: "diagnostics",
        also: &["table-7", "figure-2"],
        text: include_str!("../protocols/diagnostics.toml"),
    },
    Known {
        name: "figure-windows",
        also: &["figure-3"],
        text: include_str!("../protocols/figure-windows.toml"),
    },
    Known {
        name: "figure-k",
        also: &["figure-4"],
        text: include_str!("../protocols/figure-k.toml"),
    },
    Known {
        name: "figure-mimii",
        also: &["figure-5"],
        text: include_str!("../protocols/figure-mimii.toml"),
    },
    Known { name: "genrep", also: &[], text: include_str!("../protocols/genrep.toml") },
    Known { name: "baselines", also: &[], text: include_str!("../protocols/baselines.toml") },
    Known { name: "trained", also: &[], text: include_str!("../protocols/trained.toml") },
    Known { name: "my-folder", also: &[], text: include_str!("../protocols/my-folder.toml") },
];

impl Protocol {
    /// The names of the protocols that come with this crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|known| known.name)
    }

    /// Every protocol that comes with this crate, with the names it also has.
    ///
    /// # Errors
    ///
    /// [`Error::Protocol`] if one cannot be read; the tests read all of them.
    pub fn all() -> Result<Vec<(Self, &'static [&'static str])>> {
        KNOWN.iter().map(|known| Ok((Self::find(known.name)?, known.also))).collect()
    }

    /// The protocol in this file, or the one of this name if there is no such file; tables and figures
    /// of the paper are names, too.
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
    /// assert_eq!(Protocol::find("figure-5")?.name, "figure-mimii");
    /// # Ok::<(), auscult_eval::Error>(())
    /// ```
    pub fn find(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let wrong = |reason| Error::Protocol { path: path.to_owned(), reason };
        if path.exists() {
            return Self::open(path);
        }
        let is_called = |name: &&str| Path::new(name) == path;
        let is_meant = |known: &&Known| is_called(&known.name) || known.also.iter().any(&is_called);
        if let Some(known) = KNOWN.iter().find(is_meant) {
            return Self::parse(known.text).map_err(wrong);
        }
        let named = |known: &Known| match known.also {
            [] => known.name.to_owned(),
            also => format!("{} ({})", known.name, also.join(", ")),
        };
        let names: Vec<String> = KNOWN.iter().map(named).collect();
        Err(wrong(format!("no such protocol; name a file or one of {}", names.join(", "))))
    }
}

//! Protocols by name or as a file.

use std::path::Path;

use anyhow::Context as _;
use auscult_eval::protocol::Protocol;

/// The protocols that come with the program.
const PROTOCOLS: [(&str, &str); 10] = [
    ("table-3", include_str!("../../protocols/table-3.toml")),
    ("table-5", include_str!("../../protocols/table-5.toml")),
    ("figure-windows", include_str!("../../protocols/figure-windows.toml")),
    ("figure-k", include_str!("../../protocols/figure-k.toml")),
    ("figure-mimii", include_str!("../../protocols/figure-mimii.toml")),
    ("diagnostics", include_str!("../../protocols/diagnostics.toml")),
    ("genrep", include_str!("../../protocols/genrep.toml")),
    ("baselines", include_str!("../../protocols/baselines.toml")),
    ("trained", include_str!("../../protocols/trained.toml")),
    ("my-folder", include_str!("../../protocols/my-folder.toml")),
];

/// The protocol of that name, or in that file.
pub(crate) fn open(path: &Path) -> anyhow::Result<Protocol> {
    let own = PROTOCOLS.iter().find(|(name, _)| Path::new(name) == path);
    match own.filter(|_| !path.exists()) {
        Some((name, text)) => {
            Protocol::parse(text).map_err(|reason| anyhow::anyhow!("{name}: {reason}"))
        }
        None if path.exists() => Ok(Protocol::open(path)?),
        None => Protocol::open(path).with_context(|| {
            let names: Vec<&str> = PROTOCOLS.iter().map(|(name, _)| *name).collect();
            format!("no protocol {}; name a file or one of {}", path.display(), names.join(", "))
        }),
    }
}

//! Where things are on this computer is nobody's business: paths are cut down to what is below known folders.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use auscult_monitor::site::{Site, SourceSpec};

/// Takes folders out of texts.
#[derive(Debug, Default)]
pub(crate) struct Scrubber {
    /// As they stand in JSON, the longest first.
    folders: Vec<String>,
}

impl Scrubber {
    fn of(data: &Path, site: &Site) -> Self {
        let mut folders: BTreeSet<&Path> = BTreeSet::from([data]);
        for machine in &site.machines {
            if let SourceSpec::Folder { path, .. } = &machine.source {
                folders.extend(path.parent());
            }
            folders.extend(machine.model.iter().filter_map(|model| model.parent()));
        }
        // The root of everything is in no text that says anything.
        let is_worth = |path: &&Path| path.is_absolute() && path.parent().is_some();
        let mut folders: Vec<String> = folders.into_iter().filter(is_worth).map(in_json).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        Self { folders }
    }

    /// The text without folders; `None` if there are none in it.
    pub(crate) fn scrub(&self, text: &str) -> Option<String> {
        let mut clean: Option<String> = None;
        for folder in &self.folders {
            let current = clean.as_deref().unwrap_or(text);
            if current.contains(folder.as_str()) {
                clean = Some(current.replace(folder.as_str(), ""));
            }
        }
        clean
    }

    pub(crate) fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let clean = std::str::from_utf8(&bytes).ok().and_then(|text| self.scrub(text));
        clean.map_or(bytes, String::into_bytes)
    }
}

/// A folder with a slash at its end, as it stands in JSON.
fn in_json(path: &Path) -> String {
    let quoted = serde_json::to_string(&path.join("").to_string_lossy()).unwrap_or_default();
    quoted.trim_matches('"').to_owned()
}

/// The scrubber of the configuration that is running.
#[derive(Debug, Default)]
pub(crate) struct Scrubbing {
    known: Mutex<Option<(Arc<Site>, Arc<Scrubber>)>>,
}

impl Scrubbing {
    pub(crate) fn of(&self, data: &Path, site: &Arc<Site>) -> Arc<Scrubber> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, scrubber)) if Arc::ptr_eq(of, site) => Arc::clone(scrubber),
            _ => {
                let scrubber = Arc::new(Scrubber::of(data, site));
                *known = Some((Arc::clone(site), Arc::clone(&scrubber)));
                scrubber
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_taken_out_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let recordings = folder.path().join("recordings").join("pump-7");
        std::fs::create_dir_all(&recordings).unwrap();
        let text = format!("[[machine]]\nname = \"pump-7\"\nfolder = {recordings:?}");
        let site = Arc::new(Site::parse(&text, &folder.path().join("site.toml")).unwrap());
        let scrubber = Scrubbing::default().of(Path::new("/var/lib/auscult"), &site);
        let shown = format!("folder {}/a.wav, /var/lib/auscult/sound/x, 3/4", recordings.display());
        assert_eq!(scrubber.scrub(&shown).unwrap(), "folder pump-7/a.wav, sound/x, 3/4");
        assert_eq!(scrubber.scrub("1/2 of /x"), None);
    }
}

//! Which data set lies in a folder, and where.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{DatasetKind, Set, Year, parse_name, tree};
use crate::{Error, Result};

impl DatasetKind {
    /// Tells the data set from names of files and folders.
    ///
    /// # Errors
    ///
    /// [`Error::Dataset`] if names fit several years (the development machines of 2023, 2024 and
    /// 2025 are the same) or none; [`Error::Read`] if a root cannot be read.
    pub fn guess(roots: &[PathBuf]) -> Result<Self> {
        let mut found = Seen::default();
        for root in roots {
            found.year_in_path = found.year_in_path.or_else(|| year_in(&root.to_string_lossy()));
            if root.is_file()
                && !root.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"))
            {
                return Ok(Self::Folder);
            }
            found.has_manifest |= root.join("manifest.csv").is_file();
            for file in tree::list(root, &mut Vec::new())?.iter().filter(|file| file.is_sound()) {
                found.look_at(file);
            }
        }
        found.decide().map_err(|reason| Error::Dataset { kind: "data set".to_owned(), reason })
    }

    /// The folder of this data set below a root: one with its name, or the root itself if it is
    /// the only data set wanted.
    pub fn locate(self, root: &Path, is_only_one: bool) -> Option<PathBuf> {
        if self.is_name_of(root) {
            return Some(root.to_owned());
        }
        folders_in(root)
            .into_iter()
            .find(|path| self.is_name_of(path))
            .or_else(|| (is_only_one && root.exists()).then(|| root.to_owned()))
    }

    /// The data sets that have a folder of their name right below a root; none if the root itself
    /// has the name of one.
    pub fn named_in(root: &Path) -> Vec<Self> {
        let named = || Self::all().filter(|kind| *kind != Self::Folder);
        if named().any(|kind| kind.is_name_of(root)) {
            return Vec::new();
        }
        let below = folders_in(root);
        named().filter(|kind| below.iter().any(|path| kind.is_name_of(path))).collect()
    }

    /// Whether a folder is called as the data set is: `dcase2023`, `DCASE2023_task2`.
    fn is_name_of(self, folder: &Path) -> bool {
        let Some(name) = folder.file_name() else { return false };
        let plain = name.to_string_lossy().to_ascii_lowercase().replace(['_', '-', ' '], "");
        let own = self.to_string();
        [own.clone(), format!("{own}t2"), format!("{own}task2")].contains(&plain)
    }
}

/// The folders of the data set below roots that hold several: years share names of machines and
/// clips, so that two of them would be read as one. Other roots stay as they are.
pub(super) fn own_folders(
    kind: DatasetKind,
    roots: &[PathBuf],
    remarks: &mut Vec<String>,
) -> Result<Vec<PathBuf>> {
    let own_folder = |root: &PathBuf| {
        let named = DatasetKind::named_in(root);
        if kind == DatasetKind::Folder || named.is_empty() {
            return Ok(root.clone());
        }
        if let Some(own) = kind.locate(root, false) {
            remarks.push(format!("{kind}: only {} is read", own.display()));
            return Ok(own);
        }
        let named: Vec<String> = named.iter().map(ToString::to_string).collect();
        let reason = format!(
            "{} has folders of {} and none of {kind}; name the folder of the data set itself",
            root.display(),
            named.join(", ")
        );
        Err(Error::Dataset { kind: kind.to_string(), reason })
    };
    roots.iter().map(own_folder).collect()
}

/// The folders right below a root, sorted.
fn folders_in(root: &Path) -> Vec<PathBuf> {
    let mut below: Vec<PathBuf> = std::fs::read_dir(root)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    below.retain(|path| path.is_dir());
    below.sort();
    below
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a sign that was seen or not")]
struct Seen {
    year_in_path: Option<Year>,
    machines: BTreeSet<String>,
    sections: BTreeSet<String>,
    is_mimii: bool,
    has_ids: bool,
    has_domain_folders: bool,
    has_sections: bool,
    has_labels: bool,
    has_manifest: bool,
}

impl Seen {
    fn look_at(&mut self, file: &tree::TreeFile) {
        let folder = file.folder(1);
        self.is_mimii |=
            ["normal", "abnormal"].contains(&folder) && file.folder(2).starts_with("id_");
        self.has_labels |= file.path.iter().any(|part| {
            ["train", "test", "normal", "anomaly", "abnormal"].contains(&part.as_str())
        });
        self.has_domain_folders |= ["source_test", "target_test"].contains(&folder);
        for part in &file.path {
            self.year_in_path = self.year_in_path.or_else(|| year_in(part));
        }
        let Some(name) = parse_name(file.stem()) else { return };
        if file.stem().starts_with("section_") {
            self.has_sections = true;
            self.machines.insert(file.folder(2).to_owned());
            self.sections.insert(name.section);
        } else {
            self.has_ids = true;
        }
    }

    fn decide(&self) -> std::result::Result<DatasetKind, String> {
        if self.is_mimii {
            return Ok(DatasetKind::Mimii);
        }
        if self.has_ids {
            return Ok(DatasetKind::Dcase(Year::Y2020));
        }
        if !self.has_sections {
            return if self.has_labels || self.has_manifest {
                Ok(DatasetKind::Folder)
            } else {
                Err("nothing here looks like DCASE, MIMII or a folder with a manifest.csv, or with train, test, normal or \
                     anomaly in it; check the path, or name the data set"
                    .to_owned())
            };
        }
        if let Some(year) = self.year_in_path {
            return Ok(DatasetKind::Dcase(year));
        }
        if self.has_domain_folders {
            return Ok(DatasetKind::Dcase(Year::Y2021));
        }
        let has_several_sections = self.sections.iter().any(|section| section != "00");
        let fits = |year: &Year| {
            let of_year = |machine: &String| {
                Set::ALL.into_iter().any(|set| year.machines(set).contains(&machine.as_str()))
            };
            let one_section = *year >= Year::Y2023;
            *year >= Year::Y2021
                && self.machines.iter().all(of_year)
                && (one_section != has_several_sections)
        };
        let years: Vec<Year> = Year::ALL.into_iter().filter(fits).collect();
        match years.as_slice() {
            [year] => Ok(DatasetKind::Dcase(*year)),
            // Someone's own machines, in names of DCASE.
            [] => Ok(DatasetKind::Folder),
            several => {
                let names: Vec<String> =
                    several.iter().map(|year| DatasetKind::Dcase(*year).to_string()).collect();
                Err(format!("machines and names fit {}; name the one it is", names.join(", ")))
            }
        }
    }
}

/// A year that a path names, such as `dcase2023t2`.
pub(super) fn year_in(text: &str) -> Option<Year> {
    let text = text.to_ascii_lowercase();
    text.contains("dcase")
        .then(|| Year::ALL.into_iter().find(|year| text.contains(&year.number().to_string())))?
}

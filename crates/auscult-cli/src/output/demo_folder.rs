//! The folder of the demonstration, which replaces what it made and nothing else.

use std::path::Path;

use anyhow::Context as _;
use auscult_testing::{Layout, Machine as Kind, PerDomain, TreeRecipe};

/// A folder with this file in it was made by the demonstration, which may replace what it made.
const MARKER: &str = "made-by-auscult-demo.txt";

/// The machine's recordings.
pub(crate) fn recipe(machine: Kind, seed: u64) -> TreeRecipe {
    TreeRecipe {
        machines: vec![machine],
        layout: Layout::Visits,
        train: PerDomain { source: 96, target: 0 },
        test_normal: PerDomain { source: 16, target: 0 },
        test_anomalous: PerDomain { source: 16, target: 0 },
        visits: 24,
        severity: 1.0,
        seed,
        ..TreeRecipe::default()
    }
}

/// Makes the folder, or takes one that an earlier demonstration made: its files are written again, what
/// else is there stays.
pub(crate) fn prepare(folder: &Path) -> anyhow::Result<()> {
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !folder.join(MARKER).is_file() && folder.exists() && !is_empty() {
        anyhow::bail!(
            "{} exists and was not made by the demonstration; choose another folder with --out",
            folder.display()
        );
    }
    let make = || {
        std::fs::create_dir_all(folder)?;
        std::fs::write(
            folder.join(MARKER),
            "auscult demo writes its sounds, its model and report.html here anew when it runs again.\n",
        )
    };
    make().with_context(|| format!("cannot write {}", folder.display()))
}

/// Removes the recordings an earlier demonstration made, and nothing else: what somebody put beside
/// them stays, and is then in the way of new ones.
pub(crate) fn remove_own(sounds: &Path, seed: u64) -> anyhow::Result<()> {
    let ignore_missing = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let mut folders = std::collections::BTreeSet::from([sounds.to_owned()]);
    for machine in Kind::ALL {
        let tables = ["check.csv"].map(|name| sounds.join(machine.name()).join(name));
        let files = recipe(machine, seed).files()?;
        let files = files.into_iter().map(|file| sounds.join(file.path)).chain(tables);
        for file in files.chain([sounds.join("check.csv")]) {
            ignore_missing(std::fs::remove_file(&file))?;
            folders.extend(
                file.ancestors()
                    .skip(1)
                    .take_while(|path| path.starts_with(sounds))
                    .map(Path::to_owned),
            );
        }
    }
    for folder in folders.iter().rev() {
        let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if is_empty {
            std::fs::remove_dir(folder)?;
        }
    }
    Ok(())
}

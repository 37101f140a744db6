//! Fetches archives of data sets: resumed where a download stopped, checked by size and MD5.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{DatasetKind, Set, Year};
use crate::{
    Error, Result,
    fetch::{self, Checksum, Encryption, FetchProgress, Fetcher, Remote, RemoteSize},
};

/// Where from and where to.
#[derive(Debug, Clone)]
pub struct DownloadSettings {
    /// The archive's address.
    pub base_url: String,
    /// Where files go.
    pub folder: PathBuf,
    /// Whether the archive's address must be encrypted.
    pub encryption: Encryption,
    /// Whether files are taken whose checksum nobody knows.
    pub takes_unverified: bool,
}

impl DownloadSettings {
    /// From Zenodo, where the data sets are published.
    pub fn from_zenodo(folder: PathBuf) -> Self {
        let base_url = "https://zenodo.org".to_owned();
        Self { base_url, folder, encryption: Encryption::Required, takes_unverified: false }
    }
}

/// A file to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// The record it belongs to.
    pub record: u32,
    /// Its name; a revision (`..._r2.zip`) in the record goes before it.
    pub name: String,
    /// Its MD5, where it was known before asking.
    pub known_md5: Option<&'static str>,
}

/// The files of a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadPlan {
    /// The files, in the order they are fetched.
    pub files: Vec<RemoteFile>,
}

/// What to fetch for parts (`dev`, `eval`; MIMII: `min6dB`, `0dB`, `6dB`) and machines of a data
/// set; an empty list means all.
///
/// # Errors
///
/// [`Error::Dataset`] if a part or machine does not exist, with those that do.
pub fn plan(kind: DatasetKind, sets: &[String], machines: &[String]) -> Result<DownloadPlan> {
    let wrong = |what: &str, got: &str, known: &[&str]| Error::Dataset {
        kind: kind.to_string(),
        reason: format!("there is no {what} {got:?}; there are {}", known.join(", ")),
    };
    let (set_names, all): (&[&str], Vec<(String, String, RemoteFile)>) = match kind {
        DatasetKind::Dcase(year) => (&["dev", "eval"], files_of_year(year)),
        DatasetKind::Mimii => (&["min6dB", "0dB", "6dB"], files_of_mimii()),
        DatasetKind::Folder => {
            let reason =
                "your own folder cannot be downloaded; name dcase2020 to dcase2026 or mimii";
            return Err(Error::Dataset { kind: kind.to_string(), reason: reason.to_owned() });
        }
    };
    if let Some(got) = sets.iter().find(|set| !set_names.contains(&set.as_str())) {
        return Err(wrong("split", got, set_names));
    }
    let of_sets = |set: &String| sets.is_empty() || sets.contains(set);
    let mut known: Vec<&str> = all
        .iter()
        .filter(|(set, _, _)| of_sets(set))
        .map(|(_, machine, _)| machine.as_str())
        .collect();
    known.sort_unstable();
    known.dedup();
    if let Some(got) = machines.iter().find(|machine| !known.contains(&machine.as_str())) {
        return Err(wrong("machine", got, &known));
    }
    let wanted = |(set, machine, _): &(String, String, RemoteFile)| {
        of_sets(set) && (machines.is_empty() || machines.contains(machine))
    };
    Ok(DownloadPlan {
        files: all.iter().filter(|file| wanted(file)).map(|(_, _, file)| file.clone()).collect(),
    })
}

fn files_of_year(year: Year) -> Vec<(String, String, RemoteFile)> {
    let [development, training, test] = year.records();
    let file = |set: Set, machine: &str, record, name: String| {
        let known_md5 = known_md5(year, &name);
        (set.name().to_owned(), machine.to_owned(), RemoteFile { record, name, known_md5 })
    };
    let mut files = Vec::new();
    for machine in year.machines(Set::Development) {
        let name = match year {
            Year::Y2020 | Year::Y2021 => format!("dev_data_{machine}.zip"),
            _ => format!("dev_{machine}.zip"),
        };
        files.push(file(Set::Development, machine, development, name));
    }
    for machine in year.machines(Set::Evaluation) {
        for (record, part) in [(training, "train"), (test, "test")] {
            let name = match year {
                Year::Y2020 => format!("eval_data_{part}_{machine}.zip"),
                _ => format!("eval_data_{machine}_{part}.zip"),
            };
            files.push(file(Set::Evaluation, machine, record, name));
        }
    }
    files
}

fn files_of_mimii() -> Vec<(String, String, RemoteFile)> {
    let mut files = Vec::new();
    for (set, prefix) in [("min6dB", "-6_dB"), ("0dB", "0_dB"), ("6dB", "6_dB")] {
        for machine in ["fan", "pump", "slider", "valve"] {
            let name = format!("{prefix}_{machine}.zip");
            let file = RemoteFile { record: 3_384_388, name, known_md5: None };
            files.push((set.to_owned(), machine.to_owned(), file));
        }
    }
    files
}

/// MD5 sums of 2023 as the package soundata lists them.
fn known_md5(year: Year, name: &str) -> Option<&'static str> {
    const OF_2023: [(&str, &str); 21] = [
        ("dev_bearing.zip", "8a813bc8d8f156b5395bfccdfac7673c"),
        ("dev_fan.zip", "9348591e96fb0ad499a1e33b082562fc"),
        ("dev_gearbox.zip", "b6e55f6a31faa0fc8569ec0afdd53ccf"),
        ("dev_slider.zip", "b3f8dee36b4718c36d659a4fd1c4afe0"),
        ("dev_ToyCar.zip", "4e3bf15f4101ed4ed4f1fecde2e2b2a3"),
        ("dev_ToyTrain.zip", "6b02a6c65eebb3b8b1ae59a6b25bb897"),
        ("dev_valve.zip", "b2051a2022eadb53cd97581120811cae"),
        ("eval_data_bandsaw_train.zip", "9274dfe63de028743823f1123f8b4b47"),
        ("eval_data_grinder_train.zip", "17569c1f9df23621a0dbabc430684a35"),
        ("eval_data_shaker_train.zip", "35f821b5645b731fb5a1750e33b95fc3"),
        ("eval_data_ToyDrone_train.zip", "7fea367d1384a1521ae24f72203238de"),
        ("eval_data_ToyNscale_train.zip", "9332822f3e47afd984c01f2ecb5ca3af"),
        ("eval_data_ToyTank_train.zip", "b1fd3ab7de7561290df2d477de1c9d33"),
        ("eval_data_Vacuum_train.zip", "1c8de33d9a8c7850a1f7aaddb97d87be"),
        ("eval_data_bandsaw_test.zip", "2a8e8f39f6584ab366a8f4da52d4d7a6"),
        ("eval_data_grinder_test.zip", "631b3e1608b6077772829a6e68c82c77"),
        ("eval_data_shaker_test.zip", "ba98c98caa96051ec80e24e44b8fca56"),
        ("eval_data_ToyDrone_test.zip", "fdae7b8d1f4cadb2bea88bc93e2367db"),
        ("eval_data_ToyNscale_test.zip", "62f5f5043d8fb3a305b1c2e1025872de"),
        ("eval_data_ToyTank_test.zip", "f5639bf58c47169c622751f19c6fc321"),
        ("eval_data_Vacuum_test.zip", "a32524fd8c45b574a560685b38acc4e1"),
    ];
    (year == Year::Y2023)
        .then(|| OF_2023.iter().find(|(file, _)| *file == name).map(|(_, sum)| *sum))?
}

/// What a record says about one of its files.
#[derive(Debug, Clone, Deserialize)]
struct Listed {
    key: String,
    size: u64,
    #[serde(default)]
    checksum: String,
}

#[derive(Debug, Deserialize)]
struct Record {
    files: Vec<Listed>,
}

/// Fetches one file unless it is there already, and returns where it is.
///
/// It grows under the name `<file>.part`, from where an earlier attempt stopped, and gets its own
/// name when size and MD5 are right.
///
/// # Errors
///
/// [`Error::Download`] if the server cannot be reached or sends something else, [`Error::Fetch`] if its address is not
/// encrypted or nobody knows the file's checksum and the settings ask for both, [`Error::Write`] if the disk is full.
pub fn download(
    file: &RemoteFile,
    settings: &DownloadSettings,
    progress: &mut FetchProgress<'_>,
) -> Result<PathBuf> {
    let fetcher = Fetcher::new(&settings.base_url, settings.encryption)?;
    let listed = listed(&fetcher, file, settings)?;
    if listed.checksum.is_empty() && !settings.takes_unverified {
        return Err(fetch::Error::Unverified { url: listed.key }.into());
    }
    let target = settings.folder.join(&listed.key);
    if target.metadata().is_ok_and(|found| found.len() == listed.size) {
        let _ = progress(listed.size, listed.size);
        verify(&target, &listed, "it lies there already: remove it and try again")?;
        return Ok(target);
    }
    fs::create_dir_all(&settings.folder).map_err(Error::write(&settings.folder))?;
    let part = settings.folder.join(format!("{}.part", listed.key));
    let url =
        format!("{}/records/{}/files/{}?download=1", settings.base_url, file.record, listed.key);
    let remote = Remote { url: &url, size: RemoteSize::Known(listed.size), advice: ADVICE };
    fetcher.fetch(&remote, &part, progress)?;
    if let Err(error) = verify(&part, &listed, "it was removed, try again") {
        fs::remove_file(&part).map_err(Error::write(&part))?;
        return Err(error);
    }
    fs::rename(&part, &target).map_err(Error::write(&target))?;
    Ok(target)
}

/// What to do if a server cannot be reached.
const ADVICE: &str = "check the connection, or fetch the files with a browser into the same folder";

/// Asks the record about the file, its newest revision.
fn listed(fetcher: &Fetcher, file: &RemoteFile, settings: &DownloadSettings) -> Result<Listed> {
    let url = format!("{}/api/records/{}", settings.base_url, file.record);
    let failed = |reason: String| Error::Download { url: url.clone(), reason };
    let text = fetcher.text(&url, ADVICE)?;
    let record: Record = serde_json::from_str(&text)
        .map_err(|error| failed(format!("the list of files cannot be read: {error}")))?;
    let stem = file.name.trim_end_matches(".zip");
    let wanted = [format!("{stem}_r2.zip"), file.name.clone()];
    let found = wanted.iter().find_map(|name| record.files.iter().find(|other| other.key == *name));
    let listed =
        found.cloned().ok_or_else(|| failed(format!("the record has no {}", file.name)))?;
    // Names go into the file system: none may lead out of the folder.
    if listed.key.contains(['/', '\\']) || listed.key.starts_with('.') {
        return Err(failed(format!("the record names a file {:?}", listed.key)));
    }
    // What is known here is of the first form of a file, not of a revision.
    let known = file.known_md5.filter(|_| listed.key == file.name);
    let sum = listed.checksum.trim_start_matches("md5:").to_owned();
    match known {
        Some(known) if !sum.is_empty() && known != sum => {
            Err(failed(format!("{} has MD5 {sum} there, {known} was expected", listed.key)))
        }
        Some(known) => Ok(Listed { checksum: known.to_owned(), ..listed }),
        None => Ok(Listed { checksum: sum, ..listed }),
    }
}

/// Compares the MD5, if there is one; `advice` is what to do about a wrong one.
fn verify(path: &Path, listed: &Listed, advice: &str) -> Result<()> {
    let expected = &listed.checksum;
    let found = Checksum::Md5.of(path)?;
    if expected.is_empty() || found == *expected {
        return Ok(());
    }
    let reason = format!("its MD5 is {found}, {expected} was expected; {advice}");
    Err(Error::Download { url: listed.key.clone(), reason })
}

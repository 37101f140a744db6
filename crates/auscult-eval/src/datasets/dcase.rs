//! DCASE Task 2: layouts of the challenge, of its baselines and of toolkits.

use std::{collections::BTreeSet, path::PathBuf};

use auscult_core::plural;

use super::{
    ClipName, DatasetClip, DatasetKind, Set, Split, Year, attributes, nothing_found, once,
    parse_name,
    tree::{self, Archives, TreeFile},
};
use crate::{
    Result,
    metrics::{Domain, Label},
};

/// Clips and remarks.
pub(super) type Found = (Vec<DatasetClip>, Vec<String>);

/// Reads `.../<machine>/{train,test,test_rename,source_test,target_test,supplemental}/<clip>`,
/// whatever stands above the machine: `raw/`, `dev_data/`, an archive.
pub(super) fn read(year: Year, roots: &[PathBuf]) -> Result<Found> {
    let mut remarks = Vec::new();
    let mut clips = Vec::new();
    let mut tables = Vec::new();
    let mut odd_names = Vec::new();
    for root in roots {
        let files = tree::list(root, &mut remarks)?;
        remarks.extend(tree::unfinished(&files));
        for file in files {
            if is_attribute_table(&file) {
                tables.push(file);
                continue;
            }
            let Some(folder) = Folder::of(file.folder(1)).filter(|_| file.is_sound()) else {
                continue;
            };
            match clip(year, &file, folder) {
                Some(clip) => clips.push(clip),
                None => odd_names.push(file.file.label()),
            }
        }
    }
    if clips.is_empty() {
        let looked_for = "<machine>/{train,test}/ with names like section_00_source_train_normal_0000.wav \
            (2020: normal_id_00_00000000.wav)";
        let other = odd_names.first();
        remarks
            .extend(other.map(|name| format!("clips with other names are there, such as {name}")));
        return Err(nothing_found(DatasetKind::Dcase(year), roots, looked_for, &remarks));
    }
    let mut plain: Vec<&mut DatasetClip> = clips.iter_mut().map(|(clip, _)| clip).collect();
    attributes::fill(&mut plain, &tables, &Archives::default())?;
    let clips = without_doubles(year, clips, &mut remarks);
    let key = |(clip, _): &(DatasetClip, Folder)| {
        let DatasetClip { machine, section, split, name, domain, .. } = clip;
        format!("{machine}/{section}/{split:?}/{domain:?}/{name}")
    };
    let clips = once::deduplicate(
        DatasetKind::Dcase(year),
        clips,
        key,
        |(clip, _)| &clip.file,
        &mut remarks,
    )?;
    if let Some(first) = odd_names.first() {
        remarks.push(format!(
            "left out, with names of no known form: {}, such as {first}",
            plural(odd_names.len(), "clip")
        ));
    }
    remark_on_names(year, &clips, &mut remarks);
    remark_on_attributes(year, &clips, &mut remarks);
    let clips = clips.into_iter().map(|(clip, _)| clip).collect();
    Ok((clips, remarks))
}

fn is_attribute_table(file: &TreeFile) -> bool {
    let hidden = file.name().ends_with("_correspondence.csv");
    file.name().to_ascii_lowercase().ends_with(".csv")
        && file.name().starts_with("attributes_")
        && !hidden
}

/// What the folder of a clip says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folder {
    Train,
    Test,
    /// Copies of hidden test clips under names with labels.
    TestRenamed,
    TestOf(Domain),
    Supplemental,
}

impl Folder {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "train" => Self::Train,
            "test" => Self::Test,
            "test_rename" => Self::TestRenamed,
            "source_test" => Self::TestOf(Domain::Source),
            "target_test" => Self::TestOf(Domain::Target),
            "supplemental" => Self::Supplemental,
            _ => return None,
        })
    }
}

fn clip(year: Year, file: &TreeFile, folder: Folder) -> Option<(DatasetClip, Folder)> {
    let machine = file.folder(2).to_owned();
    let supplemental = || file.stem().strip_prefix("section_")?.get(..2);
    let name = match (parse_name(file.stem()), folder) {
        (Some(name), _) => name,
        (None, Folder::Supplemental) => ClipName {
            section: supplemental()?.to_owned(),
            domain: None,
            is_train: None,
            label: None,
            index: 0,
            attributes: String::new(),
        },
        (None, _) => return None,
    };
    let split = match folder {
        Folder::Train => Split::Train,
        Folder::Supplemental => Split::Supplemental,
        Folder::Test | Folder::TestRenamed | Folder::TestOf(_) => Split::Test,
    };
    let domain = match folder {
        _ if !year.has_domains() => None,
        Folder::TestOf(domain) => Some(domain),
        _ => name.domain,
    };
    let label = if split == Split::Train { Some(Label::Normal) } else { name.label };
    let set = year.set_of(&machine, &name.section).map_or("", Set::name).to_owned();
    let clip = DatasetClip {
        file: file.file.clone(),
        name: file.name().to_owned(),
        machine,
        section: name.section,
        set,
        split,
        label,
        domain,
        attributes: name.attributes,
    };
    Some((clip, folder))
}

/// Baselines keep each hidden test clip twice (`test` and `test_rename`), and 2021's domains also
/// in a merged `test`: one of each counts.
fn without_doubles(
    year: Year,
    mut clips: Vec<(DatasetClip, Folder)>,
    remarks: &mut Vec<String>,
) -> Vec<(DatasetClip, Folder)> {
    let of = |wanted: fn(Folder) -> bool, clips: &[(DatasetClip, Folder)]| -> BTreeSet<_> {
        let found = clips.iter().filter(|(_, folder)| wanted(*folder));
        found.map(|(clip, _)| (clip.machine.clone(), clip.section.clone())).collect()
    };
    let renamed = of(|folder| folder == Folder::TestRenamed, &clips);
    let plain = of(|folder| folder == Folder::Test, &clips);
    let by_domain = of(|folder| matches!(folder, Folder::TestOf(_)), &clips);
    // The names of 2022's renamed clips are wrong for two machines: the hidden names and the
    // evaluator's folder are to be used instead.
    let distrusted =
        |machine: &str| year == Year::Y2022 && ["ToyCar", "ToyTrain"].contains(&machine);
    let doubled: Vec<_> = renamed.intersection(&plain).cloned().collect();
    clips.retain(|(clip, folder)| {
        let key = (clip.machine.clone(), clip.section.clone());
        match folder {
            Folder::Test if by_domain.contains(&key) => false,
            Folder::Test => !renamed.contains(&key) || distrusted(&clip.machine),
            Folder::TestRenamed => !(plain.contains(&key) && distrusted(&clip.machine)),
            _ => true,
        }
    });
    if !doubled.is_empty() {
        remarks.push(format!(
            "{} sections have their test clips twice (test and test_rename); each is used once",
            doubled.len()
        ));
    }
    let untrusted: BTreeSet<&str> = clips
        .iter()
        .filter(|(clip, folder)| *folder == Folder::TestRenamed && distrusted(&clip.machine))
        .map(|(clip, _)| clip.machine.as_str())
        .collect();
    for machine in untrusted {
        remarks.push(format!(
            "{machine} 2022: names in test_rename come from a list that disagrees with the official \
             evaluator on half of the labels; use the clips as they were published (test) and the evaluator's ground truth"
        ));
    }
    clips
}

/// Clips were named otherwise in 2020: names of the other form are of another year.
fn remark_on_names(year: Year, clips: &[(DatasetClip, Folder)], remarks: &mut Vec<String>) {
    let is_foreign = |(clip, _): &&(DatasetClip, Folder)| {
        clip.name.starts_with("section_") == (year == Year::Y2020)
    };
    let foreign: Vec<&str> =
        clips.iter().filter(is_foreign).map(|(clip, _)| clip.name.as_str()).collect();
    if let Some(first) = foreign.first() {
        let other = if year == Year::Y2020 { "2021 and later" } else { "2020" };
        remarks.push(format!(
            "named as in DCASE {other}: {}, such as {first}; if they are, name that data set",
            plural(foreign.len(), "clip")
        ));
    }
}

fn remark_on_attributes(year: Year, clips: &[(DatasetClip, Folder)], remarks: &mut Vec<String>) {
    let train: Vec<_> =
        clips.iter().filter(|(clip, _)| clip.split == Split::Train).map(|(clip, _)| clip).collect();
    if year >= Year::Y2021
        && !train.is_empty()
        && train.iter().all(|clip| clip.attributes.is_empty())
    {
        remarks.push(
            "no attributes in names and no attributes_XX.csv: classes are machine and section only"
                .to_owned(),
        );
    }
}

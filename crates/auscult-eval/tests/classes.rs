//! How many classes the training clips of a data set have, on trees written here.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod trees;

use std::path::Path;

use auscult_eval::{
    datasets::{CheckReport, Dataset, DatasetKind, Set, Year},
    metrics::Domain,
};

use crate::trees::{table, write};

fn open(year: Year, root: &Path) -> Dataset {
    Dataset::open(DatasetKind::Dcase(year), &[root.to_owned()], None).unwrap()
}

#[test]
fn classes_leave_domains_out() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "fan/train/section_00_source_train_normal_0000_noAttribute.wav",
            "fan/train/section_00_target_train_normal_0001_noAttribute.wav",
            "valve/train/section_00_source_train_normal_0000_pat_00.wav",
            "valve/train/section_00_source_train_normal_0001_pat_01.wav",
        ],
    );
    assert_eq!(open(Year::Y2024, root.path()).class_count(), 3);
}

/// Names of training clips of every machine and section of a year; the attributes of a machine are
/// asked for.
fn training_names(
    year: Year,
    mut attributes: impl FnMut(&str) -> Vec<(Domain, String)>,
) -> Vec<String> {
    let mut names = Vec::new();
    for set in Set::ALL {
        for machine in year.machines(set) {
            for section in year.sections(set, machine) {
                let folder = if set == Set::Development { "dev_data" } else { "eval_data" };
                let folder = format!("{folder}/raw/{machine}/train");
                if year == Year::Y2020 {
                    let clips = 0..2;
                    names.extend(clips.map(|i| format!("{folder}/normal_id_{section}_{i:08}.wav")));
                    continue;
                }
                for (index, (domain, attributes)) in attributes(machine).iter().enumerate() {
                    let domain = domain.name();
                    names.push(format!(
                        "{folder}/section_{section}_{domain}_train_normal_{index:04}_{attributes}.wav"
                    ));
                }
            }
        }
    }
    names
}

fn opened(year: Year, names: &[String]) -> Dataset {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &names.iter().map(String::as_str).collect::<Vec<_>>());
    open(year, root.path())
}

/// The class of a clip is its machine and id: 23 ids of the development set, 18 of the evaluation.
#[test]
fn all_ids_of_2020_are_41_classes() {
    let names = training_names(Year::Y2020, |_| Vec::new());
    let dataset = opened(Year::Y2020, &names);
    let report = CheckReport::of(&dataset);
    assert_eq!((report.classes, report.classes_by_section), (41, 41));
    assert_eq!((report.known_classes, report.classes_as_known), (Some(41), Some(true)));
    let classes_of = |set: &str| -> usize {
        report.sections.iter().filter(|found| found.set == set).map(|found| found.classes).sum()
    };
    assert_eq!((classes_of("dev"), classes_of("eval")), (23, 18));
    // One id less is no longer the whole data set, and nothing to compare with.
    let dataset = opened(Year::Y2020, &names[2..]);
    let report = CheckReport::of(&dataset);
    assert_eq!((report.classes, report.classes_as_known), (40, None));
}

/// `count` attributes, a fifth of them of the target domain.
fn some_attributes(count: usize) -> Vec<(Domain, String)> {
    let domain = |at: usize| if at.is_multiple_of(5) { Domain::Target } else { Domain::Source };
    (0..count).map(|at| (domain(at), format!("car_A{at}_spd_31V_mic_1"))).collect()
}

/// With domains there would be 148: attributes of seven machines are hidden, and their one class
/// would be two.
#[test]
fn classes_of_2024_are_141_and_not_148() {
    let hidden = [
        "gearbox",
        "slider",
        "ToyTrain",
        "AirCompressor",
        "BrushlessMotor",
        "HoveringDrone",
        "ToothBrush",
    ];
    // How the other 134 are spread over nine machines is made up.
    let mut spread = [15; 9].into_iter().chain([14]).skip(1);
    let names = training_names(Year::Y2024, |machine| {
        if hidden.contains(&machine) {
            let both = [Domain::Source, Domain::Target];
            return both.map(|domain| (domain, "noAttribute".to_owned())).to_vec();
        }
        some_attributes(spread.next().unwrap())
    });
    let dataset = opened(Year::Y2024, &names);
    let report = CheckReport::of(&dataset);
    assert_eq!((report.classes, report.classes_by_section), (141, 16));
    assert_eq!(report.classes_as_known, Some(true));
    let with_domains: std::collections::BTreeSet<_> =
        dataset.clips.iter().map(|clip| (&clip.machine, clip.domain, &clip.attributes)).collect();
    assert_eq!(with_domains.len(), 148);
    // One attribute less in a whole data set is noticed.
    let report = CheckReport::of(&opened(Year::Y2024, &names[1..]));
    assert_eq!((report.classes, report.classes_as_known), (140, Some(false)));
    assert!(!report.complete);
}

/// In 2023 no attribute is in both domains, so that counting domains changes nothing.
#[test]
fn classes_of_2023_are_167_with_and_without_domains() {
    let mut spread = [12; 14].into_iter().enumerate();
    let names = training_names(Year::Y2023, |_| {
        let (at, count) = spread.next().unwrap();
        some_attributes(count - usize::from(at == 0))
    });
    let dataset = opened(Year::Y2023, &names);
    let report = CheckReport::of(&dataset);
    assert_eq!((report.classes, report.classes_by_section), (167, 14));
    assert_eq!(report.classes_as_known, Some(true));
}

/// Hidden attributes stay hidden where the evaluator's folder lies beside the data.
#[test]
fn correspondence_tables_do_not_change_classes() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "dev_data/raw/gearbox/train/section_00_source_train_normal_0000_noAttribute.wav",
            "dev_data/raw/gearbox/train/section_00_source_train_normal_0001_noAttribute.wav",
        ],
    );
    table(
        root.path(),
        "ground_truth_attributes/dcase2024t2/dev_data/gearbox/attributes_00_train_correspondence.csv",
        "source_file_name,target_file_name\n\
         section_00_source_train_normal_0000_volt_1.0_wt_50.wav,section_00_source_train_normal_0000_noAttribute.wav\n\
         section_00_source_train_normal_0001_volt_1.5_wt_50.wav,section_00_source_train_normal_0001_noAttribute.wav\n",
    );
    let dataset = open(Year::Y2024, root.path());
    assert_eq!((dataset.clips.len(), dataset.class_count()), (2, 1));
}

//! Layouts and traps of the data sets, on trees written here.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

mod trees;

use auscult_eval::{
    datasets::{CheckReport, ClipFile, Dataset, DatasetClip, DatasetKind, Split, Truth, Year},
    metrics::{Domain, Label},
};
use auscult_testing::{Layout, Machine, PerDomain, TreeRecipe, write_tree};

use crate::trees::{table, write};

fn open(year: Year, root: &Path) -> Dataset {
    Dataset::open(DatasetKind::Dcase(year), &[root.to_owned()], None).unwrap()
}

fn with_truth(year: Year, root: &Path, truth: &Path) -> Dataset {
    let truth = Truth::open(truth).unwrap();
    Dataset::open(DatasetKind::Dcase(year), &[root.to_owned()], Some(&truth)).unwrap()
}

fn find<'a>(dataset: &'a Dataset, name: &str) -> &'a DatasetClip {
    dataset.clips.iter().find(|clip| clip.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn layouts_of_the_challenge_of_baselines_and_of_toolkits_are_the_same_data() {
    let clips = [
        "fan/train/section_00_source_train_normal_0000_m-n_W.wav",
        "fan/test/section_00_target_test_anomaly_0001_m-n_X.wav",
    ];
    let mut fingerprints = Vec::new();
    for prefix in ["", "raw/", "dev_data/raw/", "original/dcase2023/dev_data/raw/", "dev_data/"] {
        let root = tempfile::tempdir().unwrap();
        write(
            root.path(),
            &clips.map(|clip| format!("{prefix}{clip}")).each_ref().map(String::as_str),
        );
        let dataset = open(Year::Y2023, root.path());
        assert_eq!(dataset.clips.len(), 2, "{prefix}");
        fingerprints.push(dataset.fingerprint());
    }
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 1);
}

#[test]
fn archives_are_read_in_place() {
    let root = tempfile::tempdir().unwrap();
    let mut archive = zip::ZipWriter::new(File::create(root.path().join("dev_fan.zip")).unwrap());
    for name in ["fan/train/section_00_source_train_normal_0000_m-n_W.wav", "fan/attributes_00.csv"]
    {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(b"bytes of the clip").unwrap();
    }
    archive.finish().unwrap();
    let dataset = open(Year::Y2023, root.path());
    assert_eq!((dataset.clips.len(), dataset.clips[0].machine.as_str()), (1, "fan"));
    assert!(matches!(dataset.clips[0].file, ClipFile::Archived { .. }));
    let bytes = dataset.clips[0].file.bytes(&auscult_eval::datasets::Archives::default());
    assert_eq!(bytes.unwrap(), b"bytes of the clip");
}

#[test]
fn a_half_downloaded_archive_is_named() {
    let root = tempfile::tempdir().unwrap();
    table(root.path(), "dev_fan.zip", "PK\u{3}\u{4} and then the connection broke");
    let error = Dataset::open(DatasetKind::Dcase(Year::Y2023), &[root.path().to_owned()], None);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("dev_fan.zip") && error.contains("fetch it again"), "{error}");
}

#[test]
fn a_download_that_is_not_finished_is_told() {
    let root = tempfile::tempdir().unwrap();
    table(root.path(), "dev_fan.zip.part", "PK");
    for kind in [DatasetKind::Dcase(Year::Y2023), DatasetKind::Mimii] {
        let error = Dataset::open(kind, &[root.path().to_owned()], None).unwrap_err().to_string();
        assert!(error.contains("dev_fan.zip.part is a download that stopped half way"), "{error}");
    }
    write(root.path(), &["valve/train/section_00_source_train_normal_0000_pat_00.wav"]);
    let remarks = open(Year::Y2023, root.path()).remarks();
    assert!(remarks[0].contains("the same auscult data download goes on"), "{remarks:?}");
}

#[test]
fn two_roots_make_one_data_set() {
    let (dev, eval) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(dev.path(), &["fan/train/section_00_source_train_normal_0000_x.wav"]);
    write(eval.path(), &["Vacuum/test/section_00_0001.wav"]);
    let roots: Vec<PathBuf> = [&dev, &eval].map(|root| root.path().to_owned()).to_vec();
    let dataset = Dataset::open(DatasetKind::Dcase(Year::Y2023), &roots, None).unwrap();
    let sets: Vec<&str> = dataset.clips.iter().map(|clip| clip.set.as_str()).collect();
    assert_eq!(sets, ["dev", "eval"]);
    assert_eq!(dataset.clips[1].label, None, "hidden");
}

#[test]
fn dcase_2020_has_ids_and_no_domains() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "dev_data/fan/train/normal_id_00_00000000.wav",
            "dev_data/fan/test/anomaly_id_00_00000003.wav",
            "eval_data/fan/train/normal_id_01_00000000.wav",
            "eval_data/fan/test/id_01_00000001.wav",
        ],
    );
    let truth = tempfile::tempdir().unwrap();
    let list = "fan\nid_01_00000001.wav,anomaly_id_01_00000000.wav,1\n";
    table(truth.path(), "eval_data_list.csv", list);
    let dataset = with_truth(Year::Y2020, root.path(), truth.path());
    assert_eq!(find(&dataset, "id_01_00000001.wav").label, Some(Label::Anomaly));
    assert!(dataset.clips.iter().all(|clip| clip.domain.is_none()));
    let sections: Vec<_> =
        dataset.groups().iter().map(|g| (g.set.to_owned(), g.section.to_owned())).collect();
    assert_eq!(sections, [("dev".into(), "00".into()), ("eval".into(), "01".into())]);
}

#[test]
fn dcase_2021_keeps_its_domains_in_folders() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "fan/train/section_03_target_train_normal_0000_strength_1.wav",
            "fan/source_test/section_03_source_test_0000.wav",
            "fan/target_test/section_03_target_test_0000.wav",
            // The baseline's download also copies both into one folder.
            "fan/test/section_03_source_test_0000.wav",
            "fan/test/section_03_target_test_0000.wav",
        ],
    );
    let truth = tempfile::tempdir().unwrap();
    for (domain, label) in [("source", 1), ("target", 0)] {
        table(
            truth.path(),
            &format!("ground_truth_data/ground_truth_fan_section_03_{domain}_test.csv"),
            &format!("section_03_{domain}_test_0000.wav,{label}\n"),
        );
    }
    let dataset = with_truth(Year::Y2021, root.path(), truth.path());
    assert_eq!(dataset.clips.len(), 3, "each test clip once");
    let source = find(&dataset, "section_03_source_test_0000.wav");
    assert_eq!((source.domain, source.label), (Some(Domain::Source), Some(Label::Anomaly)));
    let target = find(&dataset, "section_03_target_test_0000.wav");
    assert_eq!((target.domain, target.label), (Some(Domain::Target), Some(Label::Normal)));
}

#[test]
fn hidden_clips_get_label_and_domain_from_the_evaluator() {
    let root = tempfile::tempdir().unwrap();
    // Descriptions say section_00_test_0001; what is published is section_00_0001.
    write(
        root.path(),
        &[
            "Vacuum/test/section_00_0001.wav",
            "Vacuum/test/section_00_test_0002.wav",
            "Vacuum/test/section_00_0009.wav",
        ],
    );
    let truth = tempfile::tempdir().unwrap();
    let place =
        |folder: &str| format!("evaluator/{folder}/ground_truth_Vacuum_section_00_test.csv");
    table(
        truth.path(),
        &place("ground_truth_data"),
        "section_00_0001.wav,1\nsection_00_0002.wav,0\n",
    );
    table(
        truth.path(),
        &place("ground_truth_domain"),
        "section_00_0001.wav,1\nsection_00_0002.wav,0\n",
    );
    let dataset = with_truth(Year::Y2023, root.path(), truth.path());
    let first = find(&dataset, "section_00_0001.wav");
    assert_eq!((first.label, first.domain), (Some(Label::Anomaly), Some(Domain::Target)));
    let second = find(&dataset, "section_00_test_0002.wav");
    assert_eq!((second.label, second.domain), (Some(Label::Normal), Some(Domain::Source)));
    assert!(
        dataset
            .remarks()
            .iter()
            .any(|remark| remark == "not in the ground truth: 1 hidden test clip")
    );
    let error = Truth::open(root.path()).unwrap_err().to_string();
    assert!(error.contains("no ground_truth_data folder"), "{error}");
}

/// Several years in one run: 2020's ids and 2022's sections would be taken for each other.
#[test]
fn ground_truth_of_another_year_is_not_taken() {
    let root = tempfile::tempdir().unwrap();
    let folder = |year: u16| root.path().join(format!("dcase{year}_task2_evaluator"));
    for (year, name, label) in [(2022, "section_03_0000.wav", 1), (2023, "section_00_0000.wav", 0)]
    {
        let machine = if year == 2022 { "fan_section_03" } else { "Vacuum_section_00" };
        let place = format!("ground_truth_data/ground_truth_{machine}_test.csv");
        table(&folder(year), &place, &format!("{name},{label}\n"));
    }
    let both = [folder(2022), folder(2023)];
    let open = |year: Year, clip: &str| -> Dataset {
        let data = tempfile::tempdir().unwrap();
        write(data.path(), &[clip]);
        let kind = DatasetKind::Dcase(year);
        let truth = Truth::open_for(kind, &both).unwrap();
        Dataset::open(kind, &[data.path().to_owned()], truth.as_ref()).unwrap()
    };
    let dataset = open(Year::Y2022, "fan/test/section_03_0000.wav");
    assert_eq!(dataset.clips[0].label, Some(Label::Anomaly));
    let dataset = open(Year::Y2023, "Vacuum/test/section_00_0000.wav");
    assert_eq!(dataset.clips[0].label, Some(Label::Normal));
    let dataset = open(Year::Y2020, "fan/test/id_03_00000000.wav");
    assert_eq!(dataset.clips[0].label, None, "2022's fan 03 is another machine");
}

/// Trap: renamed copies carry labels of a list that is wrong for two machines of 2022.
#[test]
fn the_wrong_list_of_2022_is_not_believed() {
    let root = tempfile::tempdir().unwrap();
    let clips = [
        "ToyCar/test/section_03_0000.wav",
        "ToyCar/test_rename/section_03_source_test_normal_0000_A1.wav",
        "fan/test/section_03_0000.wav",
        "fan/test_rename/section_03_target_test_anomaly_0000_W.wav",
    ];
    write(root.path(), &clips);
    let truth = tempfile::tempdir().unwrap();
    let place = |folder: &str| format!("{folder}/ground_truth_ToyCar_section_03_test.csv");
    table(truth.path(), &place("ground_truth_data"), "section_03_0000.wav,1\n");
    table(truth.path(), &place("ground_truth_domain"), "section_03_0000.wav,1\n");
    let dataset = with_truth(Year::Y2022, root.path(), truth.path());
    assert_eq!(dataset.clips.len(), 2, "{:?}", dataset.clips);
    let car = dataset.clips.iter().find(|clip| clip.machine == "ToyCar").unwrap();
    assert_eq!((car.label, car.domain), (Some(Label::Anomaly), Some(Domain::Target)));
    let fan = dataset.clips.iter().find(|clip| clip.machine == "fan").unwrap();
    assert_eq!(fan.label, Some(Label::Anomaly), "other machines' renamed copies are right");

    let renamed_only = tempfile::tempdir().unwrap();
    write(renamed_only.path(), &clips[1..2]);
    let remarks = open(Year::Y2022, renamed_only.path()).remarks();
    assert!(
        remarks.iter().any(|remark| remark.contains("disagrees with the official")),
        "{remarks:?}"
    );
    // And the list itself is refused.
    table(
        truth.path(),
        "list.csv",
        "ToyCar\nsection_03_0000.wav,section_03_source_test_normal_0000.wav\n",
    );
    let error = Truth::open(&truth.path().join("list.csv")).unwrap_err().to_string();
    assert!(error.contains("disagrees"), "{error}");
}

/// Traps of 2024: one machine's renamed clips lack a word, another's have attributes only in test.
#[test]
fn odd_names_of_2024_are_read() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "RoboticArm/train/section_00_source_train_normal_0001_weight15_BckgF.wav",
            "RoboticArm/test_rename/section_00_source_normal_0035_weight15_BckgF.wav",
            "BrushlessMotor/train/section_00_source_train_normal_0001_noAttribute.wav",
            "BrushlessMotor/test_rename/section_00_target_test_anomaly_0001_volt_1.5_wt_50.wav",
        ],
    );
    let dataset = open(Year::Y2024, root.path());
    let arm = find(&dataset, "section_00_source_normal_0035_weight15_BckgF.wav");
    assert_eq!((arm.split, arm.label), (Split::Test, Some(Label::Normal)));
    let motor = find(&dataset, "section_00_target_test_anomaly_0001_volt_1.5_wt_50.wav");
    assert_eq!(motor.attributes, "volt_1.5_wt_50");
    assert_eq!(dataset.class_count(), 2);
}

/// Trap: a folder with "normal" in its name says nothing about the clips in it.
#[test]
fn only_base_names_tell_labels() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &["abnormal_backup/normal/fan/test/section_00_source_test_anomaly_0000_x.wav"],
    );
    let dataset = open(Year::Y2023, root.path());
    assert_eq!(dataset.clips[0].label, Some(Label::Anomaly));
    write(root.path(), &["more/fan/train/normal_not_a_dcase_name.wav"]);
    let dataset = open(Year::Y2023, root.path());
    assert!(dataset.remarks()[0].contains("names of no known form"), "{:?}", dataset.remarks());
}

#[test]
fn supplemental_clips_are_for_nothing_here() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "AutoTrash/supplemental/section_00_machine_0001_.wav",
            "AutoTrash/train/section_00_source_train_normal_0000_.wav",
        ],
    );
    let dataset = open(Year::Y2025, root.path());
    let groups = dataset.groups();
    assert_eq!((groups.len(), groups[0].train.len(), groups[0].test.len()), (1, 1, 0));
    assert_eq!(dataset.clips.iter().filter(|clip| clip.split == Split::Supplemental).count(), 1);
}

#[test]
fn clean_supplemental_clips_are_learnt_from_on_request_and_noise_never() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "AutoTrash/supplemental/section_00_machine_0001_.wav",
            "AutoTrash/supplemental/section_00_noise_0001_.wav",
            "AutoTrash/train/section_00_source_train_normal_0000_.wav",
        ],
    );
    let mut dataset = open(Year::Y2025, root.path());
    let before = dataset.fingerprint();
    dataset.learn_from_supplemental().unwrap();
    assert_eq!(dataset.groups()[0].train.len(), 2);
    assert_ne!(dataset.fingerprint(), before, "another run");
    let remarks = dataset.remarks().join("; ");
    assert!(remarks.contains("learnt from 1, of noise alone and not used 1"), "{remarks}");
    let error = dataset.learn_from_supplemental().unwrap_err().to_string();
    assert!(error.contains("no clean clips in folders called supplemental"), "{error}");
}

#[test]
fn attributes_come_from_tables_where_names_have_none() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "fan/train/section_00_source_train_normal_0000.wav",
            "fan/train/section_00_source_train_normal_0001.wav",
        ],
    );
    let remarks = open(Year::Y2022, root.path()).remarks();
    assert!(remarks.iter().any(|remark| remark.contains("no attributes")), "{remarks:?}");
    table(
        root.path(),
        "fan/attributes_00.csv",
        "file_name,d1p,d1v\nfan/train/section_00_source_train_normal_0000.wav,m-n,W\n\
         fan/train/section_00_source_train_normal_0001.wav,m-n,X\n",
    );
    let dataset = open(Year::Y2022, root.path());
    assert_eq!(dataset.clips[0].attributes, "m-n_W");
    assert_eq!(dataset.class_count(), 2);
}

#[test]
fn mimii_is_split_as_its_baseline_splits_it() {
    let root = tempfile::tempdir().unwrap();
    let clips: Vec<String> = (0..5)
        .map(|i| format!("0dB/pump/id_00/normal/{i:08}.wav"))
        .chain((0..2).map(|i| format!("0dB/pump/id_00/abnormal/{i:08}.wav")))
        .chain(["-6_dB_fan/fan/id_02/normal/00000000.wav".to_owned()])
        .collect();
    write(root.path(), &clips.iter().map(String::as_str).collect::<Vec<_>>());
    let dataset = Dataset::open(DatasetKind::Mimii, &[root.path().to_owned()], None).unwrap();
    let groups = dataset.groups();
    let pump = groups.iter().find(|group| group.machine == "pump").unwrap();
    assert_eq!((pump.set, pump.section), ("0dB", "00"));
    let names =
        |clips: &[&DatasetClip]| clips.iter().map(|clip| clip.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&pump.train), ["00000002.wav", "00000003.wav", "00000004.wav"]);
    assert_eq!(pump.test.len(), 4);
    assert_eq!(groups.iter().find(|group| group.machine == "fan").unwrap().set, "min6dB");
    assert!(dataset.remarks()[0].contains("no abnormal clips"), "{:?}", dataset.remarks());
    // A root may be one ratio, below folders with any name.
    let below = root.path().join("db_of_6dB_and_more/0dB");
    fs::create_dir_all(below.parent().unwrap()).unwrap();
    fs::rename(root.path().join("0dB"), &below).unwrap();
    let dataset = Dataset::open(DatasetKind::Mimii, &[below], None).unwrap();
    assert!(dataset.clips.iter().all(|clip| clip.set == "0dB"));
}

#[test]
fn a_wrong_root_is_told_with_what_was_looked_for() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &["notes/fan/train/recording 1.wav"]);
    for kind in [DatasetKind::Dcase(Year::Y2023), DatasetKind::Mimii, DatasetKind::Folder] {
        let roots = [root.path().join("nowhere")];
        assert!(Dataset::open(kind, &roots, None).unwrap_err().to_string().contains("nowhere"));
    }
    let error = Dataset::open(DatasetKind::Dcase(Year::Y2023), &[root.path().to_owned()], None);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("looked for <machine>/{train,test}/") && error.contains("recording 1.wav"),
        "{error}"
    );
}

#[test]
fn checking_counts_against_what_is_known() {
    let root = tempfile::tempdir().unwrap();
    let recipe = TreeRecipe {
        machines: vec![Machine::Fan, Machine::Pump],
        layout: Layout::Dcase,
        train: PerDomain { source: 3, target: 1 },
        test_normal: PerDomain { source: 1, target: 1 },
        test_anomalous: PerDomain { source: 1, target: 1 },
        visits: 1,
        seconds: 0.5,
        ..TreeRecipe::default()
    };
    write_tree(&root.path().join("tree"), &recipe, &mut |_, _| {}).unwrap();
    let report = CheckReport::of(&open(Year::Y2023, &root.path().join("tree")));
    let fan = report.sections.iter().find(|section| section.machine == "fan").unwrap();
    assert_eq!((fan.train_source, fan.train_target, fan.test), (3, 1, [1, 1, 1, 1]));
    assert!(fan.problems.iter().any(|problem| problem.contains("3 of 990")), "{:?}", fan.problems);
    assert!(!report.complete);
    assert!(report.missing["dev"].contains(&"valve 00".to_owned()));
    assert!(report.missing["eval"].contains(&"Vacuum 00".to_owned()));
    let pump = report.sections.iter().find(|section| section.machine == "pump").unwrap();
    assert_eq!(pump.known, None, "no machine of 2023");
    assert!(
        report
            .remarks
            .iter()
            .any(|remark| remark.contains("not of dcase2023, evaluated all the same"))
    );
}

#[test]
fn machines_of_no_year_are_told_where_they_are_evaluated_and_where_they_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "fan/train/section_00_source_train_normal_0000_x.wav",
            "mill/train/section_00_source_train_normal_0000_x.wav",
        ],
    );
    let keep = |machines: &[&str], sets: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut dataset = open(Year::Y2023, root.path());
        dataset.keep(&owned(machines), &owned(sets)).map(|()| dataset.remarks())
    };
    let evaluated = "not of dcase2023, evaluated all the same: mill 00";
    assert_eq!(keep(&[], &[]).unwrap(), [evaluated]);
    assert_eq!(keep(&["mill"], &[]).unwrap(), [evaluated]);
    let left_out = "not of dcase2023, in none of its splits and left out: mill 00";
    assert_eq!(keep(&[], &["dev"]).unwrap(), [left_out]);
    assert!(keep(&["fan"], &["dev"]).unwrap().is_empty());
    let error = keep(&[], &["eval"]).unwrap_err().to_string();
    assert_eq!(error, "dcase2023: there is no split \"eval\"; there are \"dev\"");
}

#[test]
fn names_of_another_year_are_told() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &["fan/train/section_00_source_train_normal_0000_x.wav"]);
    let told = "named as in DCASE 2021 and later: 1 clip, such as section_00_source";
    assert!(open(Year::Y2020, root.path()).remarks()[0].starts_with(told));
    assert!(open(Year::Y2023, root.path()).remarks().is_empty());
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &["fan/train/normal_id_00_00000000.wav"]);
    assert!(open(Year::Y2020, root.path()).remarks().is_empty());
    let told = "named as in DCASE 2020: 1 clip, such as normal_id_00_00000000.wav";
    assert!(open(Year::Y2023, root.path()).remarks()[0].starts_with(told));
}

#[test]
fn of_a_root_with_several_years_only_the_one_asked_for_is_read() {
    let root = tempfile::tempdir().unwrap();
    let clip = "fan/train/section_00_source_train_normal_000";
    write(
        root.path(),
        &[
            &format!("dcase2023/{clip}0_x.wav"),
            &format!("DCASE2024_task2/raw/{clip}1_x.wav"),
            "mimii/0dB/fan/id_00/normal/00000000.wav",
        ],
    );
    let named =
        [DatasetKind::Dcase(Year::Y2023), DatasetKind::Dcase(Year::Y2024), DatasetKind::Mimii];
    assert_eq!(DatasetKind::named_in(root.path()), named);
    assert!(DatasetKind::named_in(&root.path().join("dcase2023")).is_empty());
    for (kind, folder) in named.into_iter().zip(["dcase2023", "DCASE2024_task2", "mimii"]) {
        let dataset = Dataset::open(kind, &[root.path().to_owned()], None).unwrap();
        let [clip] = dataset.clips.as_slice() else { panic!("{:?}", dataset.clips) };
        assert!(clip.file.label().contains(folder), "{}", clip.file.label());
        let told = format!("{kind}: only {} is read", root.path().join(folder).display());
        assert_eq!(dataset.remarks()[0], told);
    }
    let other = Dataset::open(DatasetKind::Dcase(Year::Y2022), &[root.path().to_owned()], None);
    let error = other.unwrap_err().to_string();
    assert!(
        error.contains("has folders of dcase2023, dcase2024, mimii and none of dcase2022"),
        "{error}"
    );
}

/// Headers only: that sound follows which is no sound is for those who read it.
#[test]
fn files_that_are_missing_empty_or_cut_off_are_named_also_in_archives() {
    let root = tempfile::tempdir().unwrap();
    let recipe = TreeRecipe {
        machines: vec![Machine::Fan],
        layout: Layout::Dcase,
        train: PerDomain { source: 3, target: 1 },
        test_normal: PerDomain { source: 1, target: 1 },
        test_anomalous: PerDomain { source: 1, target: 1 },
        visits: 1,
        seconds: 0.5,
        ..TreeRecipe::default()
    };
    let tree = root.path().join("tree");
    write_tree(&tree, &recipe, &mut |_, _| {}).unwrap();
    let unusable = |root: &Path| CheckReport::of(&open(Year::Y2023, root)).unusable;
    assert_eq!(unusable(&tree), []);
    let train = tree.join("fan/train");
    let mut names: Vec<PathBuf> =
        fs::read_dir(&train).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let whole = fs::read(&names[0]).unwrap();
    fs::write(&names[0], b"").unwrap();
    fs::write(&names[1], &whole[..whole.len() - 100]).unwrap();
    fs::write(&names[2], b"<html>not found</html>").unwrap();
    let told = |root: &Path| -> Vec<String> {
        unusable(root).into_iter().map(|problem| problem.reason).collect()
    };
    let wanted = ["the file is empty", "damaged after", "not a sound file this program knows"];
    let is_told = |reasons: &[String]| {
        reasons.len() == 3 && reasons.iter().zip(wanted).all(|(got, want)| got.starts_with(want))
    };
    assert!(is_told(&told(&tree)), "{:?}", told(&tree));
    assert_eq!(unusable(&tree)[0].file, names[0].display().to_string());
    assert!(!CheckReport::of(&open(Year::Y2023, &tree)).complete);
    let packed = root.path().join("packed");
    fs::create_dir(&packed).unwrap();
    let mut archive = zip::ZipWriter::new(File::create(packed.join("dev_fan.zip")).unwrap());
    for path in &names {
        let name = path.strip_prefix(&tree).unwrap().to_str().unwrap();
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&fs::read(path).unwrap()).unwrap();
    }
    archive.finish().unwrap();
    assert!(is_told(&told(&packed)), "{:?}", told(&packed));
}

#[test]
fn nothing_is_called_known_that_is_not_compared() {
    let agreement = |year: Year, names: &[String]| {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &names.iter().map(String::as_str).collect::<Vec<_>>());
        let found = CheckReport::of(&open(year, root.path())).sections;
        let found = found.iter().find(|section| section.machine == "fan").unwrap();
        (found.agreement(), found.problems.clone())
    };
    let train = |domain: &str, count: usize| {
        let name = move |at| {
            format!("fan/train/section_00_{}_train_normal_{at:04}_x.wav", domain.to_owned())
        };
        (0..count).map(name).collect::<Vec<_>>()
    };
    let mut names = [train("source", 1000), train("target", 3)].concat();
    names.push("fan/source_test/section_00_source_test_normal_0000.wav".to_owned());
    let (said, problems) = agreement(Year::Y2021, &names);
    assert_eq!((said, problems.len()), ("training clips as known, test clips not known", 0));
    names.push("fan/train/section_00_target_train_normal_0003_x.wav".to_owned());
    assert_eq!(
        agreement(Year::Y2021, &names).1,
        ["4 training clips of the target domain, known are 3"]
    );
    let test = (0..1342).map(|at| format!("fan/test/id_01_{at:08}.wav"));
    let names: Vec<String> =
        test.chain(["fan/train/normal_id_01_00000000.wav".to_owned()]).collect();
    let (said, problems) = agreement(Year::Y2020, &names);
    assert_eq!(said, "test clips of all ids as known, training clips not known");
    assert!(problems[0].starts_with("1342 test clips without a label"), "{problems:?}");
}

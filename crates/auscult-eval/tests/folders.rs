//! Folders with labels and manifests, on trees written here.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod trees;

use std::path::Path;

use auscult_eval::{
    datasets::{CheckReport, Dataset, DatasetClip, DatasetKind, Split},
    metrics::{Domain, Label},
    problems::grouped,
};

use crate::trees::{table, write};

fn clip<'a>(dataset: &'a Dataset, name: &str) -> &'a DatasetClip {
    dataset.clips.iter().find(|clip| clip.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn folders_and_manifests_with_labels_are_data_sets_too() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            "pump/train/a.wav",
            "pump/test/normal/b.wav",
            "pump/test/faulty/c.wav",
            "pump/test/unknown/d.wav",
        ],
    );
    let open = |root: &Path| Dataset::open(DatasetKind::Folder, &[root.to_owned()], None);
    let dataset = open(root.path()).unwrap();
    assert_eq!(clip(&dataset, "a.wav").split, Split::Train);
    assert_eq!(clip(&dataset, "c.wav").label, Some(Label::Anomaly));
    assert_eq!(clip(&dataset, "d.wav").label, None);
    assert!(dataset.clips.iter().all(|clip| clip.machine == "pump"));

    let halves = tempfile::tempdir().unwrap();
    let clips: Vec<String> =
        (0..6).map(|i| format!("normal/{i}.wav")).chain(["abnormal/x.wav".to_owned()]).collect();
    write(halves.path(), &clips.iter().map(String::as_str).collect::<Vec<_>>());
    let dataset = open(halves.path()).unwrap();
    assert_eq!(dataset.clips.iter().filter(|clip| clip.split == Split::Test).count(), 2);
    assert!(
        dataset.remarks()[0].contains("the first 1 of 6 normal clips"),
        "{:?}",
        dataset.remarks()
    );

    let listed = tempfile::tempdir().unwrap();
    table(
        listed.path(),
        "manifest.csv",
        "path,split,label,domain\na.wav,train,,source\nb.wav,test,anomaly,target\n",
    );
    let dataset = open(listed.path()).unwrap();
    assert_eq!(clip(&dataset, "b.wav").domain, Some(Domain::Target));
    for (text, message) in [
        ("path,visit\na.wav,0\n", "the columns split (train or test) and label are missing"),
        ("path,split\na.wav,train\nb.wav,\n", "line 3: split must be train or test, got \"\""),
        (
            "path,split,label\na.wav,test,2\n",
            "line 2: label must be 0, 1, normal or anomaly, got \"2\"",
        ),
        ("path,split\na.wav\n", "manifest.csv, line 2: the row has 1 cells"),
        ("file,split\na.wav,test\n", "the header has no column `path`"),
        ("path,split,label\na.wav,train,1\n", "line 2: an anomaly among the training clips"),
        ("path,split,label\na.wav,dev,1\n", "split must be train or test, got \"dev\""),
        ("path,split\na.wav,train\na.wav,test\n", "line 3: \"a.wav\" is in line 2 too"),
        ("path,split,seconds\na.wav,train,1\n", "line 2: start_seconds and seconds name a part"),
        ("path,split,domain\na.wav,train,left\n", "domain must be source or target, got \"left\""),
    ] {
        table(listed.path(), "manifest.csv", text);
        let error = open(listed.path()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_manifest_without_splits_is_split_as_folders_are() {
    let rows: Vec<String> = (0..6).map(|at| format!("{at}.wav,ok\n")).collect();
    let csv = format!("Path,Label\n{}x.wav,NG\ny.wav,\n", rows.concat());
    let json = csv.lines().skip(1).map(|line| {
        let (path, label) = line.split_once(',').unwrap();
        format!("{{\"path\":{path:?},\"label\":{label:?}}}\n")
    });
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("list.csv", csv.clone()), ("list.jsonl", json.collect())] {
        table(folder.path(), name, &text);
        let dataset =
            Dataset::open(DatasetKind::Folder, &[folder.path().join(name)], None).unwrap();
        let tested = |clip: &&DatasetClip| clip.split == Split::Test;
        let tested: Vec<&str> =
            dataset.clips.iter().filter(tested).map(|clip| clip.name.as_str()).collect();
        assert_eq!(tested, ["0.wav", "x.wav"], "{name}");
        assert_eq!(clip(&dataset, "x.wav").label, Some(Label::Anomaly));
        let unlabelled = clip(&dataset, "y.wav");
        assert_eq!((unlabelled.label, unlabelled.split), (None, Split::Train));
        let remark = "all clips: no clip is marked for testing; the first 1 of 6 normal clips";
        assert!(dataset.remarks()[0].starts_with(remark), "{:?}", dataset.remarks());
    }
}

#[test]
fn a_folder_has_no_splits_to_choose_from() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), &["train/a.wav", "test/normal/b.wav"]);
    let keep = |machines: &[String], sets: &[String]| {
        let mut dataset =
            Dataset::open(DatasetKind::Folder, &[root.path().to_owned()], None).unwrap();
        dataset.keep(machines, sets).unwrap_err().to_string()
    };
    assert_eq!(
        keep(&[], &["dev".to_owned()]),
        "folder: there is no split \"dev\", nor any other; leave out --split"
    );
    assert_eq!(
        keep(&["fan".to_owned()], &[]),
        "folder: there is no machine \"fan\", nor any other; leave out --machine"
    );
}

#[test]
fn a_manifest_without_labels_says_so_and_what_to_add() {
    let root = tempfile::tempdir().unwrap();
    table(root.path(), "manifest.csv", "path,split\na.wav,train\nb.wav,test\n");
    let roots = [root.path().to_owned()];
    assert_eq!(DatasetKind::guess(&roots).unwrap(), DatasetKind::Folder);
    let report = CheckReport::of(&Dataset::open(DatasetKind::Folder, &roots, None).unwrap());
    assert!(report.remarks[0].contains("manifest.csv has no column label"), "{report:?}");
    let told = &report.sections[0].problems[0];
    assert!(told.contains("fill the column label") && !told.contains("--truth"), "{told}");
}

#[test]
fn rows_of_a_manifest_without_a_file_are_told() {
    let root = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..12).map(|at| format!("{at}.wav,train,normal\n")).collect();
    let rows = rows.concat();
    table(root.path(), "manifest.csv", &format!("path,split,label\n{rows}"));
    let roots = [root.path().to_owned()];
    let report = CheckReport::of(&Dataset::open(DatasetKind::Folder, &roots, None).unwrap());
    assert_eq!((report.unusable.len(), report.complete), (12, false));
    let lines = grouped(&report.unusable);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("12 files: cannot be read: "), "{lines:?}");
    assert!(lines[0].ends_with("7.wav and 2 more"), "{lines:?}");
    assert_eq!(report.sections[0].name(), "all clips");
}

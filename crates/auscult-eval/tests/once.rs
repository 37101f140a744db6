//! Each clip counts once, however often it lies on the disk.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod trees;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use auscult_eval::datasets::{ClipFile, Dataset, DatasetKind, Year};

use crate::trees::{table, write};

const DCASE: DatasetKind = DatasetKind::Dcase(Year::Y2023);

/// Clips of one machine in each form of data set.
const FORMS: [(DatasetKind, [&str; 2]); 3] = [
    (
        DCASE,
        [
            "fan/train/section_00_source_train_normal_0000_m-n_W.wav",
            "fan/test/section_00_target_test_anomaly_0001_m-n_X.wav",
        ],
    ),
    (
        DatasetKind::Mimii,
        ["0dB/fan/id_00/normal/00000000.wav", "0dB/fan/id_00/abnormal/00000000.wav"],
    ),
    (DatasetKind::Folder, ["fan/train/0.wav", "fan/test/normal/0.wav"]),
];

fn archive(path: &Path, names: &[&str]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    for name in names {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
    }
    archive.finish().unwrap();
}

fn refusal(kind: DatasetKind, roots: &[PathBuf]) -> String {
    Dataset::open(kind, roots, None).unwrap_err().to_string()
}

#[test]
fn of_an_archive_and_what_was_unpacked_from_it_the_unpacked_is_used_and_that_is_told() {
    for (kind, clips) in FORMS {
        let root = tempfile::tempdir().unwrap();
        archive(&root.path().join("dev.zip"), &clips);
        // Unpacking stopped half way: the rest comes from the archive.
        for unpacked in [1, 2] {
            write(root.path(), &clips[..unpacked]);
            let dataset = Dataset::open(kind, &[root.path().to_owned()], None).unwrap();
            assert_eq!(dataset.clips.len(), 2, "{kind}");
            let is_plain = |file: &ClipFile| matches!(file, ClipFile::Plain(_));
            let plain = dataset.clips.iter().filter(|clip| is_plain(&clip.file)).count();
            assert_eq!(plain, unpacked, "{kind}");
            let told = format!("dev.zip: {unpacked} of its clips lie unpacked beside it");
            let remarks = dataset.remarks();
            assert!(remarks.iter().any(|remark| remark.contains(&told)), "{remarks:?}");
        }
    }
}

#[test]
fn clips_in_two_folders_or_two_archives_are_refused() {
    for (kind, clips) in FORMS {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &clips);
        write(root.path(), &clips.map(|clip| format!("raw/{clip}")).each_ref().map(String::as_str));
        let error = refusal(kind, &[root.path().to_owned()]);
        assert!(error.contains("2 clips are found twice, such as "), "{error}");
        assert!(error.contains("raw") && error.contains("counts once"), "{error}");

        let root = tempfile::tempdir().unwrap();
        for name in ["a.zip", "b.zip"] {
            archive(&root.path().join(name), &clips[..1]);
        }
        let error = refusal(kind, &[root.path().to_owned()]);
        assert!(error.contains("a clip is found twice, such as "), "{error}");
        assert!(error.contains("a.zip:") && error.contains("b.zip:"), "{error}");
    }
}

#[test]
fn a_root_that_is_named_twice_is_refused() {
    for (kind, clips) in FORMS {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), &clips);
        let again = root.path().join("fan").join("..");
        let again = if again.exists() { again } else { root.path().join("0dB/..") };
        let error = refusal(kind, &[root.path().to_owned(), again]);
        assert!(error.contains("is named twice; name each root once"), "{error}");
    }
}

#[test]
fn clips_of_one_name_in_folders_of_their_own_are_different_clips() {
    let root = tempfile::tempdir().unwrap();
    let clips = ["fan/train/monday/0.wav", "fan/train/tuesday/0.wav", "pump/train/monday/0.wav"];
    write(root.path(), &clips);
    let dataset = Dataset::open(DatasetKind::Folder, &[root.path().to_owned()], None).unwrap();
    assert_eq!(dataset.clips.len(), 3);
    // Nor are those of a manifest, whose rows say what they are.
    let listed = tempfile::tempdir().unwrap();
    table(listed.path(), "manifest.csv", "path,split\na/fan/0.wav,train\nb/fan/0.wav,train\n");
    let dataset = Dataset::open(DatasetKind::Folder, &[listed.path().to_owned()], None).unwrap();
    assert_eq!(dataset.clips.len(), 2);
}

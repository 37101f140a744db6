//! Trees: the promised files and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use auscult_testing::{Error, Fault, Layout, Machine, PerDomain, TreeRecipe, write_tree};
use tempfile::TempDir;

fn small(layout: Layout) -> TreeRecipe {
    TreeRecipe {
        machines: vec![Machine::Fan, Machine::Valve],
        layout,
        train: PerDomain { source: 4, target: 1 },
        test_normal: PerDomain { source: 2, target: 1 },
        test_anomalous: PerDomain { source: 2, target: 1 },
        visits: 2,
        seconds: 0.1,
        ..TreeRecipe::default()
    }
}

fn write(recipe: &TreeRecipe) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_tree(folder.path(), recipe, &mut |_, _| ()).unwrap();
    folder
}

/// All files below the folder, relative to it, with `/`.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap();
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

#[test]
fn dcase_tree_has_exactly_the_promised_files() {
    let folder = write(&small(Layout::Dcase));
    let of_fan = [
        "attributes_00.csv",
        "test.csv",
        "test/section_00_source_test_anomaly_0000_state_0_visit_05.wav",
        "test/section_00_source_test_anomaly_0001_state_1_visit_06.wav",
        "test/section_00_source_test_normal_0000_state_0_visit_05.wav",
        "test/section_00_source_test_normal_0001_state_1_visit_06.wav",
        "test/section_00_target_test_anomaly_0000_state_0_visit_07.wav",
        "test/section_00_target_test_normal_0000_state_0_visit_07.wav",
        "train.csv",
        "train/section_00_source_train_normal_0000_state_0_visit_01.wav",
        "train/section_00_source_train_normal_0001_state_1_visit_01.wav",
        "train/section_00_source_train_normal_0002_state_2_visit_02.wav",
        "train/section_00_source_train_normal_0003_state_1_visit_02.wav",
        "train/section_00_target_train_normal_0000_state_0_visit_03.wav",
    ];
    let expected: BTreeSet<_> = ["fan", "valve"]
        .iter()
        .flat_map(|machine| of_fan.iter().map(move |file| format!("{machine}/{file}")))
        .collect();
    assert_eq!(files_below(folder.path()), expected);
}

#[test]
fn visits_tree_has_exactly_the_promised_files() {
    let folder = write(&TreeRecipe { machines: vec![Machine::Valve], ..small(Layout::Visits) });
    let expected = [
        "valve/check.csv",
        "valve/check/leak_0000.wav",
        "valve/check/missing_stroke_0000.wav",
        "valve/check/missing_stroke_0001.wav",
        "valve/check/normal_0000.wav",
        "valve/check/normal_0001.wav",
        "valve/check/normal_0002.wav",
        "valve/normal/visit_01/0000.wav",
        "valve/normal/visit_01/0001.wav",
        "valve/normal/visit_02/0000.wav",
        "valve/normal/visit_02/0001.wav",
        "valve/normal/visit_03/0000.wav",
    ];
    assert_eq!(files_below(folder.path()), expected.map(String::from).into());
}

#[test]
fn tables_say_what_each_clip_is() {
    let folder = write(&TreeRecipe { machines: vec![Machine::Valve], ..small(Layout::Dcase) });
    let read = |name| fs::read_to_string(folder.path().join("valve").join(name)).unwrap();
    let test: Vec<_> = read("test.csv").lines().map(String::from).collect();
    assert_eq!(test.len(), 7);
    assert_eq!(test[0], "path,visit,domain,label,fault,state");
    assert_eq!(
        test[3],
        "test/section_00_source_test_anomaly_0000_state_0_visit_05.wav,5,source,anomaly,missing_stroke,0"
    );
    let attributes: Vec<_> = read("attributes_00.csv").lines().map(String::from).collect();
    assert_eq!(attributes.len(), 12);
    assert_eq!(
        attributes[1],
        "valve/train/section_00_source_train_normal_0000_state_0_visit_01.wav,state,0,visit,01"
    );
}

#[test]
fn test_clips_come_from_visits_that_are_not_in_training() {
    for layout in Layout::ALL {
        let files = TreeRecipe { layout, ..TreeRecipe::default() }.files().unwrap();
        let visits = |train| {
            let chosen = files
                .iter()
                .filter(|file| (file.split == auscult_testing::tree::Split::Train) == train);
            chosen.map(|file| file.recipe.visit).collect::<BTreeSet<_>>()
        };
        assert!(visits(true).is_disjoint(&visits(false)));
    }
}

#[test]
fn no_two_clips_of_a_tree_are_the_same() {
    let files = TreeRecipe::default().files().unwrap();
    for (index, file) in files.iter().enumerate() {
        let twin = files[..index].iter().find(|other| {
            let recipe =
                auscult_testing::ClipRecipe { fault: file.recipe.fault, ..other.recipe.clone() };
            recipe == file.recipe || other.path == file.path
        });
        assert_eq!(twin, None, "{file:?}");
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let contents = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let folder = pool.install(|| write(&small(Layout::Dcase)));
        let files = files_below(folder.path()).into_iter();
        files.map(|file| fs::read(folder.path().join(file)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(contents(1), contents(3));
}

#[test]
fn progress_ends_at_the_total_and_paths_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut heard = Vec::new();
    let recipe = small(Layout::Dcase);
    let files =
        write_tree(folder.path(), &recipe, &mut |done, total| heard.push((done, total))).unwrap();
    assert_eq!(files.len(), 22);
    assert!(files.iter().all(|file| file.path.is_file()));
    assert_eq!(heard.first(), Some(&(0, 22)));
    assert_eq!(heard.last(), Some(&(22, 22)));
    assert!(heard.is_sorted());
}

#[test]
fn folder_with_something_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let precious: PathBuf = folder.path().join("precious.txt");
    fs::write(&precious, "keep").unwrap();
    let error = write_tree(folder.path(), &small(Layout::Dcase), &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, Error::FolderNotEmpty { .. }), "{error}");
    assert_eq!(files_below(folder.path()), ["precious.txt".to_owned()].into());
}

#[test]
fn recipes_that_make_no_sense_are_refused() {
    let recipe = TreeRecipe::default();
    let cases = [
        (
            TreeRecipe { machines: vec![], ..recipe.clone() },
            "a tree needs each machine once and at least one, got []",
        ),
        (
            TreeRecipe { machines: vec![Machine::Fan, Machine::Fan], ..recipe.clone() },
            "a tree needs each machine once and at least one, got [\"fan\", \"fan\"]",
        ),
        (TreeRecipe { visits: 0, ..recipe.clone() }, "visits must be in 1..=24, got 0"),
        (
            TreeRecipe { faults: vec![Fault::Squeal], ..recipe.clone() },
            "a fan has no fault squeal; use one of bearing_impulses, imbalance",
        ),
        (TreeRecipe { severity: 0.0, ..recipe }, "severity must be in (0, 1], got 0"),
    ];
    for (recipe, message) in cases {
        assert_eq!(recipe.check().unwrap_err().to_string(), message);
    }
}

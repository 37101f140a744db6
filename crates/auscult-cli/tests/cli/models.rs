//! Models are changed, checked, damaged and refused.

use crate::support::{Sandbox, clip, wav_of};
use auscult_testing::ClipRecipe;

const FIT: &str = "--clip-seconds 1";

#[test]
fn adding_equals_a_fresh_fit_bit_for_bit() {
    let sandbox = Sandbox::with_recordings();
    let all = ["normal/visit_1", "normal/visit_2", "normal/visit_3"];
    sandbox.run(&format!("fit --preset paper {} -o a.auscult {FIT} --visit one", all[0])).exits(0);
    sandbox.run(&format!("model add a.auscult {} --visit one", all[1])).exits(0);
    let told = sandbox.run(&format!("model add a.auscult {} --visit one", all[2])).exits(0);
    assert!(told.stdout.contains("a.auscult: 24 references, were 16; threshold"), "{told:#?}");
    sandbox
        .run(&format!("fit --preset paper {} -o fresh.auscult {FIT} --visit one", all.join(" ")))
        .exits(0);
    assert_eq!(sandbox.read("a.auscult"), sandbox.read("fresh.auscult"));
}

#[test]
fn forgetting_equals_a_fresh_fit_on_the_others_bit_for_bit() {
    let sandbox = Sandbox::with_model();
    sandbox.run("model forget model.auscult --visit visit_2").exits(0);
    sandbox.run("model forget model.auscult --source normal/visit_1/3.wav --index 0").exits(0);
    std::fs::remove_dir_all(sandbox.path("normal/visit_2")).unwrap();
    std::fs::remove_file(sandbox.path("normal/visit_1/3.wav")).unwrap();
    std::fs::remove_file(sandbox.path("normal/visit_1/0.wav")).unwrap();
    sandbox.run(&format!("fit --preset paper normal -o fresh.auscult {FIT}")).exits(0);
    assert_eq!(sandbox.read("model.auscult"), sandbox.read("fresh.auscult"));
    sandbox.run("model verify model.auscult").exits(0);
}

#[test]
fn adding_and_forgetting_again_changes_nothing() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    sandbox.record("later", 7..8, 3);
    sandbox.run("model add model.auscult later").exits(0);
    assert_ne!(sandbox.read("model.auscult"), before);
    sandbox.run("model forget model.auscult --visit visit_7").exits(0);
    assert_eq!(sandbox.read("model.auscult"), before);
}

#[test]
fn adding_what_is_there_changes_nothing_and_says_so() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    let ran = sandbox.run("model add model.auscult normal/visit_1").exits(0);
    assert_eq!(ran.stdout, "model.auscult: unchanged, it has all 8 clips already\n");
    assert_eq!(sandbox.read("model.auscult"), before);
}

#[test]
fn a_full_coreset_takes_in_new_clips() {
    let sandbox = Sandbox::with_recordings();
    sandbox
        .run("fit --preset paper normal -o model.auscult --clip-seconds 1 --max-references 10")
        .exits(0);
    let before = sandbox.read("model.auscult");
    sandbox.record("more", 7..9, 4);
    let ran = sandbox.run("model add model.auscult more").exits(0);
    assert!(ran.stdout.contains("10 references, were 10"), "{ran:?}");
    assert!(sandbox.read("model.auscult") != before, "the new clips count");
}

#[test]
fn forgetting_what_is_not_there_is_refused_and_changes_nothing() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    let forget = |what: &str| sandbox.run(&format!("model forget model.auscult {what}")).exits(2);
    forget("").says("say what to forget: --visit, --source or --index");
    forget("--visit sunday").says("no reference belongs to visit \"sunday\"; nothing was changed");
    forget("--source x.wav").says("no reference comes from \"x.wav\"; nothing was changed");
    forget("--index 24").says("no reference has index 24, they go up to 23; nothing was changed");
    forget("--index -1").says("invalid value '-1'");
    forget("--visit visit_1 --visit visit_2 --visit visit_3")
        .says("nothing would be left in memory; delete");
    assert_eq!(sandbox.read("model.auscult"), before);
}

#[test]
fn coresets_are_deterministic_and_equal_whether_made_at_once_or_later() {
    let sandbox = Sandbox::with_model();
    sandbox
        .run(&format!(
            "fit --preset paper normal -o small.auscult {FIT} --max-references 6 --jobs 1"
        ))
        .exits(0);
    let once = sandbox.read("small.auscult");
    sandbox
        .run(&format!(
            "fit --preset paper normal -o small.auscult {FIT} --max-references 6 --jobs 5"
        ))
        .exits(0);
    assert_eq!(sandbox.read("small.auscult"), once);
    sandbox.run("model coreset model.auscult --max-references 6").exits(0);
    assert_eq!(sandbox.read("model.auscult"), once);
    sandbox.run("model verify small.auscult").exits(0);
    let rows = sandbox.score("small.auscult normal");
    assert_eq!(rows.len(), 24);
    let ran = sandbox.run("model coreset model.auscult --max-references 0").exits(2);
    ran.says("--max-references must be at least 1, got 0");
}

#[test]
fn a_flipped_byte_anywhere_is_refused() {
    let sandbox = Sandbox::with_model();
    let whole = sandbox.read("model.auscult");
    let step = whole.len() / 40;
    for at in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        sandbox.write("bad.auscult", bytes);
        let ran = sandbox.run("model verify bad.auscult").exits(2);
        assert!(ran.stderr.contains("bad.auscult: "), "byte {at}: {ran:#?}");
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_model_cut_short_anywhere_is_refused_and_can_be_fitted_again() {
    let sandbox = Sandbox::with_model();
    let whole = sandbox.read("model.auscult");
    for len in [1, 7, 8, 9, 100, 1000, whole.len() / 2, whole.len() - 1] {
        sandbox.write("bad.auscult", &whole[..len]);
        for line in
            ["score bad.auscult normal", "inspect bad.auscult", "model add bad.auscult normal"]
        {
            sandbox.run(line).exits(2).says("bad.auscult: ");
        }
    }
    sandbox.run("model verify bad.auscult").exits(2).says("restore it from a copy or fit it again");
    sandbox.run(&format!("fit --preset paper normal -o bad.auscult {FIT}")).exits(0);
    assert_eq!(sandbox.read("bad.auscult"), whole);
}

#[test]
fn foreign_files_are_refused_as_models() {
    let sandbox = Sandbox::with_recordings();
    let header = br#"{"weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut tensors = (header.len() as u64).to_le_bytes().to_vec();
    tensors.extend(header);
    tensors.extend([0; 4]);
    let files: [(&str, &[u8], &str); 4] = [
        ("weights.safetensors", &tensors, "a safetensors file without an auscult header"),
        ("empty.auscult", b"", "the file is empty"),
        (
            "notes.txt",
            b"Meeting notes, pump hall 3, long enough for a header",
            "not an auscult model",
        ),
        ("zeros.bin", &[0; 4096], "not an auscult model"),
    ];
    for (name, bytes, saying) in files {
        sandbox.write(name, bytes);
        sandbox.run(&format!("score {name} normal")).exits(2).says(saying);
        sandbox.run(&format!("model add {name} normal")).exits(2).says(saying);
        assert_eq!(sandbox.read(name), bytes, "{name} was not changed");
    }
}

#[test]
fn a_model_from_the_future_asks_for_an_update() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.read("model.auscult");
    let (from, to) = (br#"\"version\":6,"#, br#"\"version\":9,"#);
    let at = text.windows(from.len()).position(|window| window == from).unwrap();
    let mut newer = text;
    newer[at..at + to.len()].copy_from_slice(to);
    sandbox.write("newer.auscult", newer);
    sandbox
        .run("score newer.auscult normal")
        .exits(2)
        .says("model file version 9 is newer than this program reads")
        .says("update auscult");
}

#[test]
fn two_changes_at_once_are_refused_not_mixed() {
    let sandbox = Sandbox::with_model();
    let file = std::fs::File::open(sandbox.path("model.auscult")).unwrap();
    file.try_lock().unwrap();
    let ran = sandbox.run("model add model.auscult normal").exits(2);
    ran.says("model.auscult is being changed by another program; try again when it is done");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_model_stays_a_link() {
    let sandbox = Sandbox::with_model();
    std::os::unix::fs::symlink("model.auscult", sandbox.path("current")).unwrap();
    sandbox.run("model forget current --index 0").exits(0);
    assert!(sandbox.path("current").is_symlink());
    let text = sandbox.run("inspect model.auscult").exits(0).stdout;
    assert!(text.contains("references   23"), "{text}");
}

#[test]
fn adding_unusable_recordings_leaves_the_model_as_it_was() {
    let sandbox = Sandbox::with_model();
    let before = sandbox.read("model.auscult");
    sandbox.write("bad/empty.wav", b"");
    sandbox.run("model add model.auscult bad").exits(2).says("empty.wav: the file is empty");
    assert_eq!(sandbox.read("model.auscult"), before);
    // Good ones beside them are added, and the exit code says that something was not.
    sandbox.write("bad/good.wav", wav_of(&ClipRecipe { visit: 8, ..clip() }));
    let ran = sandbox.run("model add model.auscult bad").exits(2);
    assert!(ran.stdout.contains("25 references, were 24"), "{ran:#?}");
}

#[test]
fn inspect_shows_members_as_they_are_cut_and_which_layers_they_take() {
    let sandbox = Sandbox::with_recordings();
    let members = "ced(convention=layer-6,bands=9999)+ced(convention=layer-8)";
    sandbox
        .run(&format!("fit normal -o m.auscult --clip-seconds 1 --front-end {members}"))
        .exits(0);
    let text = sandbox.run("inspect m.auscult").exits(0).stdout;
    assert!(text.contains("ced(convention=layer-6,views=mean,bands=whole,"), "{text}");
    assert!(text.contains("ced(convention=layer-8,views=mean,bands=192,"), "{text}");
}

#[test]
fn inspect_tells_the_version_of_the_file_and_not_of_the_program() {
    let sandbox = Sandbox::with_recordings();
    for storage in ["f32", "f16", "int8"] {
        sandbox
            .run(&format!(
                "fit --preset paper normal -o x.auscult --clip-seconds 1 --storage {storage}"
            ))
            .exits(0);
        let facts = sandbox.run("inspect x.auscult --json").exits(0).stdout;
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        assert_eq!(facts["model_file_version"], 6, "{storage}");
    }
    let old = auscult_testing::golden::testdata().join("models/v1.auscult");
    std::fs::copy(old, sandbox.path("x.auscult")).unwrap();
    let facts = sandbox.run("inspect x.auscult --json").exits(0).stdout;
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    assert_eq!(facts["model_file_version"], 1);
}

//! Vectors of several front ends: each is kept by itself, and together they are those of the extractor.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use auscult::{FrontEndSpec, FrontEnds, Preset};
use auscult_audio::ChannelRule;
use auscult_core::{ClipSettings, ClipVectors, FrontEnd};
use auscult_eval::{
    datasets::{Archives, ClipFile},
    features::Features,
};
use auscult_testing::{ClipRecipe, Machine, wav};

const CLIP: ClipSettings = ClipSettings { sample_rate: 16_000, seconds: 2.0 };

fn named(name: &str) -> Arc<dyn FrontEnd> {
    FrontEnds::new(None, None).named(&FrontEndSpec::of(name), CLIP.check().unwrap()).unwrap()
}

fn of_file(front_end: &Arc<dyn FrontEnd>, file: &Path, cache: Option<&Path>) -> ClipVectors {
    let features =
        Features::new(Arc::clone(front_end), CLIP, ChannelRule::default(), cache).unwrap();
    let file = ClipFile::Plain(file.to_owned());
    let mut found = features.of(&[&file], &Archives::default(), &|| true).unwrap();
    found.remove(0).unwrap()
}

fn bits(vectors: &ClipVectors) -> Vec<Vec<u32>> {
    let of_view = |vector: &[f32]| vector.iter().map(|value| value.to_bits()).collect();
    vectors.views().map(|(_, vector)| of_view(vector)).collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn vectors_from_the_caches_of_members_are_those_of_the_extractor_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clip.wav");
    let recipe = ClipRecipe { seconds: 2.0, ..ClipRecipe::new(Machine::Fan) };
    let mut bytes = Vec::new();
    wav::write(&mut bytes, &recipe.render().unwrap(), 16_000).unwrap();
    fs::write(&file, &bytes).unwrap();
    let samples: Vec<f32> = bytes[44..]
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0)
        .collect();
    let preset = Preset::Fast.front_end();
    for name in [preset.as_str(), "log-mel+mfcc", "mfcc@raw+mfcc@ldn", "mfcc@raw+log-mel@ldn"] {
        let front_end = named(name);
        let mut direct = ClipVectors::for_front_end(&*front_end);
        front_end.extractor().extract_into(&samples, &mut direct).unwrap();
        let cache = folder.path().join("cache").join(name);
        let computed = of_file(&front_end, &file, Some(&cache));
        assert_eq!(bits(&computed), bits(&direct), "{name}");
        let members = front_end.ensemble().map_or(1, |ensemble| ensemble.front_ends().len());
        assert_eq!(walk(&cache).len(), members, "{name}: one file each");
        assert_eq!(bits(&of_file(&front_end, &file, Some(&cache))), bits(&direct), "{name}");
        assert_eq!(bits(&of_file(&front_end, &file, None)), bits(&direct), "{name}");
        // A member that was damaged is computed again.
        fs::write(&walk(&cache)[0], b"damaged").unwrap();
        assert_eq!(bits(&of_file(&front_end, &file, Some(&cache))), bits(&direct), "{name}");
        assert!(walk(&cache).iter().all(|path| fs::metadata(path).unwrap().len() > 100));
    }
}

#[test]
fn members_of_different_ensembles_share_their_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let (file, cache) = (folder.path().join("clip.wav"), folder.path().join("cache"));
    let recipe = ClipRecipe { seconds: 2.0, ..ClipRecipe::new(Machine::Fan) };
    let mut bytes = Vec::new();
    wav::write(&mut bytes, &recipe.render().unwrap(), 16_000).unwrap();
    fs::write(&file, &bytes).unwrap();
    let count = |name: &str| {
        of_file(&named(name), &file, Some(&cache));
        walk(&cache).len()
    };
    assert_eq!(count("mfcc"), 1);
    assert_eq!(count("log-mel+mfcc"), 2);
    assert_eq!(count("mfcc(neighbours=3)+log-mel(metric=scaled)"), 2);
    assert_eq!(count("mfcc+log-mel+lpc"), 3);
}

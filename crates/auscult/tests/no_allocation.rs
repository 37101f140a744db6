//! Live scoring allocates nothing for a normal clip once it is warm.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use auscult::{Learn, Machine, Preset};
use auscult_testing::{ClipRecipe, Machine as Kind, wav};

fn clip(visit: u32, take: u32) -> Vec<f32> {
    let recipe = ClipRecipe { seconds: 1.0, visit, take, ..ClipRecipe::new(Kind::Fan) };
    recipe.render().unwrap()
}

#[test]
fn a_pushed_clip_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (visit, take) in (0..4).flat_map(|visit| (0..6).map(move |take| (visit, take))) {
        let path = folder.path().join(format!("{visit}/{take}.wav"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(path).unwrap();
        wav::write(&mut file, &clip(visit, take), 16_000).unwrap();
    }
    let learn = Learn::default().with_clip_seconds(1.0);
    // Encoders have their own buffers for attention.
    for (preset, rate) in [(Preset::Fast, 16_000), (Preset::Fast, 48_000), (Preset::Paper, 16_000)]
    {
        let learn = learn.clone().with_preset(preset);
        let machine = Machine::learn(folder.path(), &learn).unwrap();
        let mut live = machine.live_at(rate).unwrap();
        // References themselves: nothing is remarkable about them.
        let sound: Vec<f32> = (0..6).flat_map(|take| clip(1, take)).collect();
        let pieces: Vec<&[f32]> = sound.chunks(4_800).collect();
        for piece in &pieces {
            live.push(piece).unwrap();
        }
        let mut clips = 0;
        let counted = allocation_counter::measure(|| {
            for piece in &pieces {
                clips += live.push(piece).unwrap().len();
            }
        });
        assert!(clips >= 2, "{rate} Hz: {clips} clips");
        assert_eq!(counted.count_total, 0, "{rate} Hz, {clips} clips");
    }
}

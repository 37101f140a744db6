//! SpecAugment (Park et al. 2019): a run of frames and a run of bins are hidden.

use super::FinetuneSettings;
use auscult_core::random::Random;

/// Hides parts of a map of frames x bins; what is hidden becomes 0, the mean of standardised input.
///
/// Widths are uniform up to the settings', as are their places. The masks of a clip depend on the
/// seed, the update and the clip's place in it, and on nothing else.
pub(super) fn mask(map: &mut [f32], bins: usize, settings: &FinetuneSettings, draw: [u64; 2]) {
    let mut random = Random::of(settings.seed, &[AUGMENTATION, draw[0], draw[1]]);
    if random.share() >= settings.mask_share {
        return;
    }
    let frames = map.len() / bins;
    let mut run = |most: usize, length: usize| {
        let width = random.below(most.min(length) + 1);
        let start = random.below(length - width + 1);
        start..start + width
    };
    let (hidden_frames, hidden_bins) =
        (run(settings.time_mask, frames), run(settings.frequency_mask, bins));
    map[hidden_frames.start * bins..hidden_frames.end * bins].fill(0.0);
    for frame in map.chunks_exact_mut(bins) {
        frame[hidden_bins.clone()].fill(0.0);
    }
}

/// Tells these draws from those of other parts.
const AUGMENTATION: u64 = 11;

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(settings: &FinetuneSettings, draw: [u64; 2]) -> Vec<f32> {
        let mut map = vec![1.0; 100 * 64];
        mask(&mut map, 64, settings, draw);
        map
    }

    #[test]
    fn masks_are_runs_no_wider_than_allowed_and_the_draw_decides_them() {
        let settings = FinetuneSettings { time_mask: 20, frequency_mask: 8, ..Default::default() };
        let mut widest = [0, 0];
        for step in 0..200 {
            let map = masked(&settings, [step, 3]);
            let frames: Vec<&[f32]> = map.chunks_exact(64).collect();
            let is_hidden = |frame: &&&[f32]| frame.iter().all(|&value| value == 0.0);
            let hidden = frames.iter().filter(is_hidden).count();
            let seen = frames.iter().find(|frame| frame.iter().any(|&value| value > 0.0)).unwrap();
            let bins = seen.iter().filter(|&&value| value == 0.0).count();
            assert!(hidden <= 20 && bins <= 8, "{hidden} {bins}");
            widest = [widest[0].max(hidden), widest[1].max(bins)];
        }
        assert_eq!(widest, [20, 8]);
        assert_eq!(masked(&settings, [1, 2]), masked(&settings, [1, 2]));
        assert_ne!(masked(&settings, [1, 2]), masked(&settings, [1, 3]));
    }

    #[test]
    fn nothing_is_hidden_where_nothing_may_be() {
        let none = FinetuneSettings { mask_share: 0.0, ..Default::default() };
        assert!(masked(&none, [0, 0]).iter().all(|&value| value == 1.0));
        let narrow = FinetuneSettings { time_mask: 0, frequency_mask: 0, ..Default::default() };
        assert!(masked(&narrow, [0, 0]).iter().all(|&value| value == 1.0));
    }
}

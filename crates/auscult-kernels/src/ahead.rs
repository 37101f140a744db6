//! Fetching what is multiplied next while the present is multiplied.

/// The lanes of the panels that come next, shared out to the tiles that are computed before: weights
/// come from far away, and the first tile that needs them would wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead<'a, L> {
    panels: [&'a [L]; 2],
    tiles: usize,
}

impl<'a, L> Ahead<'a, L> {
    /// `panels` may be the same one twice, or empty if nothing comes.
    pub(crate) fn new(panels: [&'a [L]; 2], tiles: usize) -> Self {
        Self { panels, tiles }
    }

    /// What tile `tile` fetches.
    pub(crate) fn part(&self, tile: usize) -> [&'a [L]; 2] {
        self.panels.map(|lanes| {
            let [start, end] = [tile, tile + 1].map(|tile| lanes.len() * tile / self.tiles);
            &lanes[start..end]
        })
    }
}

/// A line is fetched every few steps: more at once would keep the tile's own loads waiting.
#[cfg(target_arch = "x86_64")]
pub(crate) const STEPS_A_FETCH: usize = 4;

/// Fetches what step `step` of a tile is to fetch, towards the second cache.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn fetch<L>(soon: [&[L]; 2], step: usize) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    if !step.is_multiple_of(STEPS_A_FETCH) {
        return;
    }
    for lanes in soon {
        if let Some(lane) = lanes.get(step / STEPS_A_FETCH) {
            // SAFETY: x86-64 has the instruction, and it reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(lane).cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_share_out_every_lane_once() {
        let lanes: Vec<u32> = (0..512).collect();
        for tiles in 1..20 {
            let ahead = Ahead::new([&lanes[..], &lanes[..100]], tiles);
            let parts = || (0..tiles).map(|tile| ahead.part(tile));
            assert!(parts().flat_map(|part| part[0]).eq(&lanes));
            assert!(parts().flat_map(|part| part[1]).eq(&lanes[..100]));
        }
    }
}

//! Live sound is cut without allocating, once the first blocks have passed.

use auscult_audio::{LiveClips, ReadSettings};

#[test]
fn cutting_live_sound_allocates_nothing() {
    let piece: Vec<f32> = (0..10_000_u16).map(|at| f32::from(at) / 20_000.0).collect();
    for rate in [16_000, 44_100, 48_000] {
        for hop_seconds in [0.25, 1.0, 1.5] {
            let settings = ReadSettings {
                clip_seconds: 1.0,
                hop_seconds: Some(hop_seconds),
                ..Default::default()
            };
            let mut live = LiveClips::new(rate, &settings.check().unwrap()).unwrap();
            let mut clips = 0;
            let mut push = |len: usize| live.push(&piece[..len], &mut |_, _| clips += 1).unwrap();
            push(5_000);
            let counted = allocation_counter::measure(|| {
                for len in [441, 1, 10_000, 480, 9_999, 4_096].into_iter().cycle().take(60) {
                    push(len);
                }
            });
            assert!(clips >= 3, "{clips} clips at {rate} Hz");
            assert_eq!(counted.count_total, 0, "{rate} Hz: {counted:?}");
        }
    }
}

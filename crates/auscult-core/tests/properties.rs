//! Laws of the method, on random memories.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use auscult_core::{
    BandSettings, BeamSettings, ClipSettings, ClipVectors, Combine, DensityExponent, DensityRule,
    FrontEndSettings, Groups, Metric, Model, ModelSettings, Provenance, References, Storage, View,
};
use proptest::prelude::*;

const AXIS: usize = 12;

/// Clips of two views around a common shape, as log-mel clips are.
fn clips(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<ClipVectors>> {
    let vector = || prop::collection::vec(-1.0_f32..1.0, AXIS);
    let clip = (vector(), vector()).prop_map(|(mean, max)| {
        let lift = |vector: Vec<f32>| -> Vec<f32> {
            vector.iter().enumerate().map(|(i, value)| 10.0 + i as f32 * 0.2 + value).collect()
        };
        ClipVectors::from_views(vec![(View::Mean, lift(mean)), (View::Max, lift(max))]).unwrap()
    });
    prop::collection::vec(clip, count)
}

fn settings() -> impl Strategy<Value = BeamSettings> {
    let exponent = prop_oneof![
        Just(DensityExponent::Fixed(1.0)),
        Just(DensityExponent::Fixed(0.0)),
        Just(DensityExponent::Fixed(0.4)),
        Just(DensityExponent::Auto),
    ];
    let combine = || prop::sample::select(Combine::ALL);
    let bands =
        (1..=AXIS, 1..=AXIS).prop_map(|(width, stride)| BandSettings::Windows { width, stride });
    let shape = (bands, 0..5_usize, exponent);
    let choices = (
        combine(),
        combine(),
        prop::sample::select(DensityRule::ALL),
        prop::sample::select(Metric::ALL),
    );
    (shape, choices).prop_map(
        |((bands, neighbours, exponent), (aggregation, fusion, rule, metric))| BeamSettings {
            neighbours,
            exponent,
            aggregation,
            fusion,
            rule,
            metric,
            ..BeamSettings::new(bands, vec![View::Mean, View::Max])
        },
    )
}

/// References in visits of three.
fn references(clips: &[ClipVectors]) -> References {
    let mut references = References::new(&[View::Mean, View::Max], AXIS);
    for (index, clip) in clips.iter().enumerate() {
        let visit = Some(format!("visit {}", index / 3));
        references
            .push(clip, Provenance { visit, ..Provenance::of(format!("clip {index}")) })
            .unwrap();
    }
    references
}

fn model(settings: BeamSettings, references: References) -> Model {
    stored_model(settings, references, Storage::F32)
}

fn stored_model(settings: BeamSettings, references: References, storage: Storage) -> Model {
    let clip = ClipSettings::default();
    let front_end = FrontEndSettings::default().build(clip.check().unwrap()).unwrap();
    let settings = ModelSettings::new(clip, &*front_end, settings);
    Model::fit(ModelSettings { storage, ..settings }, references).unwrap()
}

fn storage() -> impl Strategy<Value = Storage> {
    prop::sample::select(Storage::ALL)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_full_width_band_is_global_matching(clips in clips(2..9), query in clips(1..2), base in settings()) {
        let score = |bands| {
            let beam = BeamSettings { bands, ..base.clone() }.check(AXIS).unwrap();
            beam.fit(references(&clips)).unwrap().score(&query[0]).unwrap()
        };
        prop_assert_eq!(score(BandSettings::Whole), score(BandSettings::touching(AXIS)));
    }

    #[test]
    fn scaling_a_band_of_the_query_changes_nothing(
        clips in clips(2..9), query in clips(1..2), scale in 0.25_f32..4.0,
    ) {
        let settings = BeamSettings::new(BandSettings::touching(4), vec![View::Mean]);
        let fitted = settings.check(AXIS).unwrap().fit(references(&clips)).unwrap();
        let vector = query[0].view(View::Mean).unwrap();
        let scaled = vector.iter().enumerate().map(|(i, v)| if i < 4 { v * scale } else { *v });
        let scaled = ClipVectors::from_views(vec![(View::Mean, scaled.collect())]).unwrap();
        let (plain, scaled) = (fitted.score(&query[0]).unwrap().value, fitted.score(&scaled).unwrap().value);
        // The scaled query is rounded to f32 once more.
        prop_assert!((plain - scaled).abs() <= 1e-4 * plain.abs() + 1e-12, "{} {}", plain, scaled);
    }

    #[test]
    fn the_order_of_references_does_not_matter(
        clips in clips(2..9), query in clips(1..2), base in settings(), turn in 0..9_usize,
    ) {
        // Exponents learned by `auto`, divisors and maps are sums over references: the last digit
        // moves.
        prop_assume!(!matches!(base.exponent, DensityExponent::Auto | DensityExponent::Fixed(0.4)));
        prop_assume!(base.metric != Metric::Scaled);
        let score = |clips: &[ClipVectors]| {
            let beam = base.clone().check(AXIS).unwrap();
            beam.fit(references(clips)).unwrap().score(&query[0]).unwrap().value
        };
        let mut turned = clips.clone();
        turned.rotate_left(turn % clips.len());
        prop_assert_eq!(score(&clips), score(&turned));
    }

    #[test]
    fn a_reference_scores_zero_raw(clips in clips(1..9), base in settings()) {
        let beam = BeamSettings { neighbours: 0, ..base }.check(AXIS).unwrap();
        let fitted = beam.fit(references(&clips)).unwrap();
        for clip in &clips {
            prop_assert_eq!(fitted.score(clip).unwrap().value, 0.0);
        }
    }

    #[test]
    fn left_out_scores_are_those_of_a_memory_without_the_group(
        clips in clips(4..13), base in settings(), by_visit in any::<bool>(),
    ) {
        // With a learned exponent or a divisor the smaller memory would learn another one, which only
        // counts where its map is its own as well; then groups leave in at most ten folds.
        let is_scaled = base.metric == Metric::Scaled;
        let is_learned = matches!(base.exponent, DensityExponent::Auto | DensityExponent::Fixed(0.4));
        prop_assume!(is_scaled || !is_learned);
        let all = references(&clips);
        let groups = if by_visit { Groups::of(all.provenance()) } else { Groups::clips(all.len()) };
        let folds = if is_scaled { groups.count().min(10) } else { groups.count() };
        let beam = base.check(AXIS).unwrap();
        let fitted = beam.fit_with_groups(all.clone(), &groups).unwrap();
        for (index, clip) in clips.iter().enumerate() {
            let others: Vec<usize> = (0..all.len())
                .filter(|&other| {
                    groups.members()[other] % folds != groups.members()[index] % folds
                })
                .collect();
            let expected = (!others.is_empty())
                .then(|| beam.fit(all.select(&others)).unwrap().score(clip).unwrap().value);
            prop_assert_eq!(fitted.left_out_scores()[index], expected);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit(clips in clips(2..13), base in settings()) {
        let in_pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model(base.clone(), references(&clips)).to_bytes().unwrap())
        };
        prop_assert!(in_pool(1) == in_pool(4));
    }

    #[test]
    fn adding_and_forgetting_equal_a_fresh_fit(
        clips in clips(3..13), base in settings(), cut in 1..12_usize, kept in storage(),
    ) {
        let model = |settings, references| stored_model(settings, references, kept);
        let cut = cut.min(clips.len() - 1);
        let all = references(&clips);
        let (first, rest): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|&index| index < cut);
        let fresh = model(base.clone(), all.clone());
        let grown = model(base.clone(), all.select(&first)).with_added(&all.select(&rest)).unwrap();
        prop_assert!(grown.to_bytes().unwrap() == fresh.to_bytes().unwrap());
        let shrunk = fresh.with_only(&first).unwrap();
        prop_assert!(shrunk.to_bytes().unwrap() == model(base, all.select(&first)).to_bytes().unwrap());
    }

    #[test]
    fn a_model_survives_its_file(
        clips in clips(1..9), query in clips(1..2), base in settings(), kept in storage(),
    ) {
        let model = stored_model(base, references(&clips), kept);
        let bytes = model.to_bytes().unwrap();
        let back = Model::from_bytes(&bytes).unwrap();
        prop_assert!(back.to_bytes().unwrap() == bytes);
        prop_assert_eq!(back.score(&query[0]).unwrap(), model.score(&query[0]).unwrap());
        prop_assert_eq!(back.settings(), model.settings());
        prop_assert!(back.verify().is_ok());
    }

    #[test]
    fn a_changed_or_missing_byte_is_noticed(clips in clips(1..4), at in 0.0..1.0_f64, flip in 1..=255_u8) {
        let bytes = model(BeamSettings::new(BandSettings::Whole, vec![View::Mean]), references(&clips))
            .to_bytes()
            .unwrap();
        let position = (at * bytes.len() as f64) as usize;
        let mut changed = bytes.clone();
        changed[position] ^= flip;
        prop_assert!(Model::from_bytes(&changed).is_err(), "byte {} of {}", position, bytes.len());
        prop_assert!(Model::from_bytes(&bytes[..position]).is_err());
    }

    #[test]
    fn a_coreset_keeps_its_size_and_its_order(clips in clips(2..13), base in settings(), most in 1..6_usize) {
        let small = model(base, references(&clips)).with_coreset(most).unwrap();
        prop_assert_eq!(small.references().len(), most.min(clips.len()));
        let sources: Vec<usize> = small
            .references()
            .provenance()
            .iter()
            .map(|from| from.source.trim_start_matches("clip ").parse().unwrap())
            .collect();
        prop_assert!(sources.is_sorted());
    }
}

//! A model whose scores are an autoencoder's errors, calibrated by networks that were not trained on
//! the clips they score.

use std::sync::Arc;

use auscult_core::{
    BeamSettings, CalibrationScheme, ClipVectors, FrontEnd, Groups, Model, ModelSettings,
    References, ScoreOf, View,
};
use rayon::prelude::*;

use super::{
    Autoencoder, AutoencoderFrontEnd, ErrorScore, TrainingSettings, Watch, domains_of, maps_of,
};
use crate::{Error, Result};

/// How a model is made of an autoencoder.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoencoderModelSettings {
    /// How networks are trained.
    pub training: TrainingSettings,
    /// How errors become scores.
    pub score: ErrorScore,
    /// Visits (or files, or blocks) are left out in this many parts; each part costs one training.
    pub folds: usize,
}

impl Default for AutoencoderModelSettings {
    fn default() -> Self {
        Self { training: TrainingSettings::default(), score: ErrorScore::default(), folds: 5 }
    }
}

/// Which clips each network is trained on, and for how long.
///
/// Networks that score clips they were not trained on have fewer clips than the model's own. They see them
/// more often, so that all networks take the same number of steps: one that learnt less would make
/// larger errors, and thresholds would be too high.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingPlan {
    /// The model's own network.
    own: PlannedTraining,
    /// Those that score what they left out; without any, the own network left clips out.
    folds: Vec<PlannedTraining>,
}

/// One network.
#[derive(Debug, Clone, PartialEq)]
struct PlannedTraining {
    clips: Vec<usize>,
    left_out: Vec<usize>,
    settings: TrainingSettings,
    steps: usize,
}

impl TrainingPlan {
    /// Plans the trainings of [`fit_model`].
    ///
    /// # Errors
    ///
    /// If there are too few clips or visits, or a setting is out of range.
    pub fn new(
        settings: &ModelSettings,
        spectrograms: &References,
        autoencoder: &AutoencoderModelSettings,
    ) -> Result<Self> {
        autoencoder.training.check()?;
        let groups = Groups::by_scheme(settings.calibration, spectrograms.provenance())?;
        if groups.count() < 2 {
            let got = spectrograms.len();
            return Err(Error::setting("clips of an autoencoder", "at least 2 from 2 files", got));
        }
        if autoencoder.folds < 2 {
            return Err(Error::setting("folds", "at least 2", autoencoder.folds));
        }
        let frames = spectrograms.axis_len() / autoencoder.training.form.bins();
        let planned = |(left_out, used): (Vec<usize>, Vec<usize>), training: TrainingSettings| {
            let steps = training.steps(used.len(), frames);
            PlannedTraining { clips: used, left_out, settings: training, steps }
        };
        let part = |at: usize, parts: usize| -> (Vec<usize>, Vec<usize>) {
            let clips = 0..spectrograms.len();
            clips.partition(|&clip| groups.members()[clip] % parts == at)
        };
        let training = &autoencoder.training;
        if settings.calibration == CalibrationScheme::Split {
            let own = planned(part(SPLIT - 1, SPLIT), training.clone());
            return Ok(Self { own, folds: Vec::new() });
        }
        let all = (Vec::new(), (0..spectrograms.len()).collect());
        let own = planned(all, training.clone());
        let parts = autoencoder.folds.min(groups.count());
        let fold = |at: usize| {
            let clips = part(at, parts);
            let settings = training.with_steps(own.steps, clips.1.len(), frames);
            planned(clips, settings)
        };
        let folds = (0..parts).map(fold).collect();
        Ok(Self { own, folds })
    }

    fn all(&self) -> impl Iterator<Item = &PlannedTraining> {
        self.folds.iter().chain(std::iter::once(&self.own))
    }

    /// Epochs of all trainings.
    pub fn epochs(&self) -> usize {
        self.all().map(|training| training.settings.epochs).sum()
    }

    /// Steps of the shortest training.
    pub fn fewest_steps(&self) -> usize {
        self.all().map(|training| training.steps).min().unwrap_or_default()
    }
}

/// A calibrated model, and how much its threshold says.
#[derive(Debug, Clone)]
pub struct FittedAutoencoder {
    /// The model.
    pub model: Model,
    /// The median score of clips by networks that were not trained on them over that of the clips the
    /// model's own network was trained on: 1 if what was learnt holds for other sound.
    pub left_out_ratio: f64,
    /// The share of the clips the model's own network was trained on that are above the threshold:
    /// hardly any, unless chance had more to say in the trainings than what was learnt.
    pub training_above: f64,
}

impl FittedAutoencoder {
    /// Above this ratio a threshold is loose: it lies far above what the network does with sound
    /// it knows.
    const LOOSE_RATIO: f64 = 2.0;

    /// Whether the threshold lies far above what the network does with sound it knows.
    pub fn is_loose(&self) -> bool {
        self.left_out_ratio > Self::LOOSE_RATIO
    }

    /// Whether even sound the network knows is called anomalous more often than is promised.
    pub fn is_tight(&self) -> bool {
        self.training_above > f64::from(self.model.settings().false_alarm_rate)
    }
}

/// Trains an autoencoder on spectrograms made by [`super::SpectrogramFrontEnd`] and calibrates it.
///
/// The references of the model are the error profiles of the clips, each by a network that was
/// trained without the clip's visit (or whatever `settings.calibration` leaves out): so their
/// scores are those of unseen normal sound. All networks take the same number of steps. With
/// [`CalibrationScheme::Split`] every third visit is left out of the one network that is trained,
/// and only those clips calibrate. Front end, detector and weights of `settings` are replaced.
///
/// # Errors
///
/// If there are too few clips or visits, a setting is out of range, or `watch` stops it.
pub fn fit_model(
    settings: ModelSettings,
    spectrograms: &References,
    autoencoder: &AutoencoderModelSettings,
    watch: &Watch<'_>,
) -> Result<FittedAutoencoder> {
    let length = settings.clip.check()?;
    let plan = TrainingPlan::new(&settings, spectrograms, autoencoder)?;
    let train =
        |training: &PlannedTraining| train_on(spectrograms, training, autoencoder.score, watch);
    let of_folds: Result<Vec<_>> = plan
        .folds
        .par_iter()
        .map(|fold| profiles(&train(fold)?, spectrograms, &fold.left_out))
        .collect();
    let of_folds = of_folds?;
    let network = train(&plan.own)?;
    let is_split = plan.folds.is_empty();
    let mut left_out: Vec<(usize, ClipVectors)> = if is_split {
        profiles(&network, spectrograms, &plan.own.left_out)?
    } else {
        of_folds.into_iter().flatten().collect()
    };
    left_out.sort_by_key(|(clip, _)| *clip);
    let trained_on = profiles(&network, spectrograms, &plan.own.clips)?;
    let left_out_ratio = median_score(&left_out) / median_score(&trained_on);
    let network = Arc::new(network);
    let front_end = AutoencoderFrontEnd::new(Arc::clone(&network), length)?;
    let mut references = References::for_front_end(&front_end);
    for (clip, profile) in left_out {
        references.push(&profile, spectrograms.provenance()[clip].clone())?;
    }
    let scheme = if is_split { CalibrationScheme::Auto } else { settings.calibration };
    let settings = ModelSettings {
        front_end: front_end.identity(),
        detector: detector(&front_end),
        weights: network.weights(),
        calibration: scheme,
        ..settings
    };
    let model = Model::fit(settings, references)?;
    let training_above = share_above(&model, &trained_on)?;
    Ok(FittedAutoencoder { model, left_out_ratio, training_above })
}

/// The share of clips that score above the threshold.
fn share_above(model: &Model, profiles: &[(usize, ClipVectors)]) -> Result<f64> {
    let Some(threshold) = model.threshold() else { return Ok(0.0) };
    let mut above = 0;
    for (_, profile) in profiles {
        above += usize::from(model.score(profile)?.score.value > threshold);
    }
    Ok(above as f64 / profiles.len().max(1) as f64)
}

/// The middle one of the clips' scores, which are the means of their profiles.
fn median_score(profiles: &[(usize, ClipVectors)]) -> f64 {
    let score = |(_, clip): &(usize, ClipVectors)| {
        let profile = clip.view(View::Mean).unwrap_or_default();
        profile.iter().map(|&value| f64::from(value)).sum::<f64>() / profile.len().max(1) as f64
    };
    let mut scores: Vec<f64> = profiles.iter().map(score).collect();
    scores.sort_by(f64::total_cmp);
    scores.get(scores.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Every third group calibrates a split, as in the core.
const SPLIT: usize = 3;

/// Errors are scores already: the references only say what is normal.
fn detector(front_end: &AutoencoderFrontEnd) -> BeamSettings {
    BeamSettings {
        neighbours: 0,
        score_of: ScoreOf::Value,
        ..BeamSettings::new(front_end.default_bands(), vec![View::Mean])
    }
}

fn train_on(
    spectrograms: &References,
    training: &PlannedTraining,
    score: ErrorScore,
    watch: &Watch<'_>,
) -> Result<Autoencoder> {
    let (maps, domains) = (maps_of(spectrograms)?, domains_of(spectrograms));
    let maps: Vec<&[f32]> = training.clips.iter().map(|&clip| maps[clip]).collect();
    let domains: Vec<String> = training.clips.iter().map(|&clip| domains[clip].clone()).collect();
    let trained = Autoencoder::train(&maps, &domains, &training.settings, watch)?;
    trained.with_score(score, &maps, &domains)
}

/// The error profiles of some clips.
fn profiles(
    network: &Autoencoder,
    spectrograms: &References,
    clips: &[usize],
) -> Result<Vec<(usize, ClipVectors)>> {
    let maps = maps_of(spectrograms)?;
    clips
        .par_iter()
        .map(|&clip| {
            let profile = network.profile(maps[clip]);
            Ok((clip, ClipVectors::from_views(vec![(View::Mean, profile)])?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use auscult_core::{ClipSettings, Provenance};

    use super::{super::Form, *};

    /// Spectrograms of 20 frames from visits of four clips.
    fn spectrograms(visits: usize) -> References {
        let length = 20 * 64;
        let mut references = References::new(&[View::Mean], length);
        for clip in 0..4 * visits {
            let mut random = auscult_core::random::Random::of(3, &[clip as u64]);
            let map = (0..length).map(|at| (at as f32 * 0.2).sin() + random.symmetric(0.2));
            let vectors = ClipVectors::from_views(vec![(View::Mean, map.collect())]).unwrap();
            let visit = Some(format!("day {}", clip / 4));
            let from = Provenance { visit, ..Provenance::of(format!("{clip}.wav")) };
            references.push(&vectors, from).unwrap();
        }
        references
    }

    fn settings(calibration: CalibrationScheme) -> ModelSettings {
        let clip = ClipSettings { seconds: 0.64, ..ClipSettings::default() };
        let front_end = super::super::SpectrogramFrontEnd::new(Form::Mimii, clip.check().unwrap());
        let front_end = front_end.unwrap();
        let detector = BeamSettings::new(front_end.default_bands(), vec![View::Mean]);
        ModelSettings { calibration, ..ModelSettings::new(clip, &front_end, detector) }
    }

    fn quick(epochs: usize, folds: usize) -> AutoencoderModelSettings {
        let training = TrainingSettings { epochs, batch: 32, ..TrainingSettings::of(Form::Mimii) };
        AutoencoderModelSettings { training, folds, ..AutoencoderModelSettings::default() }
    }

    #[test]
    fn networks_of_all_folds_take_as_many_steps_as_the_models_own() {
        let clips = spectrograms(6);
        for folds in [2, 3, 6] {
            let plan =
                TrainingPlan::new(&settings(CalibrationScheme::Visits), &clips, &quick(10, folds));
            let plan = plan.unwrap();
            assert_eq!(plan.folds.len(), folds);
            for fold in &plan.folds {
                let most = plan.own.steps + plan.own.steps / 10;
                assert!((plan.own.steps..=most).contains(&fold.steps), "{folds}: {}", fold.steps);
                assert_eq!(fold.clips.len() + fold.left_out.len(), clips.len());
            }
            assert_eq!(plan.fewest_steps(), plan.own.steps);
            assert!(plan.epochs() > 10 * (folds + 1));
        }
        let split = TrainingPlan::new(&settings(CalibrationScheme::Split), &clips, &quick(10, 2));
        let split = split.unwrap();
        assert_eq!((split.own.left_out.len(), split.own.clips.len()), (8, 16));
        assert_eq!(split.fewest_steps(), quick(10, 2).training.steps(16, 20));
    }

    #[test]
    fn a_threshold_is_as_far_off_as_its_networks() {
        let clips = spectrograms(6);
        let of = |calibration| {
            fit_model(settings(calibration), &clips, &quick(60, 2), &|_| ControlFlow::Continue(()))
                .unwrap()
        };
        let fitted = of(CalibrationScheme::Visits);
        let ratio = fitted.left_out_ratio;
        assert!(ratio > 0.5 && !fitted.is_loose(), "{ratio}");
        assert!(!fitted.is_tight(), "{}", fitted.training_above);
        // Had the model's own network been a hundred times worse than those that set the threshold:
        let worse = |share: f32| {
            let errors = vec![100.0 * share; fitted.model.references().axis_len()];
            (0, ClipVectors::from_views(vec![(View::Mean, errors)]).unwrap())
        };
        let threshold = fitted.model.threshold().unwrap() as f32;
        let trained_on = [worse(threshold), worse(0.0), worse(0.0), worse(threshold)];
        let training_above = share_above(&fitted.model, &trained_on).unwrap();
        assert_eq!(training_above.to_string(), "0.5");
        assert!(FittedAutoencoder { training_above, ..fitted }.is_tight());
        assert!(of(CalibrationScheme::Split).left_out_ratio.is_finite());
    }
}

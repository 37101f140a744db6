//! One visit to a machine: where the microphone stood, the room, the temperature.

use super::Domain;
use super::filters::Biquad;
use super::random::{Purpose, Seeds};

/// What all clips of one visit have in common.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    /// The speed of the machine against its nominal speed: it runs slower when cold.
    pub(super) speed: f64,
    /// How bright the background noise is against the usual.
    pub(super) brightness: f64,
    /// The gain of the microphone's distance.
    gain: f64,
    /// The colour of the microphone's position.
    colour: Vec<Biquad>,
    /// The reflections of the room: delay in samples and gain.
    echoes: Vec<(usize, f64)>,
}

impl Visit {
    /// Draws a visit.
    pub(super) fn new(seeds: &Seeds, rate: f64) -> Self {
        let mut random = seeds.stream(Purpose::Visit);
        let speed = 1.0 + random.between(-0.012, 0.012);
        let brightness = 1.0 + random.between(-0.2, 0.2);
        let gain = 10f64.powf(random.between(-1.5, 1.5) / 20.0);
        // One gentle bump or dip in each of three regions of the spectrum.
        let regions = [(120.0, 500.0), (500.0, 2000.0), (2000.0, 7000.0)];
        let colour = regions.map(|(low, high)| {
            let hz = random.between(low, high);
            Biquad::peak(hz, random.between(0.5, 1.0), random.between(-2.0, 2.0), rate)
        });
        // The target stands in a larger and harder room.
        let (farthest, loudest) = (seeds.domain.pick(0.012, 0.030), seeds.domain.pick(0.18, 0.28));
        let echoes = [(); 3].map(|()| {
            let delay = random.between(0.002, farthest) * rate;
            (delay as usize, random.between(-loudest, loudest))
        });
        Self { speed, brightness, gain, colour: colour.into(), echoes: echoes.into() }
    }

    /// What the microphone hears of a sound near the machine.
    pub(super) fn hear(&self, mut samples: Vec<f64>) -> Vec<f64> {
        for filter in &self.colour {
            filter.clone().filter(&mut samples);
        }
        let mut heard = samples.clone();
        for &(delay, gain) in &self.echoes {
            let delayed = heard.iter_mut().skip(delay);
            delayed.zip(&samples).for_each(|(sample, echo)| *sample += gain * echo);
        }
        super::signal::scale(&mut heard, self.gain);
        heard
    }
}

/// The nominal speed of a machine in a domain: the target runs faster.
pub(super) fn domain_speed(domain: Domain) -> f64 {
    domain.pick(1.0, 1.15)
}

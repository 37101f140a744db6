//! The recipe of one clip, and the clip made from it.

use super::kinds::list;
use super::noise::background;
use super::random::Seeds;
use super::signal::{add, rms, scale};
use super::visit::Visit;
use super::{Domain, Fault, Machine, STATE_COUNT, Scene, plan};
use crate::error::{Error, Result, check_range};

/// The machine's root mean square in a clip before the visit's gain: -23 dBFS, which
/// leaves room for the clicks of a valve and becomes about -21 dBFS with the noise.
const LEVEL: f64 = 0.07;

/// Samples up to here are left alone; louder ones are bent towards 1.
const KNEE: f64 = 0.8;

/// Everything a synthetic clip depends on: the same recipe gives the same clip.
///
/// A faulty clip is the healthy clip of the same recipe plus the fault (up to the
/// limiter, which only touches samples beyond ±0.8).
///
/// # Examples
///
/// ```
/// use auscult_testing::{ClipRecipe, Fault, Machine};
///
/// let healthy = ClipRecipe { seconds: 1.0, ..ClipRecipe::new(Machine::Fan) };
/// let faulty = ClipRecipe { fault: Some((Fault::Imbalance, 0.5)), ..healthy.clone() };
/// assert_eq!(healthy.render()?.len(), 16_000);
/// assert_ne!(healthy.render()?, faulty.render()?);
/// # Ok::<(), auscult_testing::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClipRecipe {
    /// The machine.
    pub machine: Machine,
    /// The operating state (speed or load), below [`STATE_COUNT`].
    pub state: usize,
    /// The conditions of the recording.
    pub domain: Domain,
    /// The visit: clips of one visit share the microphone's position, the room and
    /// the temperature.
    pub visit: u32,
    /// The fault and its severity in `(0, 1]`, or `None` for a healthy machine.
    pub fault: Option<(Fault, f64)>,
    /// The level of the healthy machine over the background noise, in dB, -30 to 60.
    ///
    /// The visit then changes it by up to about 2 dB, and clanks and bursts in the
    /// background come on top of its noise.
    pub snr_db: f64,
    /// The length of the clip in seconds, 0.05 to 120.
    pub seconds: f64,
    /// Samples a second, 8000 to 48000.
    pub sample_rate: u32,
    /// The seed of all random numbers; it also makes the specimen of the machine.
    pub seed: u64,
    /// The number of the clip within its visit and state.
    pub take: u32,
}

impl ClipRecipe {
    /// A healthy clip of 10 s at 16 kHz and 6 dB, seed 1, in the first state of the
    /// source domain.
    pub const fn new(machine: Machine) -> Self {
        Self {
            machine,
            state: 0,
            domain: Domain::Source,
            visit: 1,
            fault: None,
            snr_db: 6.0,
            seconds: 10.0,
            sample_rate: 16_000,
            seed: 1,
            take: 0,
        }
    }

    /// Checks every number and that the machine can have the fault.
    ///
    /// # Errors
    ///
    /// Returns [`Error::OutOfRange`] or [`Error::FaultOfMachine`], whichever is
    /// found first.
    pub fn check(&self) -> Result<()> {
        let (snr, seconds) = (self.snr_db, self.seconds);
        check_range("state", self.state as f64, self.state < STATE_COUNT, "0..=2")?;
        check_range("snr_db", snr, (-30.0..=60.0).contains(&snr), "-30..=60")?;
        check_range("seconds", seconds, (0.05..=120.0).contains(&seconds), "0.05..=120")?;
        let rate_fits = (8_000..=48_000).contains(&self.sample_rate);
        check_range("sample_rate", self.sample_rate.into(), rate_fits, "8000..=48000")?;
        let Some((fault, severity)) = self.fault else { return Ok(()) };
        check_range("severity", severity, severity > 0.0 && severity <= 1.0, "(0, 1]")?;
        let known = self.machine.faults();
        if !known.contains(&fault) {
            return Err(Error::FaultOfMachine {
                machine: self.machine.name(),
                got: fault.name().to_owned(),
                allowed: list(known, Fault::name),
            });
        }
        Ok(())
    }

    /// The number of samples the clip will have.
    pub fn sample_count(&self) -> usize {
        (self.seconds * f64::from(self.sample_rate)).round() as usize
    }

    /// Makes the clip: samples in `(-1, 1)`, around -21 dBFS.
    ///
    /// # Errors
    ///
    /// Returns the error of [`check`](Self::check) if the recipe is not valid.
    pub fn render(&self) -> Result<Vec<f32>> {
        self.check()?;
        let scene = self.scene();
        let mut samples = self.machine_sound(&scene);
        let mut noise = background(&scene);
        scale(&mut noise, LEVEL * 10f64.powf(-self.snr_db / 20.0));
        add(&mut samples, &noise);
        Ok(samples.into_iter().map(|sample| limit(sample) as f32).collect())
    }

    fn scene(&self) -> Scene {
        let seeds = Seeds {
            seed: self.seed,
            machine: self.machine,
            domain: self.domain,
            state: self.state as u8,
            visit: self.visit,
            take: self.take,
        };
        let rate = f64::from(self.sample_rate);
        Scene {
            state: self.state,
            domain: self.domain,
            length: self.sample_count(),
            rate,
            seeds,
            visit: Visit::new(&seeds, rate),
        }
    }

    /// The machine as the microphone hears it, at [`LEVEL`] when healthy.
    fn machine_sound(&self, scene: &Scene) -> Vec<f64> {
        let plan = plan(self.machine, scene);
        let mut samples = plan.healthy(scene);
        // A clip too short for a single stroke is silent: leave it so.
        let gain = LEVEL / rms(&samples).max(1e-9);
        if let Some((fault, severity)) = self.fault {
            let added = plan.fault(scene, fault, severity, &samples);
            add(&mut samples, &added);
        }
        scale(&mut samples, gain);
        scene.visit.hear(samples)
    }
}

/// Bends samples beyond the knee so that none reaches 1, as a preamplifier would.
fn limit(sample: f64) -> f64 {
    let over = sample.abs() - KNEE;
    if over <= 0.0 {
        return sample;
    }
    // 0.99 at most: 16-bit samples stay below full scale too.
    let room = 0.99 - KNEE;
    sample.signum() * (KNEE + room * (over / room).tanh())
}

//! The synthetic plant of the demonstration: six machines that show every state within two minutes.

use std::collections::BTreeMap;

use auscult::{Preset, alarm::AlarmSettings};
use auscult_testing::{ClipRecipe, Fault, Machine};

use super::{Tap, report};
use crate::{
    clock::Clock,
    site::{
        HistoryFile, Keep, LearnFile, MachineSpec, RunningFile, Seconds, ServerFile, Site,
        SourceSpec, StartRule, VisitRule,
    },
    watch::Sound,
    worker::Work,
};

/// What the plant does over time.
#[derive(Debug, Clone, Copy)]
pub struct Plant;

impl Plant {
    /// When its first day begins, in seconds since 1970: a Monday.
    pub const BEGIN: f64 = 1_780_272_000.0;

    /// How much faster than real time it runs: a day takes eight seconds.
    pub const SPEED: f64 = 10_800.0;

    /// Time from one clip of a machine to the next, in seconds.
    pub const EVERY: f64 = 1_200.0;

    /// The sound of a machine at a moment, at 16 kHz; `None` while its recorder does not answer.
    pub fn sound(index: usize, at: f64) -> Option<Vec<f32>> {
        let member = MEMBERS.get(index).filter(|member| !member.is_lost(at))?;
        render(member, index, at)
    }
}

const DAY: f64 = 86_400.0;

/// A clip of two seconds every twenty minutes.
const EVERY: f64 = Plant::EVERY;
const CLIP_SECONDS: f64 = 2.0;
const SAMPLE_RATE: u32 = 16_000;

/// Days that are learnt from.
const LEARNING_DAYS: u32 = 5;

/// The rule of machines whose people do not want to be called for a small change: drift says it in its time.
fn patient() -> AlarmSettings {
    AlarmSettings { raise: 28, window: 30, ..AlarmSettings::default() }
}

/// How many conditions a day has, from the cool morning to the evening.
const CONDITIONS: u32 = 6;

struct Member {
    name: &'static str,
    machine: Machine,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// It is well; its recorder does not answer from this day to that one.
    Lost(f64, f64),
    /// The room slowly swallows its high tones: from this day on, up to this share. With more than 0.4 (4 dB) it would sound like a
    /// microphone that was moved.
    Drifts(f64, f64),
    /// A fault grows from this day on.
    Fails(Fault, f64),
    /// The microphone dies on this day, and is back on that one.
    Deaf(f64, f64),
    /// It runs by day and stands still at night.
    Shifts,
}

const MEMBERS: [Member; 6] = [
    Member { name: "fan-1", machine: Machine::Fan, fate: Fate::Lost(8.5, 10.0) },
    Member { name: "fan-2", machine: Machine::Fan, fate: Fate::Drifts(6.5, 0.25) },
    Member { name: "pump-1", machine: Machine::Pump, fate: Fate::Fails(Fault::Leak, 6.5) },
    Member { name: "pump-2", machine: Machine::Pump, fate: Fate::Deaf(7.5, 9.0) },
    Member { name: "slider-1", machine: Machine::Slider, fate: Fate::Shifts },
    Member { name: "valve-1", machine: Machine::Valve, fate: Fate::Drifts(6.0, 0.29) },
];

/// The configuration of the plant.
pub fn plant_site() -> Site {
    let machine = |(index, member): (usize, &Member)| MachineSpec {
        name: member.name.to_owned(),
        model: None,
        states: BTreeMap::new(),
        source: SourceSpec::Plant { index },
        channel: 1,
        learn: LearnFile {
            visits: LEARNING_DAYS as usize,
            // Half of a day, so that days can be compared; a slow computer misses some clips.
            clips: if member.fate == Fate::Shifts { 100 } else { 150 },
            visit: VisitRule::Day,
            gap: Seconds(DAY),
            start: StartRule::Itself,
        },
        preset: Preset::Fast,
        clip_seconds: CLIP_SECONDS,
        every: Some(EVERY),
        budget: None,
        alarm: matches!(member.fate, Fate::Drifts(..)).then(patient),
        remind: Some(DAY),
        // A slow computer may miss a few clips.
        no_data_after: 24.0 * EVERY,
        running: Some(RunningFile { above_dbfs: Some(-45.0), topic: None }),
        keep: Keep::Alarms,
        ring_seconds: 2.0 * CLIP_SECONDS,
    };
    Site {
        name: "demo".to_owned(),
        public_url: None,
        machines: MEMBERS.iter().enumerate().map(machine).collect(),
        history: HistoryFile::default(),
        server: ServerFile::default(),
        mqtt: None,
        webhooks: Vec::new(),
        emails: Vec::new(),
    }
}

pub(super) async fn run(index: usize, taps: Vec<Tap>, clock: Clock) {
    let Some(member) = MEMBERS.get(index) else { return };
    for tap in &taps {
        tap.source(true, "", false).await;
    }
    // Not all at the same moment.
    let mut next = clock.now() + EVERY * index as f64 / MEMBERS.len() as f64;
    let mut is_lost = false;
    loop {
        tokio::time::sleep(clock.real(next - clock.now())).await;
        let at = next;
        next = (next + EVERY).max(clock.now());
        if member.is_lost(at) != is_lost {
            is_lost = !is_lost;
            let text =
                if is_lost { "the recorder does not answer" } else { "the recorder is back" };
            report(&taps, !is_lost, text, true).await;
        }
        if is_lost {
            continue;
        }
        let made = tokio::task::spawn_blocking(move || render(&MEMBERS[index], index, at)).await;
        let Ok(Some(samples)) = made else {
            tracing::error!(machine = member.name, "the synthetic machine cannot be made");
            return;
        };
        for tap in &taps {
            let sound = Sound {
                samples: samples.clone(),
                sample_rate: SAMPLE_RATE,
                arrived: at,
                stands_alone: true,
            };
            tap.send(Work::Sound(tap.machine, sound)).await;
        }
    }
}

/// Days since the plant began.
fn days(at: f64) -> f64 {
    (at - Plant::BEGIN) / DAY
}

impl Member {
    fn is_lost(&self, at: f64) -> bool {
        matches!(self.fate, Fate::Lost(from, to) if (from..to).contains(&days(at)))
    }
}

/// The sound of a machine at a moment.
fn render(member: &Member, index: usize, at: f64) -> Option<Vec<f32>> {
    let days = days(at);
    let hour = (days.fract() * 24.0).rem_euclid(24.0);
    let fault = match member.fate {
        Fate::Fails(fault, from) if days > from => {
            // Clear from its first hour on, and full after two days.
            Some((fault, (0.6 + 0.2 * (days - from)).min(1.0)))
        }
        _ => None,
    };
    let recipe = ClipRecipe {
        // The hall warms up and cools down, and every day is like the one before.
        visit: 1 + (hour / 24.0 * f64::from(CONDITIONS)) as u32 % CONDITIONS,
        snr_db: 12.0,
        take: (at / EVERY) as u32,
        fault,
        seconds: CLIP_SECONDS,
        sample_rate: SAMPLE_RATE,
        seed: 11 + index as u64,
        ..ClipRecipe::new(member.machine)
    };
    let mut samples = recipe.render().ok()?;
    match member.fate {
        Fate::Deaf(from, to) if (from..to).contains(&days) => samples.fill(0.0),
        // What is left of a hall at night.
        Fate::Shifts if !(5.0..21.0).contains(&hour) => {
            for sample in &mut samples {
                *sample *= 0.005;
            }
        }
        Fate::Drifts(from, most) if days > from => {
            swallow(&mut samples, ((days - from) / 5.0).min(most));
        }
        _ => {}
    }
    Some(samples)
}

/// Takes this share of high tones away.
fn swallow(samples: &mut [f32], share: f64) {
    let share = share as f32;
    let mut low = 0.0;
    for sample in samples {
        low += 0.15 * (*sample - low);
        *sample = (1.0 - share) * *sample + share * low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plant_has_what_a_demonstration_needs() {
        let fates =
            |wanted: fn(&Fate) -> bool| MEMBERS.iter().filter(|it| wanted(&it.fate)).count();
        assert_eq!(plant_site().machines.len(), 6);
        assert_eq!(fates(|fate| matches!(fate, Fate::Drifts(..))), 2);
        assert_eq!(fates(|fate| matches!(fate, Fate::Fails(..))), 1);
        assert_eq!(fates(|fate| matches!(fate, Fate::Deaf(..))), 1);
        assert_eq!(fates(|fate| matches!(fate, Fate::Shifts)), 1);
        assert_eq!(fates(|fate| matches!(fate, Fate::Lost(..))), 1);
        let lost = |day: f64| MEMBERS[0].is_lost(Plant::BEGIN + day * DAY);
        assert!(!lost(8.0) && lost(9.0) && !lost(10.0));
        for (index, member) in MEMBERS.iter().enumerate() {
            let samples = render(member, index, Plant::BEGIN + 9.6 * DAY).unwrap();
            assert_eq!(samples.len(), 32_000, "{}", member.name);
        }
        let night = render(&MEMBERS[4], 4, Plant::BEGIN + 0.1 * DAY).unwrap();
        let day = render(&MEMBERS[4], 4, Plant::BEGIN + 0.5 * DAY).unwrap();
        let peak = |samples: &[f32]| samples.iter().fold(0.0_f32, |peak, it| peak.max(it.abs()));
        assert!(peak(&night) < 0.01 && peak(&day) > 0.05);
    }
}

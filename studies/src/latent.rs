//! Scores of a machine that is watched all day: clips resemble those just before them, and days differ.

use crate::random::Random;

/// What share of the variance of log scores comes from where; the rest is each clip's own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// What it is called in tables.
    pub name: &'static str,
    /// From what a day has in common: weather, load.
    pub day: f64,
    /// From what comes and goes within an hour.
    pub hour: f64,
}

/// From mild to strong.
pub const DEPENDENCES: [Dependence; 4] = [
    Dependence { name: "clips independent", day: 0.0, hour: 0.0 },
    Dependence { name: "alike within the hour", day: 0.0, hour: 0.3 },
    Dependence { name: "and days differ a little", day: 0.1, hour: 0.3 },
    Dependence { name: "and days differ much", day: 0.4, hour: 0.3 },
];

/// What comes and goes is forgotten by half after twenty clips.
const MEMORY: f64 = 0.966;

/// Log scores of a healthy machine spread this much.
const SPREAD: f64 = 0.15;

/// A stream of scores, a clip a minute.
#[derive(Debug)]
pub struct Stream {
    random: Random,
    dependence: Dependence,
    day: f64,
    hour: f64,
}

impl Stream {
    /// The stream of one machine.
    pub fn new(seed: u64, dependence: Dependence) -> Self {
        let mut stream = Self { random: Random::new(seed), dependence, day: 0.0, hour: 0.0 };
        stream.begin_day();
        stream
    }

    /// Another day, and nothing left of the last hour.
    pub fn begin_day(&mut self) {
        self.day = self.random.normal();
        self.hour = self.random.normal();
    }

    /// The score of the next clip, with the machine this many standard deviations away from normal.
    pub fn score(&mut self, shift: f64) -> f64 {
        let Dependence { day, hour, .. } = self.dependence;
        self.hour = MEMORY * self.hour + (1.0 - MEMORY * MEMORY).sqrt() * self.random.normal();
        let own = (1.0 - day - hour).sqrt() * self.random.normal();
        let all = day.sqrt() * self.day + hour.sqrt() * self.hour + own + shift;
        (SPREAD * all).exp()
    }
}

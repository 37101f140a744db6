//! One clock for everything, so that a month can pass in a minute.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// What time it is, in seconds since 1970-01-01T00:00:00Z; clones show the same time.
#[derive(Debug, Clone)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// The computer's.
    System,
    /// One that runs faster than the computer's.
    Fast { began: f64, at: Instant, speed: f64 },
    /// One that somebody sets.
    Set(Arc<AtomicU64>),
}

impl Clock {
    /// The computer's clock.
    pub fn system() -> Self {
        Self(Kind::System)
    }

    /// A clock that shows `began` now and then runs `speed` times as fast as the computer's.
    pub fn fast(began: f64, speed: f64) -> Self {
        Self(Kind::Fast { began, at: Instant::now(), speed })
    }

    /// A clock that stands still until [`Clock::set`] is called.
    pub fn stopped(at: f64) -> Self {
        Self(Kind::Set(Arc::new(AtomicU64::new(at.to_bits()))))
    }

    /// Sets a clock made by [`Clock::stopped`]; other clocks cannot be set and stay as they are.
    pub fn set(&self, at: f64) {
        if let Kind::Set(time) = &self.0 {
            time.store(at.to_bits(), Ordering::SeqCst);
        }
    }

    /// The time now.
    pub fn now(&self) -> f64 {
        match &self.0 {
            // A clock before 1970 is a computer without one.
            Kind::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |since| since.as_secs_f64()),
            Kind::Fast { began, at, speed } => began + at.elapsed().as_secs_f64() * speed,
            Kind::Set(time) => f64::from_bits(time.load(Ordering::SeqCst)),
        }
    }

    /// How long to really wait for `seconds` of this clock to pass.
    pub fn real(&self, seconds: f64) -> Duration {
        let speed = match &self.0 {
            Kind::Fast { speed, .. } => *speed,
            Kind::System | Kind::Set(_) => 1.0,
        };
        Duration::try_from_secs_f64(seconds.max(0.0) / speed).unwrap_or(Duration::MAX)
    }
}

/// Notices that the computer's clock was set.
#[derive(Debug)]
pub struct ClockWatch {
    clock: Clock,
    last: f64,
    at: Instant,
}

/// Smaller differences are corrections that nobody needs to hear of.
pub(crate) const JUMP_SECONDS: f64 = 2.0;

impl ClockWatch {
    /// Watches from now on.
    pub fn new(clock: Clock) -> Self {
        Self { last: clock.now(), clock, at: Instant::now() }
    }

    /// By how many seconds the clock was set since the last look, if it was.
    pub fn jump(&mut self) -> Option<f64> {
        let (now, at) = (self.clock.now(), Instant::now());
        let passed = match self.clock.0 {
            Kind::System => (at - self.at).as_secs_f64(),
            // Simulated time is what it is.
            Kind::Fast { .. } | Kind::Set(_) => now - self.last,
        };
        let jump = now - self.last - passed;
        (self.last, self.at) = (now, at);
        (jump.abs() > JUMP_SECONDS).then_some(jump)
    }
}

/// A time as people and programs write it: `2026-06-01T09:00:00Z`, in UTC, to the millisecond.
pub fn utc(unix_seconds: f64) -> String {
    Utc(unix_seconds).to_string()
}

/// Displays as [`utc`] does.
struct Utc(f64);

impl fmt::Display for Utc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = (self.0 * 1_000.0).round();
        match jiff::Timestamp::from_millisecond(milliseconds as i64) {
            Ok(time) => write!(formatter, "{time}"),
            Err(_) => write!(formatter, "{} s", self.0),
        }
    }
}

/// Reads a time as people and programs write it; `None` if it is none.
pub fn parse_utc(text: &str) -> Option<f64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(time.as_duration().as_secs_f64())
}

/// The day of a time, in UTC: `2026-06-01`.
pub fn day(unix_seconds: f64) -> String {
    utc(unix_seconds).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(utc(0.0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(1_780_304_400.25), "2026-06-01T09:00:00.25Z");
        assert_eq!(day(1_780_304_400.25), "2026-06-01");
        assert_eq!(utc(f64::MAX), format!("{} s", f64::MAX));
    }

    #[test]
    fn a_fast_clock_waits_shorter() {
        let clock = Clock::fast(100.0, 50.0);
        assert!(clock.now() >= 100.0);
        assert_eq!(clock.real(5.0), Duration::from_millis(100));
    }

    #[test]
    fn a_clock_that_somebody_sets_is_set_for_all() {
        let clock = Clock::stopped(5.0);
        let shared = clock.clone();
        clock.set(7.5);
        assert_eq!(shared.now(), 7.5);
        assert_eq!(ClockWatch::new(shared).jump(), None);
    }
}

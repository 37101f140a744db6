//! Limits: how much, how often, how long.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The largest JSON body, in bytes.
pub(crate) const MOST_JSON: usize = 1 << 20;

/// How long an answer may take that only reads or asks.
pub(crate) const USUAL_TIME: Duration = Duration::from_secs(30);

/// How long an upload may take.
pub(crate) const UPLOAD_TIME: Duration = Duration::from_secs(180);

/// How long making a model, a page or an export may take.
pub(crate) const LONG_TIME: Duration = Duration::from_secs(600);

/// Requests a second, an address each: a bucket that fills up again.
#[derive(Debug)]
pub(crate) struct Rates {
    a_second: f64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// Addresses that are remembered; beyond these the full buckets are forgotten, which changes nothing.
const MOST_ADDRESSES: usize = 10_000;

impl Rates {
    pub(crate) fn new(a_second: u32) -> Self {
        Self { a_second: f64::from(a_second.max(1)), buckets: Mutex::default() }
    }

    /// Whether one more request is fine.
    pub(crate) fn take(&self, address: IpAddr) -> bool {
        let now = Instant::now();
        let most = self.a_second * 2.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > MOST_ADDRESSES {
            buckets.retain(|_, bucket| now - bucket.at < Duration::from_secs(2));
        }
        let bucket = buckets.entry(address).or_insert(Bucket { left: most, at: now });
        let filled = bucket.left + (now - bucket.at).as_secs_f64() * self.a_second;
        *bucket = Bucket { left: filled.min(most), at: now };
        if bucket.left < 1.0 {
            return false;
        }
        bucket.left -= 1.0;
        true
    }
}

/// Logins that failed: after a few of them a name or an address has to wait, longer each time.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<String, (u32, Instant)>>,
}

/// Failures that cost nothing.
const FREE_FAILURES: u32 = 5;

/// Failures are forgotten after this long without another.
const FORGET: Duration = Duration::from_secs(900);

/// The longest wait.
const LONGEST_WAIT: u64 = 300;

/// Names and addresses that are remembered.
const MOST_FAILURES: usize = 10_000;

impl Throttle {
    /// How many seconds to wait before the next try; 0 if none.
    pub(crate) fn wait(&self, whose: &str) -> u64 {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((count, last)) = failures.get(whose) else { return 0 };
        if *count < FREE_FAILURES || last.elapsed() > FORGET {
            return 0;
        }
        let wait = (1_u64 << (count - FREE_FAILURES).min(9)).min(LONGEST_WAIT);
        wait.saturating_sub(last.elapsed().as_secs())
    }

    pub(crate) fn failed(&self, whose: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() > MOST_FAILURES {
            failures.retain(|_, (_, last)| last.elapsed() < FORGET);
        }
        let entry = failures.entry(whose.to_owned()).or_insert((0, Instant::now()));
        let before = if entry.1.elapsed() > FORGET { 0 } else { entry.0 };
        *entry = (before + 1, Instant::now());
    }

    pub(crate) fn succeeded(&self, whose: &str) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(whose);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_runs_dry_and_others_do_not() {
        let rates = Rates::new(10);
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let taken = (0..50).filter(|_| rates.take(a)).count();
        assert!((20..25).contains(&taken), "{taken}");
        assert!(rates.take(b));
    }

    #[test]
    fn failures_cost_ever_more_time() {
        let throttle = Throttle::default();
        for _ in 0..FREE_FAILURES - 1 {
            throttle.failed("anna");
        }
        assert_eq!(throttle.wait("anna"), 0);
        throttle.failed("anna");
        assert_eq!(throttle.wait("anna"), 1);
        for _ in 0..20 {
            throttle.failed("anna");
        }
        assert_eq!(throttle.wait("anna"), LONGEST_WAIT);
        assert_eq!(throttle.wait("bert"), 0);
        throttle.succeeded("anna");
        assert_eq!(throttle.wait("anna"), 0);
    }
}

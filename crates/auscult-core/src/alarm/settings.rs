//! When an alarm is raised and when it ends.

use serde::{Deserialize, Serialize};

use crate::{Error, Result, names::named_choices};

/// Whether an alarm ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Latch {
    /// It ends when the sound is normal again.
    #[default]
    SelfClearing,
    /// It stays until somebody acknowledges it, and then ends when the sound is normal.
    Latching,
}

named_choices!(Latch, "latch", { SelfClearing => "self-clearing", Latching => "latching" });

/// Settings of an alarm; M of N anomalous clips raise it, K normal ones in a row clear it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmSettings {
    /// Anomalous clips that raise an alarm (M) ...
    pub raise: usize,
    /// ... among this many of the last ones (N).
    pub window: usize,
    /// Normal clips in a row that clear it (K).
    pub clear: usize,
    /// How long the raising condition must last.
    pub on_delay_seconds: f64,
    /// How long the clearing condition must last.
    pub off_delay_seconds: f64,
    /// Whether it ends by itself.
    pub latch: Latch,
    /// Without an observation for longer than this there is no data.
    pub no_data_after_seconds: f64,
    /// Time from one clip to the next that the rule was chosen for: at another pace it keeps another
    /// budget. `None` if it was chosen for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_seconds: Option<f64>,
}

impl Default for AlarmSettings {
    /// 3 of 5 to raise, 5 to clear, no delays, a minute without data.
    fn default() -> Self {
        Self {
            raise: 3,
            window: 5,
            clear: 5,
            on_delay_seconds: 0.0,
            off_delay_seconds: 0.0,
            latch: Latch::SelfClearing,
            no_data_after_seconds: 60.0,
            hop_seconds: None,
        }
    }
}

/// The longest window an alarm looks at.
pub(super) const LONGEST_WINDOW: usize = 64;

impl AlarmSettings {
    /// Makes the settings usable.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] unless 1 <= raise <= window <= 64, 1 <= clear <= 10000, delays are finite
    /// and not negative, and the time without data and the hop are above 0.
    pub fn check(self) -> Result<AlarmRules> {
        if !(1..=LONGEST_WINDOW).contains(&self.window) {
            return Err(Error::setting("alarm window", "1 to 64 clips", self.window));
        }
        if !(1..=self.window).contains(&self.raise) {
            let allowed = format!("1 to the window's {} clips", self.window);
            return Err(Error::setting("clips that raise an alarm", allowed, self.raise));
        }
        if !(1..=10_000).contains(&self.clear) {
            return Err(Error::setting("clips that clear an alarm", "1 to 10000", self.clear));
        }
        for (setting, delay) in
            [("on delay", self.on_delay_seconds), ("off delay", self.off_delay_seconds)]
        {
            if !(delay.is_finite() && delay >= 0.0) {
                return Err(Error::setting(setting, "0 or more seconds", delay));
            }
        }
        if self.no_data_after_seconds.is_nan() || self.no_data_after_seconds <= 0.0 {
            let got = self.no_data_after_seconds;
            return Err(Error::setting("time without data", "above 0 seconds", got));
        }
        if let Some(hop) = self.hop_seconds.filter(|&hop| !(hop.is_finite() && hop > 0.0)) {
            return Err(Error::setting("hop of an alarm", "above 0 seconds", hop));
        }
        Ok(AlarmRules(self))
    }
}

/// Checked [`AlarmSettings`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlarmRules(AlarmSettings);

impl AlarmRules {
    /// The settings they were made from.
    pub fn settings(&self) -> &AlarmSettings {
        &self.0
    }
}

//! What is promised about normal clips, and how many of them a promise needs.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::{Error, Result};

/// The share of normal clips that may be called anomalous, above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct FalseAlarmRate(f64);

impl Default for FalseAlarmRate {
    /// 5 %: the smallest round rate that 19 calibration clips can promise.
    fn default() -> Self {
        Self(0.05)
    }
}

/// How sure a promise is about this one calibration set, above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

/// A number strictly between 0 and 1 with a percent form.
macro_rules! share {
    ($type:ident, $what:literal, $example:literal) => {
        impl TryFrom<f64> for $type {
            type Error = Error;

            fn try_from(share: f64) -> Result<Self> {
                if share > 0.0 && share < 1.0 {
                    Ok(Self(share))
                } else {
                    Err(Error::setting(
                        $what,
                        concat!("above 0 and below 1 (", $example, ")"),
                        share,
                    ))
                }
            }
        }

        impl From<$type> for f64 {
            fn from(share: $type) -> Self {
                share.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Four digits behind the point, and more for what would then be nothing.
                match self.0 * 100.0 {
                    percent if percent < 1e-3 => write!(formatter, "{percent:.0e} %"),
                    percent => write!(formatter, "{} %", (percent * 1e4).round() / 1e4),
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = Error;

            /// Takes `0.05`, `5%` or `5 %`.
            fn from_str(text: &str) -> Result<Self> {
                let number = |text: &str| {
                    text.trim().parse::<f64>().map_err(|_| {
                        Error::setting($what, concat!("a number such as ", $example), text)
                    })
                };
                match text.trim().strip_suffix('%') {
                    Some(percent) => Self::try_from(number(percent)? / 100.0),
                    None => Self::try_from(number(text)?),
                }
            }
        }
    };
}

share!(FalseAlarmRate, "false-alarm rate", "0.05 or 5%");
share!(Confidence, "confidence", "0.9 or 90%");

impl FalseAlarmRate {
    /// How many calibration scores a plain promise of this rate needs: 1 / rate - 1.
    pub fn calibration_floor(self) -> usize {
        Promise { rate: self, confidence: None }.calibration_floor()
    }
}

/// A false-alarm rate, on average over calibration sets or with a confidence for this one.
///
/// Without a confidence the rate holds on average over recordings of calibration clips: half of
/// them realise a little more. With a confidence of 0.9 nine of ten sets realise at most the rate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Promise {
    /// The promised rate.
    pub rate: FalseAlarmRate,
    /// How sure; `None` promises the rate on average.
    pub confidence: Option<Confidence>,
}

/// 1 / 0.05 is a hair above 20 in binary.
const ROUNDING: f64 = 1e-9;

impl Promise {
    /// How many independent calibration scores the promise needs.
    ///
    /// n >= 1 / a - 1, and with a confidence c n >= ln(1 - c) / ln(1 - a).
    pub fn calibration_floor(self) -> usize {
        let rate = self.rate.0;
        let floor = match self.confidence {
            None => 1.0 / rate - 1.0,
            Some(Confidence(confidence)) => (-confidence).ln_1p() / (-rate).ln_1p(),
        };
        (floor - ROUNDING).ceil().max(1.0) as usize
    }

    /// The smallest rate, in whole percent, that `effective` independent calibration scores can promise as surely as
    /// this one; `None` if they cannot promise any.
    pub fn smallest_rate(self, effective: f64) -> Option<FalseAlarmRate> {
        let rates = (1..100_u8).filter_map(|percent| (f64::from(percent) / 100.0).try_into().ok());
        let promise = |rate| Self { rate, ..self };
        rates.into_iter().find(|&rate| promise(rate).tail_share(effective).is_some())
    }

    /// The share of calibration scores that may be at or above an anomalous one, for calibration
    /// worth `effective` independent scores; `None` if that is too few.
    pub fn tail_share(self, effective: f64) -> Option<f64> {
        if effective + ROUNDING < self.calibration_floor() as f64 {
            return None;
        }
        let allowed = match self.confidence {
            None => self.rate.0 * (effective + 1.0) - 1.0,
            Some(Confidence(confidence)) => {
                // With the k-th largest as threshold the realised rate is Beta(k, n + 1 - k): it is
                // at most a with probability P(Binomial(n, a) >= k).
                let count = (effective + ROUNDING).floor() as u64;
                let binomial = Binomial::new(self.rate.0, count).ok()?;
                let ranks = 1..=count;
                let rank = ranks.take_while(|k| binomial.cdf(k - 1) <= 1.0 - confidence + ROUNDING);
                rank.last()? as f64 - 1.0
            }
        };
        Some((allowed.max(0.0) + ROUNDING) / effective)
    }
}

impl std::fmt::Display for Promise {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.rate)?;
        self.confidence
            .map_or(Ok(()), |confidence| write!(formatter, " with {confidence} confidence"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(rate: f64, confidence: Option<f64>) -> Promise {
        Promise {
            rate: rate.try_into().unwrap(),
            confidence: confidence.map(|confidence| confidence.try_into().unwrap()),
        }
    }

    #[test]
    fn floors_are_those_of_the_conformal_quantile() {
        let floors = [0.1, 0.05, 0.01, 0.5].map(|rate| promise(rate, None).calibration_floor());
        assert_eq!(floors, [9, 19, 99, 1]);
        // ln(0.1) / ln(0.95) = 44.9, ln(0.1) / ln(0.99) = 229.1
        let floors = [0.05, 0.01].map(|rate| promise(rate, Some(0.9)).calibration_floor());
        assert_eq!(floors, [45, 230]);
    }

    #[test]
    fn a_confident_promise_takes_a_higher_threshold() {
        let allowed = |promise: Promise, count: f64| {
            promise.tail_share(count).map(|share| (share * count).floor() as usize)
        };
        assert_eq!(allowed(promise(0.05, None), 100.0), Some(4));
        // P(Binomial(100, 0.05) <= 1) = 0.037, <= 2 = 0.118.
        assert_eq!(allowed(promise(0.05, Some(0.9)), 100.0), Some(1));
        assert_eq!(allowed(promise(0.05, Some(0.9)), 44.0), None);
        assert_eq!(allowed(promise(0.05, Some(0.9)), 45.0), Some(0));
    }

    #[test]
    fn rates_read_as_people_write_them() {
        for text in ["5%", "0.05", " 5 % "] {
            assert_eq!(text.parse::<FalseAlarmRate>().unwrap(), FalseAlarmRate::default());
        }
        for text in ["0", "1", "-1%", "100%", "often", "nan"] {
            assert!(text.parse::<FalseAlarmRate>().is_err(), "{text}");
        }
        assert_eq!(FalseAlarmRate::default().to_string(), "5 %");
        assert_eq!(promise(0.01, Some(0.9)).to_string(), "1 % with 90 % confidence");
    }
}

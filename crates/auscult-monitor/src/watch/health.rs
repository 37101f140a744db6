//! 4. Whether a clip speaks of the machine or of the microphone.

use auscult::{ClipCondition, ClipQuality, ClipRecord, quality::Remark};

use super::event::Band;

/// What is wrong with the sensor; never a fault of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SensorFault {
    /// Nothing, or one constant value, arrives.
    Dead,
    /// Much of the sound is at full scale.
    Clipped(f64),
    /// The signal stands still again and again: seconds of the clip.
    Dropouts(f64),
    /// All of the spectrum is louder or quieter by the same amount, in dB.
    Gain(f64),
    /// All of the spectrum is quieter, evenly more so towards high frequencies: by how much at its lowest and at its highest end, in dB.
    Moved(f64, f64),
    /// The spectrum ends here, in Hz, and that of the references does not.
    NarrowBand(f64),
    /// What differs are lines of the mains, in Hz.
    Hum(f64),
}

impl SensorFault {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dead => "dead",
            Self::Clipped(_) => "clipped",
            Self::Dropouts(_) => "dropouts",
            Self::Gain(_) => "gain",
            Self::Moved(..) => "moved",
            Self::NarrowBand(_) => "narrow-band",
            Self::Hum(_) => "hum",
        }
    }
}

impl std::fmt::Display for SensorFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dead => write!(
                formatter,
                "the microphone is dead: nothing arrives, and even a quiet room is not that quiet; check microphone and \
                 cable"
            ),
            Self::Clipped(share) => write!(
                formatter,
                "the microphone is overdriven: {:.0} % of the samples are at full scale; lower the gain",
                100.0 * share
            ),
            Self::Dropouts(seconds) => write!(
                formatter,
                "the signal breaks off again and again, {seconds:.1} s of this clip; check cable and buffers"
            ),
            Self::Gain(decibels) => write!(
                formatter,
                "the gain has changed: everything is {:.0} dB {} than normal; check the recorder's settings",
                decibels.abs(),
                if *decibels > 0.0 { "louder" } else { "quieter" }
            ),
            Self::Moved(low, high) => write!(
                formatter,
                "the microphone was moved or turned away: everything is quieter, by {:.0} dB at low and {:.0} dB at high \
                 frequencies; check where it hangs",
                low.abs(),
                high.abs()
            ),
            Self::NarrowBand(hertz) => write!(
                formatter,
                "the recording has nothing above {:.1} kHz, and those of the model have; check the recorder's sample rate and \
                 filters",
                hertz / 1000.0
            ),
            Self::Hum(mains) => write!(
                formatter,
                "the line hums at {mains:.0} Hz: what differs are multiples of the mains; check cable and ground"
            ),
        }
    }
}

/// Share of samples at full scale from which the sound says more of the converter than of the machine.
const CLIPPED: f64 = 0.01;

/// Share of a clip that may stand still.
const STANDS_STILL: f64 = 0.05;

/// How much louder a band with a line of the mains must have become, in dB.
const HUM: f32 = 10.0;

/// Bands that differ by less are not what an anomaly is about, in dB.
const NOTABLE: f32 = 3.0;

/// What a clip that was scored, or could not be, says about the sensor.
pub(super) fn judge(record: &ClipRecord) -> Option<SensorFault> {
    if let Some(fault) = judge_samples(record.condition, record.quality.as_ref()) {
        return Some(fault);
    }
    let difference = record.difference.as_ref().filter(|_| record.is_anomalous())?;
    let (decibels, hertz) = (&difference.decibels, &difference.hertz);
    let narrow = record.remarks.iter().find_map(|remark| match remark {
        Remark::NarrowBand(hertz) => Some(*hertz),
        _ => None,
    });
    // Machines do not cut off a spectrum, recorders do.
    if let Some(hertz) = narrow {
        return Some(SensorFault::NarrowBand(hertz));
    }
    let hum = record.remarks.iter().find_map(|remark| match remark {
        Remark::Hum(hum) => Some(hum.mains_hertz),
        _ => None,
    })?;
    let has_line = |low: f64, high: f64| (low / hum).ceil() * hum <= high && high <= 8.0 * hum;
    let notable: Vec<usize> =
        (0..decibels.len()).filter(|&band| decibels[band].abs() >= NOTABLE).collect();
    // Machines have tones of their own near the mains: only what has become much louder is the line.
    let is_loud = notable.iter().any(|&band| decibels[band] >= HUM);
    let all_lines = notable.iter().all(|&band| {
        decibels[band] > 0.0 && hertz.get(band + 1).is_some_and(|&high| has_line(hertz[band], high))
    });
    (is_loud && all_lines).then_some(SensorFault::Hum(hum))
}

/// What the samples alone say.
pub(super) fn judge_samples(
    condition: ClipCondition,
    quality: Option<&ClipQuality>,
) -> Option<SensorFault> {
    match condition {
        ClipCondition::Silent
        | ClipCondition::Constant { .. }
        | ClipCondition::NotFinite { .. } => {
            return Some(SensorFault::Dead);
        }
        ClipCondition::Usable | ClipCondition::TooShort { .. } => {}
    }
    let quality = quality?;
    if quality.clipped_share >= CLIPPED {
        return Some(SensorFault::Clipped(quality.clipped_share));
    }
    (quality.dropout_seconds >= STANDS_STILL * quality.seconds && quality.dropouts > 1)
        .then_some(SensorFault::Dropouts(quality.dropout_seconds))
}

/// Where the spectrum differs most from the closest normal clip: at most three parts, neighbours joined.
pub(super) fn bands(record: &ClipRecord) -> Vec<Band> {
    let Some(difference) = &record.difference else { return Vec::new() };
    let mut bands: Vec<Band> = Vec::new();
    for (index, &decibels) in difference.decibels.iter().enumerate() {
        let (Some(&low), Some(&high)) =
            (difference.hertz.get(index), difference.hertz.get(index + 1))
        else {
            break;
        };
        if decibels.abs() < NOTABLE || !decibels.is_finite() {
            continue;
        }
        match bands.last_mut() {
            Some(last) if last.high_hertz == low && last.decibels * decibels > 0.0 => {
                last.high_hertz = high;
                if decibels.abs() > last.decibels.abs() {
                    last.decibels = decibels;
                }
            }
            _ => bands.push(Band { low_hertz: low, high_hertz: high, decibels }),
        }
    }
    bands.sort_by(|a, b| b.decibels.abs().total_cmp(&a.decibels.abs()));
    bands.truncate(3);
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_that_no_room_makes_is_a_dead_microphone() {
        assert_eq!(judge_samples(ClipCondition::Silent, None), Some(SensorFault::Dead));
        let condition = ClipCondition::Constant { value: 0.2 };
        assert_eq!(judge_samples(condition, None), Some(SensorFault::Dead));
        assert_eq!(judge_samples(ClipCondition::Usable, None), None);
    }
}

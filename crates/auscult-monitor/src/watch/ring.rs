//! The last seconds of sound, so that what is kept of an alarm begins before it.

use std::collections::VecDeque;

/// Sound as 16-bit samples, the newest last.
#[derive(Debug, Clone)]
pub struct Ring {
    samples: VecDeque<i16>,
    most: usize,
    sample_rate: u32,
    /// When the sample after the last one begins.
    end: f64,
}

/// Clips whose times differ by less follow each other.
const SEAM_SECONDS: f64 = 0.5;

impl Ring {
    /// Room for this much sound.
    pub fn new(seconds: f64, sample_rate: u32) -> Self {
        let most = (seconds * f64::from(sample_rate)).ceil() as usize;
        Self { samples: VecDeque::new(), most, sample_rate, end: 0.0 }
    }

    /// Takes in a clip that began at this time; sound from before a pause is forgotten.
    pub fn push(&mut self, samples: &[f32], began: f64) {
        if (began - self.end).abs() > SEAM_SECONDS {
            self.samples.clear();
        }
        let newest = &samples[samples.len().saturating_sub(self.most)..];
        let too_many = (self.samples.len() + newest.len()).saturating_sub(self.most);
        self.samples.drain(..too_many.min(self.samples.len()));
        self.samples.extend(newest.iter().map(|sample| to_i16(*sample)));
        self.end = began + samples.len() as f64 / f64::from(self.sample_rate);
    }

    /// All of it, and when it begins.
    pub fn sound(&self) -> (Vec<f32>, f64) {
        let samples: Vec<f32> =
            self.samples.iter().map(|sample| f32::from(*sample) / 32_768.0).collect();
        let began = self.end - samples.len() as f64 / f64::from(self.sample_rate);
        (samples, began)
    }
}

fn to_i16(sample: f32) -> i16 {
    // NaN becomes 0: a broken sample is silence.
    (sample * 32_768.0).round().clamp(-32_768.0, 32_767.0) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_holds_the_last_seconds_and_forgets_what_a_pause_separates() {
        let mut ring = Ring::new(3.0, 10);
        for second in 0..5_u8 {
            ring.push(&[f32::from(second) / 8.0; 10], 100.0 + f64::from(second));
        }
        let (samples, began) = ring.sound();
        assert_eq!((samples.len(), began), (30, 102.0));
        assert_eq!((samples[0], samples[29]), (0.25, 0.5));
        ring.push(&[0.5; 50], 200.0);
        assert_eq!(ring.sound().0.len(), 30, "a clip longer than the ring keeps its end");
        ring.push(&[0.5; 10], 900.0);
        assert_eq!(ring.sound(), (vec![0.5; 10], 900.0));
    }
}

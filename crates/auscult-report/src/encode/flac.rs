//! Sound as a FLAC file: 16 bits, mono, without loss (RFC 9639).
//!
//! Every browser plays it, and machine sound takes 53 to 70 % of its WAV file. Fixed predictors with Rice codes are all
//! there is: the linear predictors of the reference encoder save at most another 3 % on pumps, fans, valves and bearings.

use super::data_address;

/// A data address of the samples.
///
/// Full scale is 1; samples beyond it are cut, samples that are not finite become 0.
pub(crate) fn flac_address(samples: &[f32], sample_rate: u32) -> String {
    data_address("audio/flac", &flac(samples, sample_rate))
}

const BLOCK: usize = 4096;
const BITS: u32 = 16;
/// The highest fixed predictor, and the finest division of a block for Rice parameters.
const HIGHEST_ORDER: usize = 4;
const HIGHEST_PARTITION_ORDER: u32 = 6;
/// The largest parameter of four bits that is not the escape code.
const LARGEST_PARAMETER: u32 = 14;

/// Mono sound as a FLAC file of 16 bits, without loss where the samples have no more.
///
/// Full scale is 1; samples beyond it are cut, samples that are not finite become 0.
pub fn flac(samples: &[f32], sample_rate: u32) -> Vec<u8> {
    let samples: Vec<i32> = samples.iter().map(|&sample| i32::from(quantised(sample))).collect();
    let mut bits = Bits { bytes: b"fLaC".to_vec(), ..Bits::default() };
    bits.put(8, 0x80); // the last block of metadata, of the first kind: the stream's own
    bits.put(24, 34);
    bits.put(16, BLOCK as u64);
    bits.put(16, BLOCK as u64);
    bits.put(48, 0); // sizes of frames: unknown
    bits.put(20, u64::from(sample_rate.clamp(1, 655_350)));
    bits.put(3, 0); // one channel
    bits.put(5, u64::from(BITS) - 1);
    bits.put(36, samples.len() as u64);
    bits.put(64, 0); // no checksum of the samples; frames have theirs
    bits.put(64, 0);
    for (number, block) in samples.chunks(BLOCK).enumerate() {
        put_frame(&mut bits, number as u64, block);
    }
    bits.bytes
}

fn quantised(sample: f32) -> i16 {
    // The cast saturates at full scale and makes NaN 0.
    if sample.is_finite() { (sample * 32_768.0).round() as i16 } else { 0 }
}

fn put_frame(bits: &mut Bits, number: u64, block: &[i32]) {
    let start = bits.bytes.len();
    bits.put(16, 0xfff8); // a frame of a stream of equal blocks
    let is_whole = block.len() == BLOCK;
    bits.put(4, if is_whole { 0b1100 } else { 0b0111 });
    bits.put(4, 0); // the rate is that of the stream
    bits.put(8, 0b0000_1000); // one channel, 16 bits
    put_number(bits, number);
    if !is_whole {
        bits.put(16, block.len() as u64 - 1);
    }
    let checksum = crc8(&bits.bytes[start..]);
    bits.put(8, u64::from(checksum));
    put_subframe(bits, block);
    bits.fill_byte();
    let checksum = crc16(&bits.bytes[start..]);
    bits.put(16, u64::from(checksum));
}

/// A number in the way of UTF-8; frames of one page never need more than three bytes of it.
fn put_number(bits: &mut Bits, number: u64) {
    match number {
        0..0x80 => bits.put(8, number),
        0x80..0x800 => bits.put(16, 0xc080 | (number >> 6) << 8 | number & 0x3f),
        _ => {
            bits.put(
                24,
                0x00e0_8080 | (number >> 12) << 16 | (number >> 6 & 0x3f) << 8 | number & 0x3f,
            );
        }
    }
}

fn put_subframe(bits: &mut Bits, block: &[i32]) {
    let (order, residual) = best_residual(block);
    let coding = RiceCoding::of(&residual, block.len(), order);
    // Sound that no predictor follows is stored as it is.
    let is_stored = coding.bits >= (block.len() - order) as u64 * u64::from(BITS);
    bits.put(8, if is_stored { 0b000_001 << 1 } else { (0b001_000 | order as u64) << 1 });
    for &sample in if is_stored { block } else { &block[..order] } {
        bits.put_signed(BITS, sample);
    }
    if is_stored {
        return;
    }
    bits.put(2, 0); // parameters of four bits
    bits.put(4, u64::from(coding.partition_order));
    for (part, &parameter) in
        parts(&residual, block.len(), order, coding.partition_order).zip(&coding.parameters)
    {
        bits.put(4, u64::from(parameter));
        for &value in part {
            bits.put_rice(parameter, value);
        }
    }
}

/// The fixed predictor that leaves least, and what it leaves, folded to whole numbers.
fn best_residual(block: &[i32]) -> (usize, Vec<u32>) {
    let size = |residual: &[i32]| {
        residual.iter().map(|value| u64::from(value.unsigned_abs())).sum::<u64>()
    };
    let mut best = (0, block.to_vec());
    let mut least = size(block);
    let mut differences = block.to_vec();
    for order in 1..=HIGHEST_ORDER.min(block.len().saturating_sub(1)) {
        differences = differences.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let size = size(&differences);
        if size < least {
            (least, best) = (size, (order, differences.clone()));
        }
    }
    let folded = best.1.iter().map(|&value| ((value << 1) ^ (value >> 31)) as u32).collect();
    (best.0, folded)
}

/// The residual of a block in the parts that have a parameter each; the first is short of the warm-up samples.
fn parts(
    residual: &[u32],
    block: usize,
    order: usize,
    partition_order: u32,
) -> impl Iterator<Item = &[u32]> {
    let len = block >> partition_order;
    (0..1_usize << partition_order).map(move |part| {
        let from = (part * len).saturating_sub(order);
        &residual[from..(part + 1) * len - order]
    })
}

/// How a residual is written.
struct RiceCoding {
    partition_order: u32,
    parameters: Vec<u32>,
    /// What it takes.
    bits: u64,
}

impl RiceCoding {
    /// The division that takes the fewest bits.
    fn of(residual: &[u32], block: usize, order: usize) -> Self {
        let fits = |&partition_order: &u32| {
            block.is_multiple_of(1 << partition_order) && block >> partition_order > order
        };
        let choices = (0..=HIGHEST_PARTITION_ORDER).take_while(fits).map(|partition_order| {
            let chosen: Vec<(u64, u32)> =
                parts(residual, block, order, partition_order).map(best_parameter).collect();
            let bits: u64 = chosen.iter().map(|(bits, _)| 4 + bits).sum();
            let parameters = chosen.into_iter().map(|(_, parameter)| parameter).collect();
            Self { partition_order, parameters, bits }
        });
        // The undivided block always fits.
        let undivided =
            Self { partition_order: 0, parameters: vec![LARGEST_PARAMETER], bits: u64::MAX };
        choices.min_by_key(|coding| coding.bits).unwrap_or(undivided)
    }
}

/// The bits a part takes with its best parameter, and that parameter: about the logarithm of its mean.
fn best_parameter(part: &[u32]) -> (u64, u32) {
    let sum: u64 = part.iter().map(|&value| u64::from(value)).sum();
    let near = (sum / part.len().max(1) as u64).max(1).ilog2();
    let cost = |parameter: u32| {
        let bits: u64 = part.iter().map(|&value| u64::from(value >> parameter)).sum();
        (bits + part.len() as u64 * u64::from(1 + parameter), parameter)
    };
    let choices = near.saturating_sub(1)..=near + 1;
    choices.map(|parameter| cost(parameter.min(LARGEST_PARAMETER))).min().unwrap_or((0, 0))
}

/// Bytes that are written bit by bit, the highest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, and how many they are.
    rest: u64,
    count: u32,
}

impl Bits {
    /// Adds the lowest `count` bits of a value.
    fn put(&mut self, count: u32, value: u64) {
        for at in (0..count).rev() {
            self.rest = self.rest << 1 | (value >> at & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.rest as u8);
                (self.rest, self.count) = (0, 0);
            }
        }
    }

    fn put_signed(&mut self, count: u32, value: i32) {
        self.put(count, i64::from(value).cast_unsigned());
    }

    /// The quotient as zeros and a one, then the remainder.
    fn put_rice(&mut self, parameter: u32, value: u32) {
        let quotient = value >> parameter;
        (0..quotient).for_each(|_| self.put(1, 0));
        self.put(1 + parameter, 1 << parameter | u64::from(value) & ((1 << parameter) - 1));
    }

    fn fill_byte(&mut self) {
        if self.count > 0 {
            self.put(8 - self.count, 0);
        }
    }
}

/// The checksum of a frame's header: polynomial 0x07.
fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |checksum, &byte| {
        (0..8).fold(checksum ^ byte, |c, _| if c & 0x80 == 0 { c << 1 } else { c << 1 ^ 0x07 })
    })
}

/// The checksum of a frame: polynomial 0x8005.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |checksum, &byte| {
        (0..8).fold(checksum ^ u16::from(byte) << 8, |c, _| {
            if c & 0x8000 == 0 { c << 1 } else { c << 1 ^ 0x8005 }
        })
    })
}

#[cfg(test)]
mod tests {
    use auscult::{ClipRules, ClipSettings, Reading, audio::ChannelRule, random::Random};

    use super::*;

    /// Decodes what was encoded, with the library's own decoder.
    fn decoded(bytes: &[u8], sample_rate: u32, samples: usize) -> Vec<f32> {
        let seconds = samples as f64 / f64::from(sample_rate);
        let clip = ClipSettings { sample_rate, seconds };
        let reading = Reading::new(clip, ChannelRule::default(), None, ClipRules::field()).unwrap();
        let stream = std::io::Cursor::new(bytes.to_vec());
        let mut clips = reading.clips_of_stream("page.flac", stream).unwrap();
        clips.next().unwrap().unwrap().samples
    }

    #[test]
    fn what_is_heard_is_what_was_recorded() {
        let mut random = Random::of(7, &[]);
        let noise: Vec<f32> = (0..40_000).map(|_| random.symmetric(0.3)).collect();
        let tone: Vec<f32> = (0..16_001).map(|at| 0.9 * (at as f32 * 0.05).sin()).collect();
        let loud: Vec<f32> = (0..9_000).map(|at| if at % 3 == 0 { 1.0 } else { -1.0 }).collect();
        for samples in [noise, tone, loud, vec![0.25; 8_192]] {
            let bytes = flac(&samples, 16_000);
            assert!(bytes.len() < samples.len() * 2 + 2_000, "{} bytes", bytes.len());
            let heard = decoded(&bytes, 16_000, samples.len());
            assert_eq!(heard.len(), samples.len());
            for (heard, sample) in heard.iter().zip(&samples) {
                let wanted = f32::from(quantised(*sample)) / 32_768.0;
                assert!((heard - wanted).abs() < 1e-6, "{heard} for {wanted}");
            }
        }
    }

    #[test]
    fn a_quiet_hum_takes_less_than_half_of_its_wav_file() {
        let hum: Vec<f32> = (0..160_000).map(|at| 0.05 * (at as f32 * 0.02).sin()).collect();
        assert!(flac(&hum, 16_000).len() < 160_000);
    }

    #[test]
    fn any_samples_make_a_file() {
        for samples in [vec![], vec![0.5], vec![f32::NAN, f32::INFINITY, -9.0], vec![-1.0; 4_097]] {
            for rate in [0, 1, 8_000, u32::MAX] {
                assert!(flac(&samples, rate).starts_with(b"fLaC"));
            }
        }
        assert_eq!((crc8(b"123456789"), crc16(b"123456789")), (0xf4, 0xfee8));
    }
}

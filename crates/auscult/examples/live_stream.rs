//! Scores 16-bit mono sound at 48 kHz from standard input, as a microphone gives it:
//! `arecord -f S16_LE -r 48000 -t raw | cargo run -p auscult --example live_stream -- pump.auscult`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::io::Read;

use auscult::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).ok_or("give the path of a model")?;
    let pump = Machine::open(model)?;
    let mut live = pump.live_at(48_000)?;
    let mut input = std::io::stdin().lock();
    // A tenth of a second; any size will do.
    let mut bytes = vec![0; 9_600];
    loop {
        let read = fill(&mut input, &mut bytes)?;
        let samples: Vec<f32> = bytes[..read]
            .as_chunks::<2>()
            .0
            .iter()
            .map(|bytes| f32::from(i16::from_le_bytes(*bytes)) / 32_768.0)
            .collect();
        for clip in live.push(&samples)? {
            println!("{:.0} s: {}; {}", clip.start_seconds(), clip.verdict(), clip.reason());
        }
        if read < bytes.len() {
            break;
        }
    }
    let (last, seconds_left) = live.finish()?;
    if let Some(clip) = last {
        println!("{:.0} s: {}; {}", clip.start_seconds(), clip.verdict(), clip.reason());
    }
    println!("{seconds_left:.1} s left over");
    Ok(())
}

/// Reads until the buffer is full or the stream ends.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match input.read(&mut bytes[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

//! The chunks that WAV and AIFF headers are made of.

use std::io::{self, BufReader, Read};

use symphonia::core::io::MediaSource;

use crate::input::Input;
use crate::pcm::{Encoding, PcmReader};
use crate::{Error, Result};

/// The most bytes that may precede the sound.
const MAX_HEADER_BYTES: u64 = 64 << 20;

/// What a header says about the samples.
pub(crate) struct Layout {
    pub(crate) encoding: Encoding,
    pub(crate) sample_rate: u32,
    pub(crate) channels: usize,
}

/// A header being read, with a count of the bytes so far.
pub(crate) struct Chunks {
    label: String,
    reader: BufReader<Box<dyn MediaSource>>,
    position: u64,
}

impl Chunks {
    pub(crate) fn new(input: Input) -> Self {
        Self { label: input.label, reader: BufReader::new(input.media), position: 0 }
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn damaged(&self, reason: &str) -> Error {
        Error::BadHeader { input: self.label.clone(), reason: reason.to_owned() }
    }

    pub(crate) fn unsupported(&self, format: String, convert: &'static str) -> Error {
        Error::Unsupported { input: self.label.clone(), format, convert }
    }

    /// Reads `N` four-byte words.
    pub(crate) fn read_words<const N: usize>(&mut self, what: &str) -> Result<[[u8; 4]; N]> {
        let mut words = [[0; 4]; N];
        self.fill(words.as_flattened_mut(), what)?;
        Ok(words)
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<()> {
        self.advance(bytes.len() as u64)?;
        self.reader
            .read_exact(bytes)
            .map_err(|_| self.damaged(&format!("the file ends in the {what}, before any sound")))
    }

    /// Skips what is left of a chunk, and the byte that pads it to an even length.
    pub(crate) fn skip_chunk(&mut self, len: u64) -> Result<()> {
        self.skip_exactly(len + len % 2)
    }

    pub(crate) fn skip_exactly(&mut self, len: u64) -> Result<()> {
        self.advance(len)?;
        match io::copy(&mut self.reader.by_ref().take(len), &mut io::sink()) {
            Ok(skipped) if skipped == len => Ok(()),
            _ => Err(self.damaged("the file ends before any sound")),
        }
    }

    fn advance(&mut self, len: u64) -> Result<()> {
        self.position += len;
        if self.position > MAX_HEADER_BYTES {
            let limit = MAX_HEADER_BYTES >> 20;
            return Err(self.damaged(&format!("no sound in the first {limit} MiB")));
        }
        Ok(())
    }

    /// Hands over to the sound that follows.
    pub(crate) fn into_pcm(self, layout: &Layout, byte_len: Option<u64>) -> PcmReader {
        let Layout { encoding, sample_rate, channels } = *layout;
        PcmReader::new(self.reader, encoding, sample_rate, channels, byte_len)
            .starting_at(self.position)
    }
}

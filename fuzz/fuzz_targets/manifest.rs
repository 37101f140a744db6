//! Lists of sound files, as CSV and as JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::audio::manifest(bytes));

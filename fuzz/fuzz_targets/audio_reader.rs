//! Sound that comes front to back, as from a pipe.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::audio::stream(bytes));

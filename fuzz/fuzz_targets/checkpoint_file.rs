//! Checkpoints of encoders.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::checkpoint::file(bytes));

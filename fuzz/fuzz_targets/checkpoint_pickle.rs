//! Checkpoints of encoders, from the pickle inside.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::checkpoint::pickle(bytes));

//! Sound in a file that can be read in any order.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::audio::file(bytes));

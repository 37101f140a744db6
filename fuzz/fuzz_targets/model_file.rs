//! Model files, as they are and with a right checksum.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::model::file(bytes));

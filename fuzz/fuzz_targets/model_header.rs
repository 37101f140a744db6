//! Headers of model files, with tensors and a checksum that fit them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::model::header(bytes));

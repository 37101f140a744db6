//! Sound in the body of a request to the service.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| auscult_fuzz::upload::body(bytes));

//! The auscult program.
fn main() {}

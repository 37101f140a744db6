//! Synthetic machines and golden numbers, for tests and the demonstration.

#[cfg(feature = "golden")]
pub mod golden;

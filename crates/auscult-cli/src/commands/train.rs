//! `auscult train`: an encoder learns to tell labelled clips apart.

#[cfg(feature = "training")]
mod running;

#[cfg(feature = "training")]
pub(super) use running::run;

#[cfg(not(feature = "training"))]
pub(super) fn run(
    _: &crate::args::TrainArguments,
    _: &crate::context::Context,
) -> anyhow::Result<crate::Outcome> {
    anyhow::bail!(crate::advice::WITHOUT_TRAINING)
}

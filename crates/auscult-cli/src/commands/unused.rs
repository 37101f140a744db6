//! Options that would have no effect are refused, not ignored.

use crate::args::Typed;

/// An option's field, and how it is typed.
type OptionName = (&'static str, &'static str);

/// What is made of sound.
pub(super) const FRONT_END: &[OptionName] =
    &[("front_end", "--front-end"), ("convention", "--convention")];

/// How a clip is compared with references; `--method` is another word for some of it.
pub(super) const COMPARING: &[OptionName] = &[
    ("band_width", "--band-width"),
    ("band_stride", "--band-stride"),
    ("neighbours", "--neighbours"),
    ("density_exponent", "--density-exponent"),
    ("density_rule", "--density-rule"),
    ("metric", "--metric"),
    ("aggregate", "--aggregate"),
    ("fuse", "--fuse"),
    ("combine_members", "--combine-members"),
];

/// How comparing is chosen where another option chooses what scores.
pub(super) const METHOD: &[OptionName] = &[("method", "--method")];

/// Settings of tuning say how references are compared.
pub(super) const SETTINGS: &[OptionName] = &[("settings", "--settings")];

/// How an autoencoder is trained.
pub(super) const NETWORK: &[OptionName] = &[
    ("network", "--network"),
    ("error_score", "--error-score"),
    ("epochs", "--epochs"),
    ("seed", "--seed"),
    ("folds", "--folds"),
];

/// Refuses the first of these options that was typed; `why` goes on after its name.
pub(super) fn refuse(typed: &Typed, options: &[&[OptionName]], why: &str) -> anyhow::Result<()> {
    let mut options = options.iter().copied().flatten();
    match options.find(|(name, _)| typed.has(name)) {
        None => Ok(()),
        Some((_, option)) => anyhow::bail!("{option} {why}"),
    }
}

//! Options that would have no effect are refused, not ignored.

use crate::args::ComparingArguments;

/// An option as it is typed, and whether it was.
pub(crate) type OptionName = (&'static str, bool);

impl ComparingArguments {
    /// How a clip is compared with references, but for the method.
    pub(crate) fn given(&self) -> Vec<OptionName> {
        vec![
            ("--band-width", self.band_width.is_some()),
            ("--band-stride", self.band_stride.is_some()),
            ("--neighbours", self.neighbours.is_some()),
            ("--density-exponent", self.density_exponent.is_some()),
            ("--density-rule", self.density_rule.is_some()),
            ("--metric", self.metric.is_some()),
            ("--aggregate", self.aggregate.is_some()),
            ("--fuse", self.fuse.is_some()),
            ("--combine-members", self.combine_members.is_some()),
        ]
    }
}

/// Refuses the first of these options that was given; `why` goes on after its name.
pub(crate) fn refuse<'a>(
    options: impl IntoIterator<Item = &'a OptionName>,
    why: &str,
) -> anyhow::Result<()> {
    match options.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => anyhow::bail!("{option} {why}"),
    }
}

//! Options that would have no effect are refused, not ignored.

/// An option as it is typed, and whether it was.
pub(crate) type OptionName = (&'static str, bool);

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

//! Which options were typed.

use std::collections::BTreeSet;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, parser::ValueSource};

/// The options the user typed, as against those that have their default value.
///
/// Must be the first field: the fields after it take their values out of the matches.
#[derive(Debug, Default)]
pub(crate) struct Typed(BTreeSet<String>);

impl Typed {
    /// Whether an option was typed; its name is that of the field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Whether any of several options was typed.
    pub(crate) fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let typed = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        Ok(Self(matches.ids().map(clap::Id::as_str).filter(typed).map(str::to_owned).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Typed {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

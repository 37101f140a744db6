//! How a clip is compared with the references.

use std::{str::FromStr, sync::LazyLock};

use auscult::{
    BeamSettings, FrontEnd, Method,
    beam::{BeamOption, BeamOverrides},
};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

/// How a clip is compared with the references: the options of the detector, as the library lists them.
#[derive(Debug, Clone)]
pub(crate) struct ComparingArguments {
    pub(crate) method: Option<MethodName>,
    /// All others.
    pub(crate) others: BeamOverrides,
}

const HEADING: &str = "Comparing (without a preset the defaults are the paper's)";

/// The one option that has a value of the program's own.
const METHOD: &str = "method";

/// Each option with its name on the command line.
static OPTIONS: LazyLock<Vec<(String, BeamOption)>> = LazyLock::new(|| {
    let named = |option: &BeamOption| (format!("--{}", option.name.replace('_', "-")), *option);
    BeamOverrides::OPTIONS.iter().map(named).collect()
});

impl Args for ComparingArguments {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, (flag, option)| {
            let argument = Arg::new(option.name)
                .long(&flag[2..])
                .value_name(option.value)
                .allow_negative_numbers(option.value != "NAME")
                .hide_short_help(true)
                .help_heading(HEADING);
            command.arg(if option.name == METHOD {
                let network =
                    "autoencoder: no comparing, a network learns to reproduce normal sound";
                let about = format!("{} {network}", option.about.trim());
                argument.help(about).value_parser(MethodName::from_str)
            } else {
                let set = option.set;
                // A check only: what was typed is set once all of it is known to be right.
                let parse = move |text: &str| {
                    set(&mut BeamOverrides::default(), text).map(|()| text.to_owned())
                };
                argument.help(option.about.trim().trim_end_matches('.')).value_parser(parse)
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ComparingArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut others = BeamOverrides::default();
        for (_, option) in OPTIONS.iter().filter(|(_, option)| option.name != METHOD) {
            if let Some(text) = matches.get_one::<String>(option.name) {
                (option.set)(&mut others, text).map_err(|error| {
                    clap::Error::raw(clap::error::ErrorKind::ValueValidation, error)
                })?;
            }
        }
        Ok(Self { method: matches.get_one(METHOD).copied(), others })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A way to score, as users type it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodName {
    /// Comparing with references.
    Comparing(Method),
    /// Errors of a network.
    Autoencoder,
}

impl FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "autoencoder" {
            return Ok(Self::Autoencoder);
        }
        let method = text.parse().map_err(|error| format!("{error}, autoencoder"))?;
        Ok(Self::Comparing(method))
    }
}

impl ComparingArguments {
    /// The options that were given.
    fn overrides(&self) -> anyhow::Result<BeamOverrides> {
        let method = match self.method {
            Some(MethodName::Autoencoder) => {
                anyhow::bail!("an autoencoder does not compare; here it is --back-end autoencoder")
            }
            Some(MethodName::Comparing(method)) => Some(method),
            None => None,
        };
        Ok(BeamOverrides { method, ..self.others })
    }

    /// `usual` settings for a front end, with what was given in their place.
    pub(crate) fn detector_from(
        &self,
        usual: &BeamSettings,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        Ok(self.overrides()?.apply(usual, front_end)?)
    }

    /// The settings of a file, with what was given in their place.
    pub(crate) fn detector_over(
        &self,
        file: &BeamSettings,
        is_other_front_end: bool,
        front_end: &dyn FrontEnd,
    ) -> anyhow::Result<BeamSettings> {
        // Another front end has another axis: the file's bands and views say nothing about it.
        let base = if is_other_front_end {
            file.clone().with_method(Method::AdaBeam, front_end)
        } else {
            file.clone()
        };
        Ok(self.overrides()?.apply(&base, front_end)?)
    }

    /// Options that say how to compare, but for the method, and whether they were given.
    pub(crate) fn given(&self) -> Vec<(&'static str, bool)> {
        let others = OPTIONS.iter().filter(|(_, option)| option.name != METHOD);
        others.map(|(flag, option)| (flag.as_str(), (option.is_given)(&self.others))).collect()
    }
}

//! `auscult serve`: the monitor with pages and an interface, and who may use them.

mod people;
mod running;

use anyhow::Context as _;
use auscult_monitor::data::DataFolder;

use crate::{
    Outcome,
    args::{ServeArguments, ServeCommand},
    context::Context,
};

pub(crate) fn run(arguments: &ServeArguments, context: &Context) -> anyhow::Result<Outcome> {
    let data = match &arguments.data {
        // Whole, so that it is known when it stands in a text.
        Some(folder) => DataFolder::new(std::path::absolute(folder)?),
        None => DataFolder::usual()
            .context("there is no home folder; name a data folder with --data")?,
    };
    match &arguments.command {
        None => running::serve(arguments, data, context),
        Some(ServeCommand::User(command)) => people::user(&data, command, context),
        Some(ServeCommand::Token(command)) => people::token(&data, command, context),
    }
}

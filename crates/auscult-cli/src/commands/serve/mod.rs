//! `auscult serve`: the monitor with pages and an interface, and who may use them.

mod people;
mod running;

use crate::{
    Outcome,
    args::{ServeArguments, ServeCommand},
    context::Context,
    options::data_folder,
};

pub(crate) fn run(arguments: &ServeArguments, context: &Context) -> anyhow::Result<Outcome> {
    let data = data_folder(arguments.watched.data.as_deref(), arguments.watched.demo)?;
    match &arguments.command {
        None => running::serve(arguments, data, context),
        Some(ServeCommand::User(command)) => people::user(&data, command, context),
        Some(ServeCommand::Token(command)) => people::token(&data, command, context),
    }
}

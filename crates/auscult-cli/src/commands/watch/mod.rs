//! `auscult watch`: machines watched day and night, and everything people do with that.

mod asking;
mod exporting;
mod looking;
mod replaying;
mod running;
mod week;

use crate::{
    Outcome,
    args::{WatchArguments, WatchCommand},
    context::Context,
    options::data_folder,
};

pub(crate) fn run(arguments: &WatchArguments, context: &Context) -> anyhow::Result<Outcome> {
    if let Some(path) = &arguments.init {
        return running::init(path, context);
    }
    if let Some(path) = &arguments.check {
        return running::check(path, context);
    }
    let data = data_folder(arguments.watched.data.as_deref(), arguments.watched.demo)?;
    match &arguments.command {
        None => running::watch(arguments, data, context),
        Some(WatchCommand::Status { json, once }) => looking::status(&data, *json, *once, context),
        Some(WatchCommand::Events(arguments)) => looking::events(&data, arguments, context),
        Some(WatchCommand::Export(arguments)) => exporting::export(&data, arguments),
        Some(WatchCommand::Replay { machines }) => replaying::replay(&data, machines, context),
        Some(WatchCommand::Backup { target }) => looking::back_up(&data, target, context),
        Some(WatchCommand::Models { machine, json }) => {
            looking::models(&data, machine, *json, context)
        }
        Some(WatchCommand::Waiting { machine, json }) => {
            looking::waiting(&data, machine, *json, context)
        }
        Some(WatchCommand::Report(arguments)) => week::report(&data, arguments, context),
        Some(command) => asking::ask(&data, command, context),
    }
}

//! Users and tokens, on a computer without a screen.

use std::io::{BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use auscult_monitor::{clock::utc, data::DataFolder};
use auscult_server::access::{NewAudit, Store};
use serde_json::json;

use crate::{
    Outcome,
    args::{TokenCommand, UserCommand},
    context::Context,
    tables::serve::{token_table, user_table},
};

/// The users of a data folder. A folder that is not there has none: only who adds the first makes it.
fn open(data: &DataFolder, makes_folder: bool) -> anyhow::Result<Store> {
    let folder = data.root();
    anyhow::ensure!(
        makes_folder || folder.is_dir(),
        "{}: there is no such data folder; name it with --data",
        folder.display()
    );
    Ok(Store::open(folder)?)
}

pub(super) fn user(
    data: &DataFolder,
    command: &UserCommand,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let store = open(data, matches!(command, UserCommand::Add { .. }))?;
    let printer = &context.printer;
    match command {
        UserCommand::Add { name, role } => {
            store.add_user(name, *role, &password()?)?;
            write_down(&store, &format!("user add {name} --role {role}"))?;
            printer.line(format!("{name} is {role} now; everybody has to log in"))?;
        }
        UserCommand::List { json: true } => {
            let users = store.users()?;
            printer.line(serde_json::to_string_pretty(&json!({ "users": users }))?)?;
        }
        UserCommand::List { json: false } => printer.text(&user_table(&store.users()?))?,
        UserCommand::Remove { name } => {
            store.remove_user(name)?;
            write_down(&store, &format!("user remove {name}"))?;
            printer.line(format!("removed {name}"))?;
        }
        UserCommand::Password { name } => {
            store.set_password(name, &password()?)?;
            write_down(&store, &format!("user password {name}"))?;
            printer.line(format!("{name} has another password, and has to log in again"))?;
        }
    }
    Ok(Outcome::Done)
}

pub(super) fn token(
    data: &DataFolder,
    command: &TokenCommand,
    context: &Context,
) -> anyhow::Result<Outcome> {
    let store = open(data, matches!(command, TokenCommand::Add { .. }))?;
    let printer = &context.printer;
    match command {
        TokenCommand::Add { name, scopes, expires } => {
            let made = store.add_token(name, scopes, expires.map(f64::from))?;
            let words: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
            let lasting = expires.map_or(String::new(), |days| format!(" --expires {days}"));
            let scopes = words.join(" --scope ");
            write_down(&store, &format!("token add {name} --scope {scopes}{lasting}"))?;
            printer.note("this is shown once; send it as `Authorization: Bearer ...`");
            printer.line(made.secret)?;
        }
        TokenCommand::List { json: true } => {
            let tokens = store.tokens()?;
            let tokens: Vec<serde_json::Value> = tokens
                .iter()
                .map(|token| {
                    json!({
                        "name": token.name,
                        "scopes": token.scopes,
                        "created": utc(token.created),
                        "expires": token.expires.map(utc),
                        "last_used": token.last_used.map(utc),
                    })
                })
                .collect();
            printer.line(serde_json::to_string_pretty(&json!({ "tokens": tokens }))?)?;
        }
        TokenCommand::List { json: false } => printer.text(&token_table(&store.tokens()?))?,
        TokenCommand::Revoke { name } => {
            store.revoke_token(name)?;
            write_down(&store, &format!("token revoke {name}"))?;
            printer.line(format!("revoked {name}"))?;
        }
    }
    Ok(Outcome::Done)
}

/// Puts a change into the audit log, beside those that were made through the service.
fn write_down(store: &Store, command: &str) -> anyhow::Result<()> {
    store.add_audit(&NewAudit {
        who: "local".to_owned(),
        address: "command line".to_owned(),
        action: format!("auscult serve {command}"),
        detail: String::new(),
        status: 200,
    })?;
    Ok(())
}

/// A password: asked for at a terminal, without showing it, and otherwise the first line of standard input.
fn password() -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        let first =
            rpassword::prompt_password("password: ").context("cannot ask for a password")?;
        let second = rpassword::prompt_password("again: ").context("cannot ask for a password")?;
        anyhow::ensure!(first == second, "the two passwords differ; nothing was changed");
        return Ok(first);
    }
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("cannot read a password")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

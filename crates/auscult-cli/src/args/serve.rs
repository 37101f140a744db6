//! `auscult serve`.

use std::net::SocketAddr;

use auscult_server::access::{Role, Scope};
use clap::{Args, Subcommand};

use super::WatchedArguments;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  auscult serve --demo --data /tmp/plant      a synthetic plant; open http://127.0.0.1:8080
  auscult serve site.toml                     watch what it describes, with pages
  auscult serve user add anna --role admin    from now on everybody logs in
  auscult serve token add edge-7 --scope push for programs that send sound
  auscult serve site.toml --listen 0.0.0.0:8080

Without users, whoever sits at this computer may do everything, and nobody else can connect. All of
`auscult watch status`, `events`, `acknowledge`, ... work beside it, with the same --data.")]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) watched: WatchedArguments,

    /// Where to listen; beyond this computer only with users or tokens.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,

    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Users: who may log in, and what they may do.
    #[command(subcommand)]
    User(UserCommand),
    /// Tokens: how programs show who they are.
    #[command(subcommand)]
    Token(TokenCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add a user; the password is asked for, or read from standard input.
    Add {
        /// Letters, digits, - _ .
        name: String,
        /// viewer, operator or administrator.
        #[arg(long)]
        role: Role,
    },
    /// Show all users.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove a user; their sessions end.
    Remove {
        /// The user.
        name: String,
    },
    /// Change a password; the sessions of the user end.
    Password {
        /// The user.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Add a token; its secret is printed once and not kept.
    Add {
        /// Letters, digits, - _ .
        name: String,
        /// What it may be used for: read, push, score, operate, admin; may be repeated.
        #[arg(long = "scope", required = true, value_name = "SCOPE")]
        scopes: Vec<Scope>,
        /// Days after which it is no longer valid; it is valid for ever if not given.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        expires: Option<u32>,
    },
    /// Show all tokens, without their secrets.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token: from now on it is not valid.
    Revoke {
        /// The token.
        name: String,
    },
}

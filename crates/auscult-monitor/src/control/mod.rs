//! 8. The local socket: commands for a running monitor, one JSON object a line.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod server;

use serde::{Deserialize, Serialize};

#[cfg(unix)]
pub use self::client::call;
#[cfg(unix)]
pub(crate) use self::server::{Handler, serve};
use crate::watch::{Change, Command, Request};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Ask {
    /// A machine is told something.
    Command {
        /// The machine.
        machine: String,
        /// What.
        body: Command,
    },
    /// Something is decided about a machine's memory.
    Request {
        /// The machine.
        machine: String,
        /// What.
        body: Request,
    },
    /// The configuration is read again.
    Reload,
    /// The monitor stops.
    Stop,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Answer {
    /// It was done.
    Done {
        /// What.
        text: String,
    },
    /// What changes, or would.
    Change(Change),
    /// It was not done.
    Refused {
        /// Why.
        reason: String,
    },
}

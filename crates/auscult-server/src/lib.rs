#![doc = include_str!("../README.md")]
#![expect(
    clippy::cast_possible_wrap,
    reason = "counts and sizes are far below the largest integer of SQLite"
)]

// The modules, in the order a request travels.

// 1. Connections, with TLS or without, become requests.
pub mod serve;

// 2. Who may reach us, and how much they may ask for.
mod policy;

mod limits;

mod layers;

// 3. Who they are, and what they may do.
pub mod access;

// 4. What they ask for, one file a resource.
mod routes;

mod extract;

mod pages;

mod error;

// 5. What answers are made of.
mod state;

mod readers;

mod list;

mod severity;

mod words;

mod sound;

mod upload;

mod hub;

mod days;

mod scrub;

mod logs;

pub use self::{
    error::Problem,
    logs::{LogLine, LogRing},
    policy::{Peer, Policy},
    routes::{description, take_sound},
    serve::{Serve, ServeError, serve},
    state::{App, ExportFormat, Exporter, Settings},
};

/// The whole service: every request, from the door to the answer.
///
/// Requests must carry their [`Peer`] as an extension, as [`serve()`] adds it.
pub fn app(state: App) -> axum::Router {
    let router = routes::router();
    layers::around(router, &state).with_state(state)
}

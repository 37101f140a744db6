//! The interface, request by request, without a port. Every answer of every test is checked not to be a failure of
//! ours and not to give away where things are.
//!
//! - `access`: who may do what; logins, tokens, cross-site requests, hosts.
//! - `bad_input`: nonsense of every kind.
//! - `machines`: lists, one machine, adding and removing, budgets.
//! - `sound`: pushed sound becomes clips, a model, scores, pictures.
//! - `stream`: what happens as it happens, and resuming.
//! - `writes`: keys, and the audit log.

#![expect(clippy::unwrap_used, reason = "tests may fail")]

mod access;
mod bad_input;
mod machines;
mod sound;
mod stream;
mod support;
mod writes;

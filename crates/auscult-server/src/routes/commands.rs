//! What people do about a machine: acknowledge, shelve, take out of service.

use auscult_monitor::{
    control::{Answer, Ask},
    watch::{Command, Request},
};
use axum::{Extension, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::Principal,
    error::{Problem, Result},
    extract::{Json, Path},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(acknowledge))
        .routes(routes!(shelve))
        .routes(routes!(unshelve))
        .routes(routes!(out_of_service))
        .routes(routes!(in_service))
        .routes(routes!(accept_drift))
        .routes(routes!(operating_state))
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Done {
    /// In a sentence.
    text: String,
}

/// Nothing but `{}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

/// For how long, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Shelve {
    /// 1 to 525600, which is a year.
    #[schema(minimum = 1, maximum = 525_600)]
    minutes: f64,
    /// Why.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// Why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// Why.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// A text of somebody: not empty where it must not be, and not a novel.
pub(super) fn text(
    field: &'static str,
    text: &str,
    most: usize,
    is_needed: bool,
) -> Result<String> {
    let clean: String =
        text.chars().filter(|letter| !letter.is_control() || *letter == '\n').collect();
    let clean = clean.trim();
    let count = clean.chars().count();
    if count > most || (is_needed && count == 0) {
        let least = usize::from(is_needed);
        return Err(Problem::invalid(
            field,
            format!("{field} has {count} letters: {least} to {most}"),
        ));
    }
    Ok(clean.to_owned())
}

async fn command(app: &App, machine: String, body: Command) -> Result<Json<Done>> {
    match app.ask(Ask::Command { machine, body }).await? {
        Answer::Done { text } => Ok(Json(Done { text })),
        _ => Err(Problem::internal("the monitor gave another answer", &"not a sentence")),
    }
}

/// Says that an alarm has been seen.
#[utoipa::path(post, path = "/machines/{machine}/acknowledge", tag = "machines",
    params(("machine" = String, Path)), request_body = Empty, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "there is nothing to acknowledge", body = Problem, content_type = "application/problem+json"),
))]
async fn acknowledge(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Empty {}): Json<Empty>,
) -> Result<Json<Done>> {
    command(&app, machine, Command::Acknowledge { who: principal.name() }).await
}

/// Tells nobody about a machine for a while; ends by itself.
#[utoipa::path(post, path = "/machines/{machine}/shelve", tag = "machines",
    params(("machine" = String, Path)), request_body = Shelve, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn shelve(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Shelve { minutes, reason }): Json<Shelve>,
) -> Result<Json<Done>> {
    if !(1.0..=525_600.0).contains(&minutes) {
        let text = format!("minutes = {minutes}: 1 to 525600, which is a year");
        return Err(Problem::invalid("minutes", text));
    }
    let reason = text("reason", &reason, 500, true)?;
    let body = Request::Shelve { seconds: 60.0 * minutes, reason, who: principal.name() };
    let change = app.ask_for_change(Ask::Request { machine, body }).await?;
    Ok(Json(Done { text: change.text }))
}

/// Tells about a machine again.
#[utoipa::path(post, path = "/machines/{machine}/unshelve", tag = "machines",
    params(("machine" = String, Path)), request_body = Empty, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn unshelve(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Empty {}): Json<Empty>,
) -> Result<Json<Done>> {
    command(&app, machine, Command::Unshelve { who: principal.name() }).await
}

/// Does not judge a machine until it is back.
#[utoipa::path(post, path = "/machines/{machine}/out-of-service", tag = "machines",
    params(("machine" = String, Path)), request_body = Reason, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn out_of_service(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Reason { reason }): Json<Reason>,
) -> Result<Json<Done>> {
    let reason = text("reason", &reason, 500, true)?;
    command(&app, machine, Command::OutOfService { reason, who: principal.name() }).await
}

/// Judges a machine again.
#[utoipa::path(post, path = "/machines/{machine}/in-service", tag = "machines",
    params(("machine" = String, Path)), request_body = Empty, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn in_service(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Empty {}): Json<Empty>,
) -> Result<Json<Done>> {
    command(&app, machine, Command::InService { who: principal.name() }).await
}

/// Says that the normal has moved and that this is fine.
#[utoipa::path(post, path = "/machines/{machine}/accept-drift", tag = "machines",
    params(("machine" = String, Path)), request_body = Empty, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn accept_drift(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Empty {}): Json<Empty>,
) -> Result<Json<Done>> {
    command(&app, machine, Command::AcceptDrift { who: principal.name() }).await
}

/// What another system knows of a machine.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OperatingState {
    /// `on`, `off`, or one of the states that the configuration has models for.
    #[schema(max_length = 64)]
    state: String,
}

/// Says which state a machine is in, as a topic of the broker does: while it is `off` it is not judged, and a state with
/// a model of its own is judged by that. It holds until something else is said, also over a restart.
#[utoipa::path(put, path = "/machines/{machine}/operating-state", tag = "machines",
    params(("machine" = String, Path)), request_body = OperatingState, responses(
    (status = 200, body = Done),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn operating_state(
    State(app): State<App>,
    Path(machine): Path<String>,
    Json(OperatingState { state }): Json<OperatingState>,
) -> Result<Json<Done>> {
    let spec = app.machine(&machine)?;
    let known: Vec<&str> =
        ["on", "off"].into_iter().chain(spec.states.keys().map(String::as_str)).collect();
    if !known.contains(&state.as_str()) {
        let shown: String = state.chars().take(64).collect();
        let text = format!("state = {shown:?}: one of {}", known.join(", "));
        return Err(Problem::invalid("state", text));
    }
    let text = format!("{machine} is {state}");
    command(&app, machine, Command::Tag { state }).await?;
    Ok(Json(Done { text }))
}

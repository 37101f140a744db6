//! How the service itself is.

use auscult_monitor::{
    clock::utc,
    history::{Deletion, SinkState},
    metrics as numbers,
};
use axum::{
    Extension,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::Principal, error::Result, extract::Json, layers::AsIs, logs::LogLine, state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(system))
}

/// How the service is.
#[derive(Debug, Serialize, ToSchema)]
struct SystemState {
    version: &'static str,
    uptime_seconds: u64,
    /// The time of the plant.
    time: String,
    disk: Disk,
    /// Work that waits for the threads that judge.
    queues: Vec<Queue>,
    sinks: Vec<SinkState>,
    /// What was deleted last.
    deletions: Vec<DeletionView>,
    /// The last lines of the log.
    log: Vec<LogLine>,
    /// Where everything is kept; for administrators only.
    data_folder: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "units stand in names, here and in the answer")]
struct Disk {
    /// Free for us; `null` where this is not known.
    free_bytes: Option<u64>,
    history_bytes: u64,
    sound_bytes: u64,
    sound_budget_bytes: u64,
}

#[derive(Debug, Serialize, ToSchema)]
struct Queue {
    name: String,
    waiting: usize,
}

#[derive(Debug, Serialize, ToSchema)]
struct DeletionView {
    time: String,
    what: String,
    count: i64,
    bytes: i64,
    reason: String,
}

/// Disk, queues, sinks, deletions and the last lines of the log.
#[utoipa::path(get, path = "/system", tag = "system", responses((status = 200, body = SystemState)))]
async fn system(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
) -> Result<Response> {
    let (history_bytes, sound_bytes, sinks, deletions) = app
        .readers
        .read(|history| {
            let sinks = history.sinks()?;
            Ok((history.bytes(), history.sound_bytes()?, sinks, history.deletions(50)?))
        })
        .await?;
    let data = app.monitor().settings().data.root().to_owned();
    let is_administrator = principal.is_administrator();
    let queue = |(number, waiting)| Queue { name: format!("judge-{number}"), waiting };
    let state = SystemState {
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: app.began.elapsed().as_secs(),
        time: utc(app.now()),
        disk: Disk {
            free_bytes: free_bytes(&data),
            history_bytes,
            sound_bytes,
            sound_budget_bytes: app.monitor().site().history.sound.0,
        },
        queues: app.monitor().directory().waiting().into_iter().enumerate().map(queue).collect(),
        sinks,
        deletions: deletions.into_iter().map(deletion).collect(),
        log: app.settings.logs.lines(),
        data_folder: is_administrator.then(|| data.display().to_string()),
    };
    let mut response = Json(state).into_response();
    if is_administrator {
        response.extensions_mut().insert(AsIs);
    }
    Ok(response)
}

fn deletion(deletion: Deletion) -> DeletionView {
    let Deletion { time, what, count, bytes, reason } = deletion;
    DeletionView { time: utc(time), what, count, bytes, reason }
}

/// Room that is left on the disk.
#[cfg(unix)]
fn free_bytes(path: &std::path::Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(path).ok()?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &std::path::Path) -> Option<u64> {
    None
}

/// Whether the process answers at all.
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the history can be read; says which machines have no sound.
pub(super) async fn readyz(State(app): State<App>) -> Response {
    match app.readers.read(|history| Ok(numbers::health(history)?.len())).await {
        Ok(0) => "ready\n".into_response(),
        Ok(silent) => format!("ready\nwithout sound: {silent}\n").into_response(),
        Err(_) => {
            let text = "not ready: the history cannot be read\n";
            let mut response = (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
            response.extensions_mut().insert(AsIs);
            response
        }
    }
}

/// Numbers for Prometheus.
pub(super) async fn metrics(State(app): State<App>) -> Result<Response> {
    let text = app.readers.read(|history| Ok(numbers::metrics(history)?)).await?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

//! What a machine has learnt: clips that wait, versions, a new baseline.

use auscult_monitor::{
    clock::utc,
    control::Ask,
    data::DataFolder,
    history::{History, ModelRow, WaitingClip},
    watch::{Change, Request},
};
use axum::{Extension, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::commands::Empty;
use crate::{
    access::Principal,
    error::{Problem, Result},
    extract::{Json, Path},
    list::Page,
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(all_waiting))
        .routes(routes!(waiting))
        .routes(routes!(accept))
        .routes(routes!(reject))
        .routes(routes!(learn))
        .routes(routes!(baseline))
        .routes(routes!(forget))
        .routes(routes!(versions))
        .routes(routes!(roll_back))
}

/// A clip that asks whether it is normal.
#[derive(Debug, Serialize, ToSchema)]
struct WaitingView {
    machine: String,
    /// The clip.
    step: u64,
    /// When its sound began.
    time: String,
    /// Why it waits.
    reason: String,
    /// Whether its sound is on disk.
    has_sound: bool,
}

/// What waits of one machine.
fn waiting_of(
    history: &History,
    data: &DataFolder,
    id: i64,
    machine: &str,
) -> Result<Vec<WaitingView>> {
    let view = |clip: WaitingClip| {
        Ok(WaitingView {
            machine: machine.to_owned(),
            step: clip.step,
            time: utc(clip.time),
            reason: clip.reason,
            has_sound: data.file(&clip.sound).is_file() && history.clip(id, clip.step)?.is_some(),
        })
    };
    history.waiting_clips(id)?.into_iter().map(view).collect()
}

/// The clips of all machines that wait for a decision, by machine, the oldest first.
#[utoipa::path(get, path = "/waiting", tag = "models", responses((status = 200, body = Page<WaitingView>)))]
async fn all_waiting(State(app): State<App>) -> Result<Json<Page<WaitingView>>> {
    let (site, data) = (app.monitor().site(), app.monitor().settings().data.clone());
    let items = app
        .readers
        .read(move |history| {
            let mut items = Vec::new();
            for (id, machine) in history.machines()? {
                if site.machine(&machine).is_some() {
                    items.extend(waiting_of(history, &data, id, &machine)?);
                }
            }
            Ok(items)
        })
        .await?;
    Ok(Json(Page { items, next: None }))
}

/// The clips of a machine that wait for a decision, the oldest first.
#[utoipa::path(get, path = "/machines/{machine}/waiting", tag = "models",
    params(("machine" = String, Path)), responses(
    (status = 200, body = Page<WaitingView>),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn waiting(
    State(app): State<App>,
    Path(machine): Path<String>,
) -> Result<Json<Page<WaitingView>>> {
    let (data, name) = (app.monitor().settings().data.clone(), machine.clone());
    let read = move |history: &History, id| waiting_of(history, &data, id, &name);
    let items = app.read_machine(&machine, read).await?;
    Ok(Json(Page { items, next: None }))
}

/// Which clips; all that wait without any.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Accept {
    #[serde(default)]
    #[schema(max_items = 1000)]
    steps: Vec<u64>,
    /// Only say what would change.
    #[serde(default)]
    preview: bool,
}

/// Which clips; all that wait without any.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reject {
    #[serde(default)]
    #[schema(max_items = 1000)]
    steps: Vec<u64>,
}

async fn change(app: &App, machine: String, body: Request) -> Result<Json<Change>> {
    Ok(Json(app.ask_for_change(Ask::Request { machine, body }).await?))
}

/// Lets waiting clips join the memory, or says what that would change.
#[utoipa::path(post, path = "/machines/{machine}/waiting/accept", tag = "models",
    params(("machine" = String, Path)), request_body = Accept, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn accept(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Accept { steps, preview }): Json<Accept>,
) -> Result<Json<Change>> {
    change(&app, machine, Request::Accept { steps, preview, who: principal.name() }).await
}

/// Keeps waiting clips out of the memory.
#[utoipa::path(post, path = "/machines/{machine}/waiting/reject", tag = "models",
    params(("machine" = String, Path)), request_body = Reject, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn reject(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Reject { steps }): Json<Reject>,
) -> Result<Json<Change>> {
    change(&app, machine, Request::Reject { steps, who: principal.name() }).await
}

/// How to go on with learning.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LearnOn {
    /// Make the model of what there is; otherwise the next clip begins a new visit.
    #[serde(default)]
    now: bool,
}

/// Begins a new visit of a machine that is being learnt, or makes its model now.
#[utoipa::path(post, path = "/machines/{machine}/learn", tag = "models",
    params(("machine" = String, Path)), request_body = LearnOn, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn learn(
    State(app): State<App>,
    Path(machine): Path<String>,
    Json(LearnOn { now }): Json<LearnOn>,
) -> Result<Json<Change>> {
    change(&app, machine, Request::Learn { now }).await
}

/// Learns a machine anew, after a repair; the old model is kept.
#[utoipa::path(post, path = "/machines/{machine}/baseline", tag = "models",
    params(("machine" = String, Path)), request_body = Empty, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn baseline(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Empty {}): Json<Empty>,
) -> Result<Json<Change>> {
    change(&app, machine, Request::Baseline { who: principal.name() }).await
}

/// Which visits were not normal after all.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ForgetVisits {
    #[schema(min_items = 1, max_items = 1000)]
    visits: Vec<String>,
    /// Only say what would change.
    #[serde(default)]
    preview: bool,
}

/// Takes visits out of the memory, or says what that would change.
#[utoipa::path(post, path = "/machines/{machine}/forget", tag = "models",
    params(("machine" = String, Path)), request_body = ForgetVisits, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn forget(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(ForgetVisits { visits, preview }): Json<ForgetVisits>,
) -> Result<Json<Change>> {
    if visits.is_empty() {
        return Err(Problem::invalid("visits", "visits is empty: name at least one"));
    }
    change(&app, machine, Request::Forget { visits, preview, who: principal.name() }).await
}

/// One version of a machine's model.
#[derive(Debug, Serialize, ToSchema)]
struct ModelView {
    /// Counts from 1.
    version: i64,
    /// The operating state it is for; `null` for all.
    operating_state: Option<String>,
    hash: String,
    /// `configured`, `learned`, `accepted`, `forgotten` or `rollback`.
    origin: String,
    /// Why it was made.
    note: String,
    /// Scores above it are anomalous.
    threshold: Option<f64>,
    references: i64,
    visits: i64,
    /// It judged from here ...
    valid_from: String,
    /// ... to here, or still does.
    valid_to: Option<String>,
}

/// The versions of a machine's model, the oldest first.
#[utoipa::path(get, path = "/machines/{machine}/models", tag = "models",
    params(("machine" = String, Path)), responses(
    (status = 200, body = Page<ModelView>),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn versions(
    State(app): State<App>,
    Path(machine): Path<String>,
) -> Result<Json<Page<ModelView>>> {
    let models = app.read_machine(&machine, |history, id| Ok(history.models(id)?)).await?;
    let view = |row: ModelRow| ModelView {
        version: row.version,
        operating_state: row.operating_state,
        hash: row.hash,
        origin: row.origin,
        note: row.note,
        threshold: row.threshold,
        references: row.references,
        visits: row.visits,
        valid_from: utc(row.valid_from),
        valid_to: row.valid_to.map(utc),
    };
    Ok(Json(Page { items: models.into_iter().map(view).collect(), next: None }))
}

/// Which version; the one before without a number.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Version {
    version: Option<i64>,
}

/// Judges by an earlier version again.
#[utoipa::path(post, path = "/machines/{machine}/models/rollback", tag = "models",
    params(("machine" = String, Path)), request_body = Version, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn roll_back(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(Version { version }): Json<Version>,
) -> Result<Json<Change>> {
    change(&app, machine, Request::Rollback { version, who: principal.name() }).await
}

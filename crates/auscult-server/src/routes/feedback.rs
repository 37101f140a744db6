//! What people say about clips.

use auscult_monitor::{
    control::Ask,
    history::Feedback,
    watch::{Change, Request},
};
use axum::{Extension, extract::State};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{commands::text, events::FeedbackView};
use crate::{
    access::Principal,
    error::{Problem, Result},
    extract::{Json, Path, Query},
    list::{Page, Part},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(give))
}

/// What a clip really was. Who says so and when is known.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewFeedback {
    /// The clip.
    step: u64,
    /// `normal`, `fault`, `not-running` or `sensor-fault`.
    #[schema(max_length = 20)]
    verdict: String,
    /// In your words.
    #[serde(default)]
    #[schema(max_length = 2000)]
    note: String,
}

/// Says what a clip really was; a normal one then waits to be accepted.
#[utoipa::path(post, path = "/machines/{machine}/feedback", tag = "feedback",
    params(("machine" = String, Path)), request_body = NewFeedback, responses(
    (status = 200, body = Change),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "its sound was not kept", body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn give(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Path(machine): Path<String>,
    Json(NewFeedback { step, verdict, note }): Json<NewFeedback>,
) -> Result<Json<Change>> {
    const VERDICTS: [&str; 4] = ["normal", "fault", "not-running", "sensor-fault"];
    if !VERDICTS.contains(&verdict.as_str()) {
        let text = format!("verdict = {verdict:?}: one of {}", VERDICTS.join(", "));
        return Err(Problem::invalid("verdict", text));
    }
    let note = text("note", &note, 2_000, false)?;
    let is_known = i64::try_from(step).is_ok();
    let clip = app
        .read_machine(
            &machine,
            move |history, id| {
                if is_known { Ok(history.clip(id, step)?) } else { Ok(None) }
            },
        )
        .await?;
    if clip.is_none() {
        let text = format!("{machine} has no clip {step} in its history");
        return Err(Problem::not_found(text));
    }
    let body = Request::Feedback { step, verdict, note, who: principal.name() };
    Ok(Json(app.ask_for_change(Ask::Request { machine, body }).await?))
}

/// Whose feedback.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Of this machine only.
    #[param(max_length = 64)]
    machine: Option<String>,
    /// At most so many, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The `next` of the part before.
    #[param(max_length = 400)]
    after: Option<String>,
}

/// What people said, the newest first.
#[utoipa::path(get, path = "/feedback", tag = "feedback", params(Wanted), responses(
    (status = 200, body = Page<FeedbackView>),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn list(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Page<FeedbackView>>> {
    let part = Part { limit: wanted.limit, after: wanted.after };
    // Nothing that was said is taken back, so what is older than an answer has the same number for ever.
    let (limit, older) = (part.limit()?, part.after::<usize>()?);
    let items = app
        .readers
        .read(move |history| {
            let machine = match &wanted.machine {
                Some(name) => {
                    let id = history.machine_id(name)?;
                    Some(id.ok_or_else(|| Problem::no_machine(name))?)
                }
                None => None,
            };
            let all = history.feedback(machine, None, i64::MAX as usize)?;
            let begin = all.len().saturating_sub(older.unwrap_or(all.len()));
            let left = all.len();
            let numbered = all.into_iter().enumerate().skip(begin).take(limit + 1);
            Ok(numbered.map(|(at, said)| (left - at - 1, said)).collect())
        })
        .await?;
    let Page { items, next } = Page::of(items, limit, |(older, _): &(usize, Feedback)| *older);
    let items = items.into_iter().map(|(_, said)| FeedbackView::of(said)).collect();
    Ok(Json(Page { items, next }))
}

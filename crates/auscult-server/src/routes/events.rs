//! Events: what happened to machines.

use auscult_monitor::{
    clock::utc,
    history::{EventPage, Feedback},
    sinks::event_page,
    watch::EventKind,
};
use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{clips::Clip, times::span};
use crate::{
    error::{Problem, Result},
    extract::{Json, Path, Query},
    hub::event_json,
    list::{Page, Part},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(page))
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Of this machine only.
    #[param(max_length = 64)]
    machine: Option<String>,
    /// Of this kind only: `state`, `drift`, `reminder`, `command`, `model`, `source`, `clock` or `rules`.
    #[param(max_length = 20)]
    kind: Option<String>,
    /// From this time on ...
    from: Option<String>,
    /// ... to before this one.
    to: Option<String>,
    /// At most so many, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The `next` of the part before.
    #[param(max_length = 400)]
    after: Option<String>,
}

/// What happened, the newest first.
#[utoipa::path(get, path = "/events", tag = "events", params(Wanted), responses(
    (status = 200, body = Page<Value>),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn list(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Json<Page<Value>>> {
    let (from, to) = span(wanted.from.as_deref(), wanted.to.as_deref())?;
    let part = Part { limit: wanted.limit, after: wanted.after };
    let (limit, before) = (part.limit()?, part.after::<i64>()?);
    let kind = wanted.kind;
    if let Some(kind) = &kind
        && !EventKind::ALL.iter().any(|known| known.name() == kind)
    {
        let known: Vec<&str> = EventKind::ALL.into_iter().map(EventKind::name).collect();
        let text = format!("kind = {kind:?}: one of {}", known.join(", "));
        return Err(Problem::invalid("kind", text));
    }
    let events = app
        .readers
        .read(move |history| {
            let machine = match &wanted.machine {
                Some(name) => {
                    let id = history.machine_id(name)?;
                    Some(id.ok_or_else(|| Problem::no_machine(name))?)
                }
                None => None,
            };
            let page = EventPage { machine, kind, from, to, before, limit: limit + 1 };
            Ok(history.event_page(&page)?)
        })
        .await?;
    let numbered = Page::of(events, limit, |(number, _)| *number);
    let items = numbered.items.iter().map(|(_, event)| event_json(event)).collect();
    Ok(Json(Page { items, next: numbered.next }))
}

/// What somebody said about a clip.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FeedbackView {
    machine: String,
    /// The clip.
    step: u64,
    /// When it was said.
    time: String,
    who: String,
    /// `normal`, `fault`, `not-running` or `sensor-fault`.
    verdict: String,
    note: String,
}

impl FeedbackView {
    pub(super) fn of(feedback: Feedback) -> Self {
        let Feedback { machine, step, time, who, verdict, note } = feedback;
        Self { machine, step, time: utc(time), who, verdict, note }
    }
}

/// An event with what was around it: the fields of an event, and these.
#[derive(Debug, Serialize, ToSchema)]
struct EventDetail {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    event: Value,
    /// The clips around it, the oldest first.
    around: Vec<Clip>,
    /// What people said about them.
    feedback: Vec<FeedbackView>,
    /// Where its report is; `null` if no sound was kept.
    page: Option<String>,
}

/// Clips on each side of an event.
const AROUND: usize = 12;

/// One event, with the clips around it.
#[utoipa::path(get, path = "/events/{event}", tag = "events", params(("event" = String, Path)), responses(
    (status = 200, body = EventDetail),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn show(State(app): State<App>, Path(id): Path<String>) -> Result<Json<EventDetail>> {
    let detail = app
        .readers
        .read(move |history| {
            let event = history.event(&id)?.ok_or_else(|| no_event(&id))?;
            let machine = history.machine_id(&event.machine)?;
            let machine = machine.ok_or_else(|| no_event(&id))?;
            let around = history.clips_around(machine, event.details.step, AROUND)?;
            let steps = around.first().zip(around.last());
            let steps = steps.map(|(first, last)| (first.0.row.step, last.0.row.step));
            let feedback = match steps {
                Some(steps) => history.feedback(Some(machine), Some(steps), 100)?,
                None => Vec::new(),
            };
            let has_page = event.details.sound.is_some() && event.details.model.is_some();
            Ok(EventDetail {
                event: event_json(&event),
                around: around.into_iter().map(Clip::of).collect(),
                feedback: feedback.into_iter().map(FeedbackView::of).collect(),
                page: has_page.then(|| format!("/api/v1/events/{}/page", event.id)),
            })
        })
        .await?;
    Ok(Json(detail))
}

fn no_event(id: &str) -> Problem {
    let id: String = id.chars().take(80).collect();
    Problem::not_found(format!(
        "there is no event {id:?}; GET /api/v1/events lists those there are"
    ))
}

/// What a report may do: nothing but show itself; it is a page of its own, apart from ours.
pub(super) const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; img-src data:; media-src data:; \
     style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The report on an event: one HTML page with pictures and sound.
#[utoipa::path(get, path = "/events/{event}/page", tag = "events", params(("event" = String, Path)), responses(
    (status = 200, content_type = "text/html", description = "the page"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn page(State(app): State<App>, Path(id): Path<String>) -> Result<Response> {
    let data = app.monitor().settings().data.clone();
    let event =
        app.readers.read(move |history| history.event(&id)?.ok_or_else(|| no_event(&id))).await?;
    let html = app.work(move || Ok(event_page(&data, &event)?)).await?;
    let html = html.ok_or_else(|| {
        Problem::not_found("no sound was kept of this event, so there is no report on it")
    })?;
    Ok(report(&app, html))
}

/// A report as an answer: apart from our own pages, and without paths of this computer.
pub(super) fn report(app: &App, html: String) -> Response {
    let html = app.scrubber().scrub(&html).unwrap_or(html);
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let policy = (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
    ([kind, policy], html).into_response()
}

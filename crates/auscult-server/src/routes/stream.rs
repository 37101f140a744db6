//! What happens, as it happens: server-sent events that can be resumed.

use std::{
    collections::{HashSet, VecDeque},
    convert::Infallible,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use auscult_monitor::history::EventPage;
use axum::{
    Extension,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use tokio::{
    sync::{OwnedSemaphorePermit, broadcast, watch},
    time::error::Elapsed,
};
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::Principal,
    error::{Problem, Result},
    extract::Query,
    hub::{Frame, of_event},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Resume {
    /// The id of the last event that was received, as the header `Last-Event-ID` has it.
    #[param(max_length = 200)]
    last_event_id: Option<String>,
}

/// Events that are sent to somebody who was away; whoever was away longer looks at the list.
const MOST_MISSED: usize = 1_000;

/// Something is sent at least this often, so that both sides notice when the other is gone.
const QUIET: Duration = Duration::from_secs(15);

/// Everything that happens from now on, or since the event that was received last: `event: event` with an event as
/// data, `event: status` with where a machine stands, `event: day` with its `name` and its `day` as the list has it.
#[utoipa::path(get, path = "/stream", tag = "events", params(Resume), responses(
    (status = 200, content_type = "text/event-stream", description = "the stream"),
    (status = 429, description = "too many streams", body = Problem, content_type = "application/problem+json"),
))]
async fn events(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    Query(resume): Query<Resume>,
) -> Result<Response> {
    let permit = app.stream_permit()?;
    let of_header = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = of_header.map(str::to_owned).or(resume.last_event_id);
    // First the ear, then the past: nothing falls between them.
    let frames = app.hub.subscribe();
    let mut waiting = VecDeque::from([Bytes::from_static(b"retry: 2000\n\n")]);
    let mut sent = HashSet::new();
    let scrubber = app.scrubber();
    let (missed, newest) = app
        .readers
        .read(move |history| {
            let missed = match &last {
                Some(id) => history.events_after(id, MOST_MISSED)?,
                None => Some(Vec::new()),
            };
            let page = EventPage { limit: 1, ..EventPage::default() };
            Ok((missed, history.event_page(&page)?.pop()))
        })
        .await?;
    match missed {
        Some(missed) => {
            for (_, event) in missed {
                waiting.push_back(of_event(&event, &scrubber));
                sent.insert(Arc::from(event.id.as_str()));
            }
        }
        // Whoever asks for something that never was must begin anew.
        None => waiting.push_back(Bytes::from_static(b"event: reset\ndata: {}\n\n")),
    }
    if let Some((_, event)) = newest {
        // From here on, also for those who have not received anything yet.
        waiting.push_back(format!("id: {}\n\n", event.id).into());
    }
    let leave = Leave::new(app, principal);
    let looking = Looking { leave, frames, waiting, sent, _permit: permit };
    Ok(answer(Body::from_stream(stream::unfold(looking, Looking::next).fuse())))
}

/// A stream as an answer.
pub(super) fn answer(body: Body) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not gather it.
    let direct =
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    ([kind, cache, direct], body).into_response()
}

/// Whether somebody may go on looking: asked every few seconds, and when users, tokens or sessions change.
pub(super) struct Leave {
    people: watch::Receiver<()>,
    app: App,
    principal: Principal,
    asked: Instant,
}

impl Leave {
    pub(super) fn new(app: App, principal: Principal) -> Self {
        Self { people: app.people(), app, principal, asked: Instant::now() }
    }

    /// Waits for news, but not for long; `None` as soon as they may not look any more.
    pub(super) async fn wait<T>(
        &mut self,
        news: impl Future<Output = T>,
    ) -> Option<Result<T, Elapsed>> {
        let mut told = pin!(tokio::time::timeout(QUIET, news));
        loop {
            let told = tokio::select! {
                told = &mut told => Some(told),
                // It lives as long as the service.
                _ = self.people.changed() => None,
            };
            if told.is_none() || self.asked.elapsed() >= QUIET {
                self.asked = Instant::now();
                if !self.app.still_may_look(&self.principal) {
                    return None;
                }
            }
            if told.is_some() {
                return told;
            }
        }
    }
}

/// Somebody who looks on.
struct Looking {
    leave: Leave,
    frames: broadcast::Receiver<Frame>,
    waiting: VecDeque<Bytes>,
    /// Events of the past that may come again.
    sent: HashSet<Arc<str>>,
    _permit: OwnedSemaphorePermit,
}

impl Looking {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if let Some(bytes) = self.waiting.pop_front() {
            return Some((Ok(bytes), self));
        }
        loop {
            match self.leave.wait(self.frames.recv()).await? {
                Ok(Ok(Frame { event: Some(id), .. })) if self.sent.remove(&id) => {}
                Ok(Ok(frame)) => return Some((Ok(frame.bytes), self)),
                // Too slow: the client comes again, and gets what it missed.
                Ok(Err(_)) => return None,
                Err(_) => return Some((Ok(Bytes::from_static(b": still here\n\n")), self)),
            }
        }
    }
}

//! The scores of a machine over time.

use auscult_monitor::{
    clock::utc,
    history::{EventPage, TrendPoint},
    watch::EventKind,
};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::times::span;
use crate::{
    error::{Problem, Result},
    extract::{Json, Path, Query},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(trend))
}

/// Which part of the past.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// From this time on; a day before the end if not given.
    from: Option<String>,
    /// To before this time; now if not given.
    to: Option<String>,
    /// Seconds a point; about 300 points if not given.
    #[param(minimum = 1, maximum = 31_536_000)]
    width: Option<i64>,
}

/// Scores over time.
#[derive(Debug, Serialize, ToSchema)]
struct Trend {
    /// Seconds a point.
    width: i64,
    points: Vec<Point>,
    /// The state of the machine when the span begins; `null` if none is known.
    state: Option<String>,
    /// What happened in that time, the oldest first; at most 500.
    events: Vec<Mark>,
}

/// The scores of a span of time.
#[derive(Debug, Serialize, ToSchema)]
struct Point {
    /// Where the span starts.
    start: String,
    /// Clips in it.
    clips: i64,
    /// Those with a score.
    scored: i64,
    /// Those that were anomalous.
    anomalous: i64,
    lowest: Option<f64>,
    mean: Option<f64>,
    highest: Option<f64>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Mark {
    id: String,
    time: String,
    kind: String,
    to: String,
}

/// Points of one answer.
const MOST_POINTS: f64 = 5_000.0;

/// Points that a picture shows well.
const USUAL_POINTS: f64 = 300.0;

/// Scores over time, thinned out as the history has them.
#[utoipa::path(get, path = "/machines/{machine}/trend", tag = "machines",
    params(("machine" = String, Path), Wanted), responses(
    (status = 200, body = Trend),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn trend(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Trend>> {
    let (from, to) = span(wanted.from.as_deref(), wanted.to.as_deref())?;
    let to = to.unwrap_or_else(|| app.now());
    let from = from.unwrap_or(to - 86_400.0);
    if from >= to {
        return Err(Problem::invalid("from", "from is not before now; give a later `to`"));
    }
    let usual = ((to - from) / USUAL_POINTS / 60.0).ceil().max(1.0) as i64 * 60;
    let width = wanted.width.unwrap_or(usual);
    if !(1..=31_536_000).contains(&width) || (to - from) / width as f64 > MOST_POINTS {
        return Err(Problem::invalid(
            "width",
            format!("width = {width}: 1 to 31536000 seconds, and at most {MOST_POINTS} points"),
        ));
    }
    let (points, state, events) = app
        .read_machine(&name, move |history, machine| {
            let points = history.trend(machine, from, to, width)?;
            let page = EventPage {
                machine: Some(machine),
                from: Some(from),
                to: Some(to),
                limit: 500,
                ..EventPage::default()
            };
            let before = EventPage {
                machine: Some(machine),
                kind: Some(EventKind::State.name().to_owned()),
                to: Some(from),
                limit: 1,
                ..EventPage::default()
            };
            let state = history.event_page(&before)?.pop();
            let state = state.map(|(_, event)| event.to.name().to_owned());
            Ok((points, state, history.event_page(&page)?))
        })
        .await?;
    let mark = |(_, event): (i64, auscult_monitor::watch::Event)| Mark {
        time: utc(event.unix_seconds),
        kind: event.kind.name().to_owned(),
        to: event.to.name().to_owned(),
        id: event.id,
    };
    Ok(Json(Trend {
        width,
        points: points.into_iter().map(point).collect(),
        state,
        events: events.into_iter().rev().map(mark).collect(),
    }))
}

fn point(point: TrendPoint) -> Point {
    Point {
        start: utc(point.start),
        clips: point.clips,
        scored: point.scored,
        anomalous: point.anomalous,
        lowest: point.lowest,
        mean: point.mean,
        highest: point.highest,
    }
}

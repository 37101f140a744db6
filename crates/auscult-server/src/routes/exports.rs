//! Downloads for data tools, and a week on one page.

use std::{collections::VecDeque, fs::File, io::Read as _};

use auscult_monitor::{
    clock::utc,
    history::{ClipQuery, EventPage, History},
    watch::Event,
    week::week_page,
};
use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{events::report, times::span};
use crate::{
    error::{Problem, Result},
    extract::Query,
    hub::event_json,
    state::{App, ExportFormat},
    upload::Passing,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(clips)).routes(routes!(events)).routes(routes!(week))
}

/// What, and in which form.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// `csv` or `parquet` for clips, `csv` or `jsonl` for events.
    #[param(max_length = 10)]
    format: String,
    /// Of this machine only.
    #[param(max_length = 64)]
    machine: Option<String>,
    /// From this time on ...
    from: Option<String>,
    /// ... to before this one.
    to: Option<String>,
}

/// Rows of one file.
const MOST_ROWS: u64 = 2_000_000;

/// The clips of the history, with the columns of `auscult watch export`.
#[utoipa::path(get, path = "/exports/clips", tag = "exports", params(Wanted), responses(
    (status = 200, content_type = "text/csv", description = "the file"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 413, description = "too many rows", body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn clips(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Response> {
    let (form, kind, extension) = match wanted.format.as_str() {
        "csv" => (ExportFormat::Csv, "text/csv; charset=utf-8", "csv"),
        "parquet" => (ExportFormat::Parquet, "application/vnd.apache.parquet", "parquet"),
        other => {
            let text = format!("format = {other:?}: csv or parquet");
            return Err(Problem::invalid("format", text));
        }
    };
    let Some(exporter) = app.settings.exporter.clone() else {
        return Err(Problem::new(
            axum::http::StatusCode::NOT_IMPLEMENTED,
            "this service was started without a way to write clips",
        ));
    };
    let (from, to) = span(wanted.from.as_deref(), wanted.to.as_deref())?;
    let file = Passing::new(&app.monitor().settings().data, extension)?;
    let data = app.monitor().settings().data.clone();
    let scrubber = app.scrubber();
    let file = app
        .work(move || {
            // Apart from the connections that answer everybody else: this may take minutes.
            let history = &History::read(data.root())?;
            let machine = match &wanted.machine {
                Some(name) => {
                    let id = history.machine_id(name)?;
                    Some(id.ok_or_else(|| Problem::no_machine(name))?)
                }
                None => None,
            };
            let query = ClipQuery { machine, from, to };
            let rows = history.count_clips(&query)?;
            if rows > MOST_ROWS {
                return Err(Problem::new(
                    axum::http::StatusCode::PAYLOAD_TOO_LARGE,
                    format!("{rows} clips are more than {MOST_ROWS}; narrow it with machine, from and to"),
                ));
            }
            let clean = |text: &mut String| {
                if let Some(clean) = scrubber.scrub(text) {
                    *text = clean;
                }
            };
            exporter(history, &query, form, file.path(), &clean)
                .map_err(|error| Problem::internal("the clips cannot be written", &error))?;
            Ok(file)
        })
        .await?;
    Ok((download(kind, "clips", extension), of_file(file)?).into_response())
}

fn download(kind: &'static str, name: &str, extension: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let text = format!("attachment; filename=\"{name}.{extension}\"");
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers
}

/// A file as a body, piece by piece; it is deleted when the last one was sent, or the client is gone.
fn of_file(passing: Passing) -> Result<Body> {
    const PIECE: usize = 256 << 10;
    let failed = |error| Problem::internal("the file cannot be read again", &error);
    let file = File::open(passing.path()).map_err(failed)?;
    let next = async |(mut file, passing): (File, Passing)| {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let count = file.read(&mut piece)?;
            piece.truncate(count);
            Ok::<_, std::io::Error>((piece, file))
        });
        match read.await {
            Ok(Ok((piece, _))) if piece.is_empty() => None,
            Ok(Ok((piece, file))) => Some((Ok(Bytes::from(piece)), (file, passing))),
            // Cut off, so that nobody takes it for whole.
            Ok(Err(error)) => Some((Err(error), (File::open(passing.path()).ok()?, passing))),
            Err(_) => None,
        }
    };
    // Whoever packs it asks once more after the end.
    Ok(Body::from_stream(stream::unfold((file, passing), next).fuse()))
}

/// Everything that happened, the newest first.
#[utoipa::path(get, path = "/exports/events", tag = "exports", params(Wanted), responses(
    (status = 200, content_type = "application/jsonl", description = "the file"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn events(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Response> {
    let is_csv = match wanted.format.as_str() {
        "csv" => true,
        "jsonl" => false,
        other => {
            let text = format!("format = {other:?}: csv or jsonl");
            return Err(Problem::invalid("format", text));
        }
    };
    let (from, to) = span(wanted.from.as_deref(), wanted.to.as_deref())?;
    let machine = match wanted.machine {
        Some(name) => {
            let read = move |history: &History| {
                let id = history.machine_id(&name)?;
                id.ok_or_else(|| Problem::no_machine(&name))
            };
            Some(app.readers.read(read).await?)
        }
        None => None,
    };
    let page = EventPage { machine, from, to, limit: 500, ..EventPage::default() };
    let (kind, extension) =
        if is_csv { ("text/csv; charset=utf-8", "csv") } else { ("application/jsonl", "jsonl") };
    let head = if is_csv { format!("{}\n", COLUMNS.join(",")) } else { String::new() };
    let rest = Rest { app, page, is_csv, waiting: VecDeque::from([head]), is_over: false };
    let body = Body::from_stream(stream::unfold(rest, Rest::next).fuse());
    Ok((download(kind, "events", extension), body).into_response())
}

const COLUMNS: [&str; 13] = [
    "id",
    "machine",
    "time",
    "kind",
    "from",
    "to",
    "reason",
    "score",
    "p_value",
    "differs_most",
    "heard",
    "who",
    "sentence",
];

/// What is left of an export.
struct Rest {
    app: App,
    page: EventPage,
    is_csv: bool,
    waiting: VecDeque<String>,
    is_over: bool,
}

impl Rest {
    async fn next(mut self) -> Option<(Result<Bytes, Problem>, Self)> {
        loop {
            if let Some(text) = self.waiting.pop_front().filter(|text| !text.is_empty()) {
                return Some((Ok(text.into()), self));
            }
            if self.is_over {
                return None;
            }
            let page = self.page.clone();
            let events = match self.app.readers.read(move |it| Ok(it.event_page(&page)?)).await {
                Ok(events) => events,
                Err(problem) => {
                    self.is_over = true;
                    return Some((Err(problem), self));
                }
            };
            self.is_over = events.len() < self.page.limit;
            self.page.before = events.last().map(|(number, _)| *number);
            let scrubber = self.app.scrubber();
            let mut text = String::new();
            for (_, event) in &events {
                let line = if self.is_csv { csv(event) } else { event_json(event).to_string() };
                text.push_str(&scrubber.scrub(&line).unwrap_or(line));
                text.push('\n');
            }
            self.waiting.push_back(text);
        }
    }
}

fn csv(event: &Event) -> String {
    let number = |number: Option<f64>| number.map(|it| it.to_string()).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let details = &event.details;
    let cells = [
        event.id.clone(),
        event.machine.clone(),
        utc(event.unix_seconds),
        event.kind.name().to_owned(),
        event.from.name().to_owned(),
        event.to.name().to_owned(),
        event.reason.clone(),
        number(details.score),
        number(details.p_value),
        text(&details.differs_most),
        text(&details.heard),
        text(&details.who),
        event.sentence(),
    ];
    cells.map(|cell| quoted(&cell)).join(",")
}

/// A cell that spreadsheets show and never calculate.
fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '@', '\t', '\r'])
        || (cell.starts_with('-') && cell.parse::<f64>().is_err());
    let safe = if is_formula { format!("'{cell}") } else { cell.to_owned() };
    if safe.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

/// Which machine, and how far back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Week {
    /// The machine.
    #[param(max_length = 64)]
    machine: String,
    /// 1 to 366; 7 if not given.
    #[param(minimum = 1, maximum = 366)]
    days: Option<u32>,
}

/// One HTML page on a machine's last days.
#[utoipa::path(get, path = "/exports/week", tag = "exports", params(Week), responses(
    (status = 200, content_type = "text/html", description = "the page"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "it has no model yet", body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn week(State(app): State<App>, Query(wanted): Query<Week>) -> Result<Response> {
    let days = wanted.days.unwrap_or(7);
    if !(1..=366).contains(&days) {
        return Err(Problem::invalid("days", format!("days = {days}: 1 to 366")));
    }
    app.machine(&wanted.machine)?;
    let settings = app.monitor().settings();
    let (data, front_ends) = (settings.data.clone(), settings.front_ends.clone());
    let html = app.work(move || Ok(week_page(&data, &wanted.machine, days, &front_ends)?)).await?;
    Ok(report(&app, html))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_calculated() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("-1.5"), "-1.5");
        assert_eq!(quoted("-cmd"), "'-cmd");
    }
}

//! Scoring as a service: sound in, the records of its clips out.

use std::{ops::ControlFlow, sync::Arc};

use auscult::{
    Cancel, ClipRecord, Control, Error, Event, Listen, Machine, Sources, record::RECORD_SCHEMA,
};
use axum::{body::Body, extract::State, http::HeaderMap};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{Problem, Result},
    extract::{Json, Path},
    sound::is_longer,
    state::App,
    upload::Upload,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(score))
}

/// The form of `auscult score --json`.
#[derive(Debug, Serialize, ToSchema)]
struct Scores {
    /// The version of this form.
    schema: u32,
    /// A record for each clip, as docs/records.md describes it.
    #[schema(value_type = Vec<Object>)]
    clips: Vec<ClipRecord>,
    /// What the run came to.
    #[schema(value_type = Object)]
    run: Value,
}

/// The longest sound of a request, in seconds.
const MOST_SECONDS: f64 = 3_600.0;

/// What the sound of a request is called in records.
const BODY: &str = "body";

/// Scores sound against the model of a machine, as `auscult score --json` does; nothing is kept.
#[utoipa::path(post, path = "/machines/{machine}/score", tag = "score", params(("machine" = String, Path)),
    request_body(description = "WAV, FLAC, audio/L16;rate=16000 (big-endian) or \
        audio/x-raw;rate=16000;format=s16le;channels=1",
        content((Vec<u8> = "audio/wav"), (Vec<u8> = "audio/flac"), (Vec<u8> = "audio/L16"), (Vec<u8> = "audio/x-raw"))),
    responses(
    (status = 200, body = Scores),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "it has no model yet", body = Problem, content_type = "application/problem+json"),
    (status = 413, body = Problem, content_type = "application/problem+json"),
    (status = 415, body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "it is not sound", body = Problem, content_type = "application/problem+json"),
))]
async fn score(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Scores>> {
    let Some((machine, _)) = app.model_of(&name).await? else {
        return Err(Problem::conflict(format!("{name} is still being learnt and has no model")));
    };
    let upload = Upload::receive(&app, &headers, body).await?;
    // If the client goes away, so does the work.
    let stop = StopOnDrop(Cancel::new());
    let cancel = stop.0.clone();
    let scores = app.work(move || listen(&machine, &upload, &cancel)).await?;
    drop(stop);
    Ok(Json(scores))
}

struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn listen(machine: &Machine, upload: &Upload, cancel: &Cancel) -> Result<Scores> {
    let not_sound = |error: &dyn std::fmt::Display| {
        Problem::invalid(
            "body",
            format!("this is not sound that can be scored: {}", upload.named(error)),
        )
    };
    // Before any of it is scored: a small body can hold days of sound.
    if is_longer(upload.path(), MOST_SECONDS, cancel).map_err(|error| not_sound(&error))? {
        return Err(Problem::new(
            axum::http::StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "the sound is longer than {MOST_SECONDS} s, which is the most; send it in parts"
            ),
        ));
    }
    let control = Control::new(cancel.clone(), Arc::new(|_: Event<'_>| ControlFlow::Continue(())));
    let listen = Listen { control, ..Listen::default() };
    let sources = Sources::of([upload.path()]).map_err(|error| not_sound(&error))?;
    let mut listening = machine.listen_with(sources, &listen).map_err(|error| not_sound(&error))?;
    let (mut clips, mut problem) = (Vec::new(), None);
    for clip in listening.by_ref() {
        match clip {
            Ok(record) => clips.push(of_body(record, upload)),
            Err(Error::Cancelled) => {
                return Err(Problem::unavailable("the work was stopped; try again"));
            }
            Err(error) => problem = Some(not_sound(&error)),
        }
    }
    if let (true, Some(problem)) = (clips.is_empty(), problem) {
        return Err(problem);
    }
    let mut summary = listening.summary();
    for text in &mut summary.unread {
        *text = upload.named(text);
    }
    let program = format!("auscult {}", env!("CARGO_PKG_VERSION"));
    let run = summary.facts(machine.hash(), &program);
    Ok(Scores { schema: RECORD_SCHEMA, clips, run })
}

/// A record that speaks of the body, and not of the file it was kept in for a moment.
fn of_body(mut record: ClipRecord, upload: &Upload) -> ClipRecord {
    BODY.clone_into(&mut record.path);
    record.time = None;
    record.copy_of = record.copy_of.map(|text| upload.named(&text));
    record.reason = upload.named(&record.reason);
    record.error = record.error.map(|text| upload.named(&text));
    record
}

//! Where sound comes from, and sound that programs send.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use auscult_monitor::{
    clock::utc,
    data::DataFolder,
    history::History,
    site::{MachineSpec, SourceSpec},
    watch,
};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::Serialize;
use tokio::sync::OwnedMutexGuard;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::{PushState, Pushed},
    error::{Problem, Result},
    extract::{Json, Path},
    list::Page,
    sound::{Sound, SoundError},
    state::App,
    upload::Upload,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(push))
}

/// The source of a machine.
#[derive(Debug, Serialize, ToSchema)]
struct SourceView {
    machine: String,
    /// What it is.
    kind: String,
    /// Which channel of it, from 1.
    channel: u16,
    /// Whether sound arrives.
    alive: bool,
    /// What is wrong.
    problem: Option<String>,
    /// How far sound was pushed; `null` for other sources, and before the first piece.
    push: Option<PushView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PushView {
    /// The sequence number that is expected next.
    next: i64,
    /// Pieces that were taken.
    pieces: i64,
    /// Pieces that never came.
    missing: i64,
    /// When the last one came.
    time: String,
}

fn view(history: &History, spec: &MachineSpec, push: Option<PushState>) -> Result<SourceView> {
    let status = match history.machine_id(&spec.name)? {
        Some(id) => history.standing(id)?.map(|standing| standing.status.source),
        None => None,
    };
    let is_pushed = spec.source == SourceSpec::Push;
    Ok(SourceView {
        machine: spec.name.clone(),
        kind: spec.source.to_string(),
        channel: spec.channel,
        alive: status.as_ref().is_some_and(|source| source.alive),
        problem: status.and_then(|source| source.problem),
        push: push.filter(|_| is_pushed).map(|state| PushView {
            next: state.next,
            pieces: state.pieces,
            missing: state.missing,
            time: utc(state.time),
        }),
    })
}

/// Every source, by machine.
#[utoipa::path(get, path = "/sources", tag = "sources", responses((status = 200, body = Page<SourceView>)))]
async fn list(State(app): State<App>) -> Result<Json<Page<SourceView>>> {
    let site = app.monitor().site();
    let store = app.store().clone();
    let items = app
        .readers
        .read(move |history| {
            let view = |spec: &MachineSpec| view(history, spec, store.push_state(&spec.name)?);
            site.machines.iter().map(view).collect::<Result<Vec<_>>>()
        })
        .await?;
    Ok(Json(Page { items, next: None }))
}

/// The source of one machine.
#[utoipa::path(get, path = "/sources/{machine}", tag = "sources", params(("machine" = String, Path)), responses(
    (status = 200, body = SourceView),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn show(State(app): State<App>, Path(name): Path<String>) -> Result<Json<SourceView>> {
    let spec = app.machine(&name)?;
    let push = app.store().push_state(&name)?;
    Ok(Json(app.readers.read(move |history| view(history, &spec, push)).await?))
}

/// What became of a piece of sound.
#[derive(Debug, Serialize, ToSchema)]
struct Taken {
    /// Its number.
    sequence: i64,
    /// The number that is expected next.
    next: i64,
    /// Whether it had been taken before; then nothing was done.
    repeated: bool,
    /// The first and last number that never came before it.
    gap: Option<(i64, i64)>,
}

/// The largest number that every program can write exactly.
const LARGEST_SEQUENCE: i64 = 1 << 53;

/// Takes the next piece of a machine's sound. The answer comes when the clips that it completes are judged and on disk. Send a piece
/// again if there was no answer: repeats are recognised by their number. Pieces of one recording are joined; after a gap a new clip begins.
#[utoipa::path(post, path = "/sources/{machine}/audio", tag = "sources",
    params(("machine" = String, Path),
        ("X-Auscult-Sequence" = i64, Header, description = "counts up by one with each piece", minimum = 0)),
    request_body(description = "WAV, FLAC, audio/L16;rate=16000 (big-endian) or \
        audio/x-raw;rate=16000;format=s16le;channels=1; at most 600 s",
        content((Vec<u8> = "audio/wav"), (Vec<u8> = "audio/flac"), (Vec<u8> = "audio/L16"), (Vec<u8> = "audio/x-raw"))),
    responses(
    (status = 202, body = Taken),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "its sound comes from somewhere else, or the number is more than 100 behind", body = Problem, content_type = "application/problem+json"),
    (status = 413, body = Problem, content_type = "application/problem+json"),
    (status = 415, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn push(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Taken>)> {
    let spec = app.machine(&name)?;
    if spec.source != SourceSpec::Push {
        return Err(Problem::conflict(format!(
            "the sound of {name} comes from {}; only a machine whose source is push takes sound here",
            spec.source
        )));
    }
    let sequence = sequence_of(&headers)?;
    let upload = Upload::receive(&app, &headers, body).await?;
    let channel = usize::from(spec.channel) - 1;
    let sound = app.work(move || decode(&upload, channel)).await?;
    let turn = turn_of(&app, &name).await;
    // A client that leaves now must not keep what is judged from being written down.
    let taking = async move {
        let taken = take(&app, name, sequence, sound).await;
        drop(turn);
        taken
    };
    let taken = tokio::spawn(taking).await;
    let taken = taken.map_err(|error| Problem::internal("the service has failed", &error))??;
    Ok((StatusCode::ACCEPTED, Json(taken)))
}

/// How far behind the expected one the number of a piece that is sent again may be. What is further behind comes from a sender
/// that has begun to count anew, and must not be taken for a repeat without a word.
const MOST_BEHIND: i64 = 100;

/// Waits until the pieces before it are taken; whoever leaves meanwhile has sent nothing.
async fn turn_of(app: &App, name: &str) -> OwnedMutexGuard<()> {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let place = hasher.finish() as usize % app.pushing.len();
    Arc::clone(&app.pushing[place]).lock_owned().await
}

/// Hands a piece to the monitor, and notes it when its clips are on disk.
async fn take(app: &App, name: String, sequence: i64, sound: Sound) -> Result<Taken> {
    let gap = match app.store().look_at_push(&name, sequence)? {
        Pushed::Repeated { next } if next - sequence > MOST_BEHIND => {
            return Err(Problem::conflict(format!(
                "piece {sequence} of {name} was taken long ago: {next} is expected; a sender that begins anew goes on with \
                 push.next of /api/v1/sources/{name}"
            )));
        }
        Pushed::Repeated { next } => {
            tracing::info!(machine = name, sequence, next, "a piece of sound was sent again");
            return Ok(Taken { sequence, next, repeated: true, gap: None });
        }
        Pushed::New { gap, .. } => gap,
    };
    if let Some((from, to)) = gap {
        tracing::warn!(machine = name, from, to, "pieces of sound never came");
    }
    let sound = watch::Sound {
        samples: sound.samples,
        sample_rate: sound.rate,
        arrived: app.now(),
        stands_alone: gap.is_some(),
    };
    app.monitor().directory().push(&name, sound).await?;
    app.with_store(move |store| store.note_push(&name, sequence, gap)).await?;
    Ok(Taken { sequence, next: sequence + 1, repeated: false, gap })
}

/// Takes sound as that of a request is taken; gives how many samples of its first channel were read. For fuzzing: nothing
/// else is done with them.
///
/// # Errors
///
/// The problem that the request would be answered with.
#[doc(hidden)]
pub fn take_sound(folder: &std::path::Path, kind: &str, body: &[u8]) -> Result<usize> {
    let upload = Upload::of_bytes(&DataFolder::new(folder.to_owned()), kind, body)?;
    Ok(decode(&upload, 0)?.samples.len())
}

fn sequence_of(headers: &HeaderMap) -> Result<i64> {
    let shown = headers.get("x-auscult-sequence").and_then(|it| it.to_str().ok());
    let number = shown.and_then(|it| it.trim().parse::<i64>().ok());
    number.filter(|number| (0..LARGEST_SEQUENCE).contains(number)).ok_or_else(|| {
        Problem::invalid(
            "X-Auscult-Sequence",
            "X-Auscult-Sequence is missing or not a number from 0 on; it counts up by one with each piece",
        )
    })
}

fn decode(upload: &Upload, channel: usize) -> Result<Sound> {
    match Sound::read(upload.path(), channel) {
        Ok(sound) if sound.samples.is_empty() => {
            Err(Problem::invalid("body", "there is no sound in the body"))
        }
        Ok(sound) => Ok(sound),
        Err(SoundError::TooLong(most)) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the piece is longer than {most:.0} s, which is the most; send it in parts"),
        )),
        Err(SoundError::Audio(error)) => Err(Problem::invalid(
            "body",
            format!("this is not sound that can be read: {}", upload.named(&error)),
        )),
    }
}

//! Clips: what was judged, what it sounds like, and what it looks like beside its closest normal clip.

use auscult::{audio::ChannelRule, record::clip_name};
use auscult_monitor::{
    clock::utc,
    history::{ClipPage, ClipRow, ModelRow, StoredClip},
    watch::Band,
};
use auscult_report::{Spectrogram, ThirdOctaves};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::times::span;
use crate::{
    error::{Problem, Result},
    extract::{Json, Path, Query},
    list::{Page, Part},
    sound::{Sound, SoundError},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(sound))
        .routes(routes!(spectrogram))
}

/// A clip: the columns of an export, and what the history adds.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Clip {
    /// Its number in the machine's history.
    step: u64,
    machine: String,
    /// The recording, or `live`.
    path: String,
    start_seconds: f64,
    seconds: f64,
    time: String,
    time_origin: String,
    score: Option<f64>,
    p_value: Option<f64>,
    calibrated: Option<f64>,
    verdict: String,
    reason: String,
    heard: Option<String>,
    differs_most: Option<String>,
    promised: bool,
    /// The state of the machine after it.
    alarm: String,
    domain: Option<String>,
    level_dbfs: Option<f64>,
    remarks: Vec<String>,
    copy_of: Option<String>,
    error: Option<String>,
    model_hash: Option<String>,
    bands: Vec<Band>,
    /// The closest normal clip.
    nearest: Option<String>,
    /// Whether its sound is on disk.
    has_sound: bool,
}

impl Clip {
    pub(super) fn of((clip, has_sound): (StoredClip, bool)) -> Self {
        let StoredClip { machine, model_hash, row } = clip;
        Self {
            step: row.step,
            machine,
            path: row.path,
            start_seconds: row.start_seconds,
            seconds: row.seconds,
            time: utc(row.time),
            time_origin: row.time_origin,
            score: row.score,
            p_value: row.p_value,
            calibrated: row.calibrated,
            verdict: row.verdict,
            reason: row.reason,
            heard: row.heard,
            differs_most: row.differs_most,
            promised: row.promised,
            alarm: row.alarm,
            domain: row.domain,
            level_dbfs: row.level_dbfs,
            remarks: row.remarks,
            copy_of: row.copy_of,
            error: row.error,
            model_hash,
            bands: row.bands,
            nearest: row.nearest,
            has_sound,
        }
    }
}

/// Which clips.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// From this time on ...
    from: Option<String>,
    /// ... to before this one.
    to: Option<String>,
    /// With this verdict only: `normal`, `anomalous`, `undecided`, `silent`, ...
    #[param(max_length = 40)]
    verdict: Option<String>,
    /// At most so many, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The `next` of the part before.
    #[param(max_length = 400)]
    after: Option<String>,
}

/// The clips of a machine, the newest first.
#[utoipa::path(get, path = "/machines/{machine}/clips", tag = "clips",
    params(("machine" = String, Path), Wanted), responses(
    (status = 200, body = Page<Clip>),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn list(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Page<Clip>>> {
    let (from, to) = span(wanted.from.as_deref(), wanted.to.as_deref())?;
    let part = Part { limit: wanted.limit, after: wanted.after };
    let (limit, before) = (part.limit()?, part.after::<u64>()?);
    let verdict = wanted.verdict;
    let clips = app
        .read_machine(&name, move |history, machine| {
            let page = ClipPage { machine, from, to, verdict, before, limit: limit + 1 };
            Ok(history.clip_page(&page)?)
        })
        .await?;
    let clips = clips.into_iter().map(Clip::of).collect();
    Ok(Json(Page::of(clips, limit, |clip: &Clip| clip.step)))
}

/// One clip.
#[utoipa::path(get, path = "/machines/{machine}/clips/{step}", tag = "clips",
    params(("machine" = String, Path), ("step" = u64, Path)), responses(
    (status = 200, body = Clip),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn show(
    State(app): State<App>,
    Path((name, step)): Path<(String, u64)>,
) -> Result<Json<Clip>> {
    let clip = app
        .read_machine(&name, move |history, machine| {
            let before = step.checked_add(1);
            let page = ClipPage { machine, before, limit: 1, ..ClipPage::default() };
            Ok(history.clip_page(&page)?.pop().filter(|(clip, _)| clip.row.step == step))
        })
        .await?;
    clip.map(|clip| Json(Clip::of(clip))).ok_or_else(|| no_clip(&name, step))
}

fn no_clip(name: &str, step: u64) -> Problem {
    Problem::not_found(format!(
        "{name} has no clip {step} in its history; GET /api/v1/machines/{name}/clips lists those there are"
    ))
}

/// Which sound.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct WhichSound {
    /// `clip` (the clip itself, if not given), `nearest` (its closest normal clip) or `all` (everything that was kept
    /// around it).
    #[param(max_length = 10)]
    part: Option<String>,
}

/// The sound of a clip as WAV; ranges are supported.
#[utoipa::path(get, path = "/machines/{machine}/clips/{step}/sound", tag = "clips",
    params(("machine" = String, Path), ("step" = u64, Path), WhichSound), responses(
    (status = 200, content_type = "audio/wav", description = "the sound"),
    (status = 206, content_type = "audio/wav", description = "a part of it"),
    (status = 404, description = "it was not kept", body = Problem, content_type = "application/problem+json"),
    (status = 416, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn sound(
    State(app): State<App>,
    Path((name, step)): Path<(String, u64)>,
    Query(which): Query<WhichSound>,
    headers: HeaderMap,
) -> Result<Response> {
    let part = which.part.unwrap_or_else(|| "clip".to_owned());
    if !["clip", "nearest", "all"].contains(&part.as_str()) {
        let text = format!("part = {part:?}: clip, nearest or all");
        return Err(Problem::invalid("part", text));
    }
    let kept = find(&app, &name, step).await?;
    let is_nearest = part == "nearest";
    let sound = app
        .work(move || match part.as_str() {
            "nearest" => Ok(kept.nearest()),
            "all" => kept.whole(),
            _ => kept.clip(),
        })
        .await?;
    let sound = sound.ok_or_else(|| {
        Problem::not_found(if is_nearest {
            format!("the closest normal clip of clip {step} is not known, or was not kept")
        } else {
            format!(
                "the sound of clip {step} was not kept; keep = \"all\" keeps every clip, \"alarms\" those around alarms"
            )
        })
    })?;
    Ok(ranged(sound.wav(), &headers))
}

/// A clip with where its sound is.
struct Kept {
    row: ClipRow,
    /// The file, and where in it the clip begins.
    file: Option<(std::path::PathBuf, f64)>,
    channel: usize,
    model: Option<(std::path::PathBuf, ModelRow)>,
    data: auscult_monitor::data::DataFolder,
}

async fn find(app: &App, name: &str, step: u64) -> Result<Kept> {
    let data = app.monitor().settings().data.clone();
    let owner = name.to_owned();
    app.read_machine(name, move |history, machine| {
        let row = history.clip(machine, step)?.ok_or_else(|| no_clip(&owner, step))?;
        let sound = history.sound_of(machine, &row)?;
        let models = history.models(machine)?;
        let model = models.into_iter().find(|model| Some(model.id) == row.model);
        let file = sound.map(|it| (data.file(&it.file), (row.time - it.time).max(0.0)));
        let model = model.map(|model| (data.file(&model.file), model));
        Ok(Kept { row, file, channel: 0, model, data })
    })
    .await
}

impl Kept {
    fn whole(&self) -> Result<Option<Sound>> {
        let Some((path, _)) = &self.file else { return Ok(None) };
        match Sound::read(path, self.channel) {
            Ok(sound) => Ok(Some(sound)),
            // Deleted a moment ago.
            Err(SoundError::Audio(auscult::audio::Error::NotFound { .. })) => Ok(None),
            Err(error) => Err(Problem::internal("the sound cannot be read", &format!("{error:?}"))),
        }
    }

    fn clip(&self) -> Result<Option<Sound>> {
        let start = self.file.as_ref().map_or(0.0, |(_, start)| *start);
        Ok(self.whole()?.map(|sound| sound.part(start, self.row.seconds)))
    }

    /// The sound of the closest normal clip, if it is still where the model says it was.
    fn nearest(&self) -> Option<Sound> {
        let name = self.row.nearest.as_ref()?;
        let (path, _) = self.model.as_ref()?;
        let model = auscult::files::load(path).ok()?;
        let references = model.references().provenance();
        let reference =
            references.iter().find(|it| clip_name(&it.source, it.start_seconds) == *name)?;
        // What was learnt here is in the data folder, wherever that is now.
        let named = std::path::PathBuf::from(&reference.source);
        let path = if named.is_file() {
            named
        } else {
            let from = reference.source.find("/learning/")?;
            self.data.file(&reference.source[from + 1..])
        };
        let read = |channel: ChannelRule| {
            Sound::read_part(&path, channel, reference.start_seconds, self.row.seconds).ok()
        };
        // What was learnt here is kept as the one channel that was listened to.
        let learnt = model.settings().channel.parse().ok();
        let sound = learnt.and_then(read).or_else(|| read(ChannelRule::default()))?;
        (!sound.samples.is_empty()).then_some(sound)
    }
}

/// A body, or the part of it that a player asks for.
fn ranged(bytes: Vec<u8>, headers: &HeaderMap) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("audio/wav"));
    let ranges = (header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let total = bytes.len();
    let asked = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let Some(range) = asked.and_then(|asked| asked.strip_prefix("bytes=")) else {
        return ([kind, ranges], bytes).into_response();
    };
    let Some((from, to)) = range_of(range, total) else {
        let detail = format!("the range {range:?} is not within the {total} bytes there are");
        return Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, detail).into_response();
    };
    let part = bytes[from..=to].to_vec();
    let mut response = (StatusCode::PARTIAL_CONTENT, [kind, ranges], part).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes {from}-{to}/{total}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

/// The first and last byte of a range.
fn range_of(text: &str, total: usize) -> Option<(usize, usize)> {
    let (from, to) = text.split_once('-')?;
    let last = total.checked_sub(1)?;
    let (from, to) = match (from.trim(), to.trim()) {
        ("", to) => (total.saturating_sub(to.parse::<usize>().ok().filter(|it| *it > 0)?), last),
        (from, "") => (from.parse().ok()?, last),
        (from, to) => (from.parse().ok()?, to.parse::<usize>().ok()?.min(last)),
    };
    (from <= to && from < total).then_some((from, to))
}

/// A clip as a picture.
#[derive(Debug, Serialize, ToSchema)]
struct Picture {
    /// Length of the sound.
    seconds: f64,
    /// Edges of the bins, one more than there are bins.
    hertz: Vec<f64>,
    frames: usize,
    bins: usize,
    /// Base64 of one byte a cell, frame by frame, the lowest frequency first: 0 is `low_db`, 255 is `high_db`.
    data: String,
    low_db: f32,
    high_db: f32,
}

/// A clip beside its closest normal clip.
#[derive(Debug, Serialize, ToSchema)]
struct Pictures {
    #[serde(flatten)]
    clip: Picture,
    /// The closest normal clip, on the same scale.
    nearest: Option<Picture>,
    /// How much louder the clip is, in third octaves.
    difference: Option<Difference>,
    /// Where the spectrum differs most.
    bands: Vec<Band>,
    reason: String,
    heard: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct Difference {
    /// Edges of the bands, one more than there are bands.
    hertz: Vec<f64>,
    decibels: Vec<f64>,
}

/// Colours span this many decibels below the loudest cell, as in reports.
const SPAN_DECIBELS: f32 = 70.0;

/// The spectrogram of a clip and of its closest normal clip, and where they differ.
#[utoipa::path(get, path = "/machines/{machine}/clips/{step}/spectrogram", tag = "clips",
    params(("machine" = String, Path), ("step" = u64, Path)), responses(
    (status = 200, body = Pictures),
    (status = 404, description = "its sound was not kept", body = Problem, content_type = "application/problem+json"),
))]
async fn spectrogram(
    State(app): State<App>,
    Path((name, step)): Path<(String, u64)>,
) -> Result<Json<Pictures>> {
    let kept = find(&app, &name, step).await?;
    let pictures = app
        .work(move || {
            let Some(sound) = kept.clip()? else {
                return Err(Problem::not_found(format!(
                    "the sound of clip {step} was not kept, so there is no picture of it"
                )));
            };
            let nearest = kept.nearest();
            let of = |sound: &Sound| Spectrogram::of(&sound.samples, sound.rate);
            let (own, other) = (of(&sound), nearest.as_ref().map(of));
            let loudest = other.iter().map(Spectrogram::loudest).fold(own.loudest(), f32::max);
            let difference = nearest
                .as_ref()
                .filter(|nearest| nearest.rate == sound.rate)
                .map(|nearest| difference(&sound, nearest));
            let other = nearest.zip(other);
            Ok(Pictures {
                clip: picture(&sound, &own, loudest),
                nearest: other.map(|(sound, picture_of)| picture(&sound, &picture_of, loudest)),
                difference,
                bands: kept.row.bands,
                reason: kept.row.reason,
                heard: kept.row.heard,
            })
        })
        .await?;
    Ok(Json(pictures))
}

fn picture(sound: &Sound, spectrogram: &Spectrogram, loudest: f32) -> Picture {
    let Spectrogram { columns, rows, decibels } = spectrogram;
    let (frames, bins) = (*columns, *rows);
    let cell = |frame: usize, bin: usize| {
        let share = 1.0 + (decibels[bin * frames + frame] - loudest) / SPAN_DECIBELS;
        (share.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    let cells: Vec<u8> = (0..frames)
        .flat_map(|frame| (0..bins).map(move |bin| (frame, bin)))
        .map(|(frame, bin)| cell(frame, bin))
        .collect();
    let width = f64::from(sound.rate) / 2.0 / bins.max(1) as f64;
    Picture {
        seconds: sound.seconds(),
        hertz: (0..=bins).map(|edge| edge as f64 * width).collect(),
        frames,
        bins,
        data: STANDARD.encode(cells),
        low_db: loudest - SPAN_DECIBELS,
        high_db: loudest,
    }
}

fn difference(sound: &Sound, nearest: &Sound) -> Difference {
    let of = |sound: &Sound| ThirdOctaves::of(&sound.samples, sound.rate);
    let (own, other) = (of(sound), of(nearest));
    let mut difference = Difference { hertz: Vec::new(), decibels: Vec::new() };
    for ((hertz, level), (_, normal)) in own.bands().zip(other.bands()) {
        if difference.hertz.is_empty() {
            difference.hertz.push(hertz.start);
        }
        difference.hertz.push(hertz.end);
        difference.decibels.push(level - normal);
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_what_players_ask_for() {
        assert_eq!(range_of("0-", 10), Some((0, 9)));
        assert_eq!(range_of("2-4", 10), Some((2, 4)));
        assert_eq!(range_of("2-99", 10), Some((2, 9)));
        assert_eq!(range_of("-3", 10), Some((7, 9)));
        assert_eq!(range_of("-99", 10), Some((0, 9)));
        for nonsense in ["10-", "5-4", "-", "-0", "a-b", "1-2,4-5", "", "99999999999999999999-"] {
            assert_eq!(range_of(nonsense, 10), None, "{nonsense}");
        }
        assert_eq!(range_of("0-", 0), None);
    }
}

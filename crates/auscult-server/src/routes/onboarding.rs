//! Machines that are added while running, and taken away again.

use std::ops::RangeInclusive;

use auscult::alarm::AlarmBudget;
use auscult_monitor::{
    control::Ask,
    site::{Added, is_safe_name},
};
use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use toml::{Table, Value};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::machines::{MachineDetail, detail};
use crate::{
    error::{Problem, Result},
    extract::{Json, Path},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(add)).routes(routes!(remove))
}

/// A machine to watch from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewMachine {
    /// 1 to 64 letters, digits, - _ . and not a dot first.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// Where its sound comes from.
    source: NewSource,
    /// Which channel of it, from 1.
    #[schema(minimum = 1, maximum = 64)]
    channel: Option<u16>,
    /// How many false alarms are acceptable, such as `1 alarm per month`.
    #[schema(max_length = 60)]
    alarms: Option<String>,
    /// What separates visits: `gap`, `day` or `button`.
    #[schema(max_length = 10)]
    visit: Option<String>,
    /// Visits to learn from.
    #[schema(minimum = 1, maximum = 1000)]
    visits: Option<u32>,
    /// Clips to learn from.
    #[schema(minimum = 2, maximum = 100_000)]
    clips: Option<u32>,
    /// Which sound is kept: `none`, `alarms` or `all`.
    #[schema(max_length = 10)]
    keep: Option<String>,
    /// `best`, `fast` or `paper`.
    #[schema(max_length = 10)]
    preset: Option<String>,
    /// Length of a clip in seconds, 1 to 600.
    #[schema(minimum = 1, maximum = 600)]
    clip_seconds: Option<f64>,
}

/// Where sound comes from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum NewSource {
    /// Programs send it: POST /api/v1/sources/{machine}/audio.
    Push {},
    /// Recordings are put into a folder of this computer.
    Folder {
        /// A whole path, beginning with /.
        path: String,
    },
    /// Raw samples from whoever connects.
    Tcp {
        /// Where to listen, such as `127.0.0.1:7007`.
        address: String,
        /// Samples a second.
        sample_rate: u32,
        /// `s16le`, `s24le`, `s32le` or `f32le`.
        format: Option<String>,
        /// Interleaved channels.
        channels: Option<u16>,
    },
    /// A microphone of this computer.
    Microphone {
        /// Its name; the default one if empty.
        #[serde(default)]
        device: String,
        sample_rate: Option<u32>,
    },
    /// The sound of a camera on the network.
    Rtsp {
        /// Its address.
        url: String,
    },
}

impl NewMachine {
    /// As it is written in a configuration.
    fn table(self) -> Result<Table> {
        if !is_safe_name(&self.name) {
            let name: String = self.name.chars().take(80).collect();
            let text =
                format!("name = {name:?}: 1 to 64 letters, digits, - _ . and not a dot first");
            return Err(Problem::invalid("name", text));
        }
        let within =
            |field: &'static str, value: Option<u32>, range: RangeInclusive<u32>| match value {
                Some(value) if !range.contains(&value) => {
                    let (least, most) = range.into_inner();
                    Err(Problem::invalid(field, format!("{field} = {value}: {least} to {most}")))
                }
                _ => Ok(()),
            };
        within("channel", self.channel.map(u32::from), 1..=64)?;
        within("visits", self.visits, 1..=1_000)?;
        within("clips", self.clips, 2..=100_000)?;
        let mut table = Table::from_iter([("name".to_owned(), Value::from(self.name))]);
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                table.insert(key.to_owned(), value);
            }
        };
        let number = |number: u32| Value::from(i64::from(number));
        match self.source {
            NewSource::Push {} => {}
            NewSource::Folder { path } => {
                if !std::path::Path::new(&path).is_absolute() {
                    let text = "source.path must be a whole path, such as /srv/recordings/pump-7";
                    return Err(Problem::invalid("source.path", text));
                }
                put("folder", Some(path.into()));
            }
            NewSource::Tcp { address, sample_rate, format, channels } => {
                put("tcp", Some(address.into()));
                put("sample_rate", Some(number(sample_rate)));
                put("format", format.map(Value::from));
                put("channels", channels.map(|it| number(it.into())));
            }
            NewSource::Microphone { device, sample_rate } => {
                put("microphone", Some(device.into()));
                put("sample_rate", sample_rate.map(number));
            }
            NewSource::Rtsp { url } => put("rtsp", Some(url.into())),
        }
        put("channel", self.channel.map(|it| number(it.into())));
        if let Some(alarms) = &self.alarms {
            let parsed = alarms.parse::<AlarmBudget>();
            parsed.map_err(|error| Problem::invalid("alarms", error.to_string()))?;
        }
        put("alarms", self.alarms.map(Value::from));
        put("keep", self.keep.map(Value::from));
        put("preset", self.preset.map(Value::from));
        put("clip", self.clip_seconds.map(Value::from));
        let mut learn = Table::new();
        learn.extend(self.visit.map(|visit| ("visit".to_owned(), Value::from(visit))));
        learn.extend(self.visits.map(|visits| ("visits".to_owned(), number(visits))));
        learn.extend(self.clips.map(|clips| ("clips".to_owned(), number(clips))));
        put("learn", (!learn.is_empty()).then_some(Value::Table(learn)));
        Ok(table)
    }
}

/// Adds a machine; it is kept in `machines.toml` of the data folder and learnt from its first sound on.
#[utoipa::path(post, path = "/machines", tag = "machines", request_body = NewMachine, responses(
    (status = 201, body = MachineDetail),
    (status = 409, description = "the name is taken", body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn add(State(app): State<App>, Json(machine): Json<NewMachine>) -> Result<Response> {
    let name = machine.name.clone();
    let table = machine.table()?;
    if app.machine(&name).is_ok() {
        let text = format!("there is a machine {name:?} already; choose another name");
        return Err(Problem::conflict(text));
    }
    change_added(&app, move |added| {
        added.machine.push(table);
        Ok(())
    })
    .await?;
    let mut response =
        (StatusCode::CREATED, Json(first_detail(&app, &name).await?)).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/machines/{name}")) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

/// A machine that was just added; its standing is written a moment after the monitor has it.
async fn first_detail(app: &App, name: &str) -> Result<MachineDetail> {
    for _ in 0..100 {
        if let Ok(found) = detail(app, name).await {
            return Ok(found);
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    detail(app, name).await
}

/// Takes away a machine that was added here; its history is kept.
#[utoipa::path(delete, path = "/machines/{machine}", tag = "machines", params(("machine" = String, Path)), responses(
    (status = 204, description = "it is not watched any more"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "the configuration names it", body = Problem, content_type = "application/problem+json"),
))]
async fn remove(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode> {
    app.machine(&name)?;
    change_added(&app, move |added| {
        if !added.has(&name) {
            return Err(Problem::conflict(format!(
                "{name} is in the configuration of this site; take it out there"
            )));
        }
        let is_other = |table: &Table| table.get("name").and_then(Value::as_str) != Some(&name);
        added.machine.retain(is_other);
        added.alarms.remove(&name);
        Ok(())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Changes what was added, and has the monitor use it; if it cannot, everything stays as it was.
pub(super) async fn change_added(
    app: &App,
    change: impl FnOnce(&mut Added) -> Result<()>,
) -> Result<()> {
    let _one_at_a_time = app.adding.lock().await;
    let folder = app.monitor().settings().data.root();
    let before = Added::read(folder).map_err(auscult_monitor::Error::from)?;
    let mut after = before.clone();
    change(&mut after)?;
    after.write(folder)?;
    match app.ask(Ask::Reload).await {
        Ok(_) => Ok(()),
        Err(problem) => {
            before.write(folder)?;
            let reason = problem.detail().to_owned();
            // Of several lines, each with the file it is in, which is ours.
            let file = folder.join(auscult_monitor::site::ADDED_FILE).display().to_string();
            let lines = reason.lines().map(|line| {
                let line = line.strip_prefix(&file).unwrap_or(line);
                line.trim_start_matches(|it: char| it == ':' || it.is_ascii_digit()).trim()
            });
            let text: Vec<&str> = lines.collect();
            Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text.join("; ")))
        }
    }
}

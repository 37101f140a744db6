//! Machines: where they stand, and what is known of one.

use auscult::alarm::{AlarmBudget, AlarmSettings, Period};
use auscult_monitor::{
    history::Standing,
    site::{Added, Keep, MachineSpec},
};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{Problem, Result},
    extract::{Json, Path, Query},
    layers::AsIs,
    list::{Page, Part},
    severity::{ORDER, Severe},
    state::App,
    words,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show))
}

/// Which machines.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// In this state only.
    state: Option<String>,
    /// With this in their names.
    #[param(max_length = 64)]
    search: Option<String>,
    /// At most so many, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
    /// The `next` of the part before.
    #[param(max_length = 400)]
    after: Option<String>,
}

/// A machine as the list has it.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct Listed {
    #[serde(flatten)]
    severe: Severe,
    /// The mean score of each half hour of the last day, the oldest first and that which has just begun last; `null`
    /// where nothing was scored, and empty until it was read. The stream tells changes as `event: day`.
    day: Vec<Option<f64>>,
}

/// Where every machine stands, the worst first.
#[utoipa::path(get, path = "/machines", tag = "machines", params(Wanted), responses(
    (status = 200, body = Page<Listed>),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    uri: axum::http::Uri,
    Query(wanted): Query<Wanted>,
) -> Result<Response> {
    let Wanted { state, search, limit, after } = wanted;
    if let Some(state) = state.as_deref().filter(|state| !ORDER.contains(state)) {
        let text = format!("state = {state:?}: one of {}", ORDER.join(", "));
        return Err(Problem::invalid("state", text));
    }
    let part = Part { limit, after };
    let (limit, after) = (part.limit()?, part.after::<(u32, String)>()?);
    let search = search.unwrap_or_default().to_lowercase();
    // Both only ever grow.
    let commits = app.monitor().news().commits() + app.days.changes();
    let make = async || {
        let (site, scrubber, days) = (app.monitor().site(), app.scrubber(), app.days.clone());
        app.readers
            .read(move |history| {
                let is_watched = |name: &str| site.machine(name).is_some();
                let mut machines: Vec<Severe> =
                    history.statuses()?.into_iter().map(Severe::of).collect();
                machines.retain(|it| {
                    is_watched(&it.status.name)
                        && state.as_ref().is_none_or(|state| it.status.state == *state)
                        && it.status.name.to_lowercase().contains(&search)
                        && after.as_ref().is_none_or(|after| it.key() > (after.0, after.1.as_str()))
                });
                machines.sort_by(|a, b| a.key().cmp(&b.key()));
                machines.truncate(limit + 1);
                let listed = |severe: Severe| Listed { day: days.of(&severe.status.name), severe };
                let machines = machines.into_iter().map(listed).collect();
                let key = |it: &Listed| (it.severe.severity, it.severe.status.name.clone());
                let page = Page::of(machines, limit, key);
                let bytes = serde_json::to_vec(&page)
                    .map_err(|error| Problem::internal("the list cannot be written", &error))?;
                Ok(scrubber.scrub_bytes(bytes))
            })
            .await
    };
    let made = app.list.get(uri.query().unwrap_or_default(), commits, make).await?;
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|it| it.to_str().ok());
    let is_gzip = accepted.is_some_and(|accepted| accepted.contains("gzip"));
    let body = if is_gzip { made.gzip } else { made.plain };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(etag) = HeaderValue::from_str(&made.etag) {
        headers.insert(header::ETAG, etag);
    }
    response.extensions_mut().insert(AsIs);
    Ok(response)
}

/// Everything about a machine.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MachineDetail {
    #[serde(flatten)]
    severe: Severe,
    /// How it is watched.
    spec: SpecView,
    /// What its model promises.
    promise: PromiseView,
    /// What somebody in front of it should do.
    what_to_do: String,
    /// How sure its state is.
    how_sure: String,
    /// The line of its trend, and what it takes above it.
    lines: Lines,
    /// What the drift flag means, while it is up.
    drift_text: Option<String>,
    /// What another system says of it: `on`, `off`, or one of its states; `null` if none has said anything.
    operating_state: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
struct SpecView {
    /// Where its sound comes from.
    source: String,
    /// Which channel of it, from 1.
    channel: u16,
    /// What it is learnt with.
    preset: String,
    /// Which sound is kept: `none`, `alarms` or `all`.
    keep: &'static str,
    /// When an alarm is raised.
    rule: Option<String>,
    /// How many false alarms are acceptable.
    alarms: Option<String>,
    /// The same as a number a month.
    alarms_per_month: Option<f64>,
    /// Length of its clips.
    clip_seconds: f64,
    /// Whether it was added here, and can be taken away here.
    removable: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct PromiseView {
    /// In a sentence.
    text: String,
    /// Whether it holds now; `null` if nothing is promised.
    holds: Option<bool>,
}

/// Alert and alarm share one line: they differ in how many clips are above it.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Lines {
    /// A clip with a higher score is anomalous; `null` while nothing is judged.
    clip: Option<f64>,
    /// What makes an alert, in words; `null` if the first anomalous clip is an alarm already.
    alert: Option<String>,
    /// What makes an alarm, in words.
    alarm: Option<String>,
}

/// One machine.
#[utoipa::path(get, path = "/machines/{machine}", tag = "machines", params(("machine" = String, Path)), responses(
    (status = 200, body = MachineDetail),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn show(State(app): State<App>, Path(name): Path<String>) -> Result<Json<MachineDetail>> {
    Ok(Json(detail(&app, &name).await?))
}

pub(super) async fn detail(app: &App, name: &str) -> Result<MachineDetail> {
    let spec = app.machine(name)?;
    let (folder, wanted) = (app.monitor().settings().data.root().to_owned(), name.to_owned());
    let (standing, rules, removable) = app
        .read_machine(name, move |history, id| {
            let added = Added::read(&folder).map_err(auscult_monitor::Error::from)?;
            Ok((history.standing(id)?, history.last_rules(id)?, added.has(&wanted)))
        })
        .await?;
    let Standing { status, memory } = standing.ok_or_else(|| Problem::no_machine(name))?;
    let rule = rules.map(|rules| rules.alarm);
    let model = app.model_of(name).await?;
    let (text, holds) = if let Some((machine, _)) = &model {
        words::promise(machine, &status)
    } else {
        let missing = status.learning.as_ref().map(|learning| learning.text.clone());
        (missing.unwrap_or_else(|| "Nothing is promised: there is no model.".to_owned()), None)
    };
    let clip = status.model.as_ref().and_then(|model| model.threshold);
    let lines = clip.zip(rule).map(|(clip, rule)| {
        let (alert, alarm) = words::rule(&rule);
        Lines { clip: Some(clip), alert, alarm: Some(alarm) }
    });
    Ok(MachineDetail {
        spec: view(&spec, rule, removable),
        promise: PromiseView { text, holds },
        what_to_do: words::what_to_do(&status),
        how_sure: words::how_sure(&status),
        lines: lines.unwrap_or_default(),
        drift_text: words::drift_text(&status),
        operating_state: memory.tag,
        severe: Severe::of(status),
    })
}

/// How many alarms a month a budget comes to.
fn a_month(budget: AlarmBudget) -> f64 {
    budget.alarms * Period::Month.seconds() / budget.period.seconds()
}

fn view(spec: &MachineSpec, rule: Option<AlarmSettings>, removable: bool) -> SpecView {
    SpecView {
        source: spec.source.to_string(),
        channel: spec.channel,
        preset: spec.preset.to_string(),
        keep: match spec.keep {
            Keep::None => "none",
            Keep::Alarms => "alarms",
            Keep::All => "all",
        },
        rule: rule.map(|rule| format!("{} of {}", rule.raise, rule.window)),
        alarms: spec.budget.map(|budget| budget.to_string()),
        alarms_per_month: spec.budget.map(a_month),
        clip_seconds: spec.clip_seconds,
        removable,
    }
}

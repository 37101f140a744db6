//! The alarm budget of a machine: what can be promised, and what is.

use auscult::{
    Calibrate, Machine,
    alarm::{AlarmBudget, Period},
};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::onboarding::change_added;
use crate::{
    error::{Problem, Result},
    extract::{Json, Path, Query},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show, set))
}

/// How many false alarms.
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// 0.01 to 1000.
    #[param(minimum = 0.01, maximum = 1000)]
    #[schema(minimum = 0.01, maximum = 1000)]
    alarms_per_month: f64,
}

impl Wanted {
    fn budget(&self) -> Result<AlarmBudget> {
        let alarms = self.alarms_per_month;
        if !(0.01..=1_000.0).contains(&alarms) {
            let text = format!("alarms_per_month = {alarms}: 0.01 to 1000");
            return Err(Problem::invalid("alarms_per_month", text));
        }
        Ok(AlarmBudget { alarms, period: Period::Month })
    }
}

/// What a budget comes to.
#[derive(Debug, Serialize, ToSchema)]
struct Budget {
    /// Scores of normal clips that were left out, ascending: what the promise rests on.
    scores: Vec<f64>,
    /// Scores above it would be anomalous.
    threshold: Option<f64>,
    /// The share of normal clips above it.
    rate: Option<f64>,
    /// Clips that raise an alarm, such as `3 of 5`.
    rule: Option<String>,
    /// Whether the budget can be promised.
    possible: bool,
    /// What can be promised, or what is missing.
    text: String,
}

/// What a budget would come to, with the threshold, the rule and the scores it rests on.
#[utoipa::path(get, path = "/machines/{machine}/budget", tag = "models",
    params(("machine" = String, Path), Wanted), responses(
    (status = 200, body = Budget),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn show(
    State(app): State<App>,
    Path(machine): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Budget>> {
    Ok(Json(plan(&app, &machine, wanted.budget()?).await?))
}

async fn plan(app: &App, machine: &str, budget: AlarmBudget) -> Result<Budget> {
    let Some((model, _)) = app.model_of(machine).await? else {
        let status = app.read_machine(machine, |history, id| Ok(history.standing(id)?)).await?;
        let learning = status.and_then(|standing| standing.status.learning);
        let missing = learning.map_or_else(|| "there is no model yet".to_owned(), |it| it.text);
        return Ok(Budget {
            scores: Vec::new(),
            threshold: None,
            rate: None,
            rule: None,
            possible: false,
            text: format!("Nothing can be promised while the machine is being learnt: {missing}."),
        });
    };
    // At the pace that the monitor plans for.
    let of_rule = || model.model().settings().alarm.and_then(|alarm| alarm.hop_seconds);
    let hop_seconds = app.machine(machine)?.every.or_else(of_rule);
    app.work(move || calculate(&model, budget, hop_seconds)).await
}

fn calculate(machine: &Machine, budget: AlarmBudget, hop_seconds: Option<f64>) -> Result<Budget> {
    let calibrate = Calibrate { budget: Some(budget), hop_seconds, ..Calibrate::default() };
    let (model, plan) = calibrate
        .apply(machine.model())
        .map_err(|error| Problem::internal("the budget cannot be calculated", &error))?;
    let mut scores = model.calibration().scores().to_vec();
    scores.sort_by(f64::total_cmp);
    let chosen = plan.as_ref().filter(|plan| plan.is_kept()).and_then(|plan| plan.chosen);
    let text = match (&chosen, &plan) {
        (Some(choice), _) => format!(
            "At most {budget} can be promised: {} of {} clips above the threshold raise an alarm, {} of normal clips are \
             above it, and a machine that sounds wrong in every clip raises an alarm after {:.0} s.",
            choice.raise, choice.window, choice.rate, choice.seconds_to_alarm
        ),
        (None, Some(plan)) => {
            let why = plan.shortfall.as_ref().map(ToString::to_string);
            let why = why.unwrap_or_else(|| "left-out sound contradicts it".to_owned());
            format!("At most {budget} cannot be promised yet: {why}.")
        }
        (None, None) => format!("At most {budget} cannot be promised yet."),
    };
    Ok(Budget {
        scores,
        threshold: chosen.and_then(|_| model.threshold()),
        rate: chosen.map(|choice| f64::from(choice.rate)),
        rule: chosen.map(|choice| format!("{} of {}", choice.raise, choice.window)),
        possible: chosen.is_some(),
        text,
    })
}

/// Sets the budget of a machine; one that cannot be promised is refused. It is kept in `machines.toml`.
#[utoipa::path(put, path = "/machines/{machine}/budget", tag = "models",
    params(("machine" = String, Path)), request_body = Wanted, responses(
    (status = 200, body = Budget),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, description = "it cannot be promised", body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn set(
    State(app): State<App>,
    Path(machine): Path<String>,
    Json(wanted): Json<Wanted>,
) -> Result<Json<Budget>> {
    let budget = wanted.budget()?;
    let spec = app.machine(&machine)?;
    if spec.alarm.is_some() {
        return Err(Problem::conflict(format!(
            "the configuration names an alarm rule for {machine}; take [machine.alarm] out of it, and a budget chooses one"
        )));
    }
    let plan = plan(&app, &machine, budget).await?;
    // While it is being learnt the budget is a wish, and learning waits for what it needs.
    if !plan.possible && app.model_of(&machine).await?.is_some() {
        return Err(Problem::conflict(plan.text));
    }
    change_added(&app, move |added| {
        added.alarms.insert(machine, budget);
        Ok(())
    })
    .await?;
    Ok(Json(plan))
}

//! What can be asked for: one file a resource, each with its description.

mod budget;
mod clips;
mod commands;
mod events;
mod exports;
mod feedback;
mod live;
mod machines;
mod models;
mod onboarding;
mod score;
mod session;
mod sources;
mod stream;
mod system;
mod times;
mod trend;
mod users;

use axum::{Router, http::Method, routing::get};
use utoipa::{
    OpenApi,
    openapi::{
        Content, PathItem, Ref, RefOr, ResponseBuilder,
        path::Operation,
        security::{
            ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
        },
    },
};
use utoipa_axum::router::OpenApiRouter;

pub use self::sources::take_sound;
use crate::{
    access::{Need, need_of},
    pages,
    state::App,
};

/// What the description says of everything.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "auscult",
        description = "Machines watched by their sound. Errors are application/problem+json. Lists have `items` and \
            `next`, which is given as `after` to get the next part. Times are RFC 3339 in UTC. As long as there are no \
            users, whoever sits at the computer of the service needs neither session nor token."
    ),
    components(schemas(crate::error::Problem))
)]
struct Description;

/// All routes below `/api/v1`, with their description.
fn interface() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(session::routes())
        .merge(machines::routes())
        .merge(onboarding::routes())
        .merge(commands::routes())
        .merge(trend::routes())
        .merge(clips::routes())
        .merge(events::routes())
        .merge(stream::routes())
        .merge(live::routes())
        .merge(feedback::routes())
        .merge(models::routes())
        .merge(budget::routes())
        .merge(score::routes())
        .merge(sources::routes())
        .merge(exports::routes())
        .merge(users::routes())
        .merge(system::routes())
}

fn all() -> (Router<App>, utoipa::openapi::OpenApi) {
    let routes = OpenApiRouter::with_openapi(Description::openapi()).nest("/api/v1", interface());
    let (router, mut description) = routes.split_for_parts();
    complete(&mut description);
    (router, description)
}

/// Adds what holds for every operation: how to log in, and that everything else is a problem.
fn complete(description: &mut utoipa::openapi::OpenApi) {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    let problem = ResponseBuilder::new()
        .description("anything else: what was wrong, what is allowed, what to do next")
        .content("application/problem+json", content)
        .build();
    for (path, item) in &mut description.paths.paths {
        let PathItem { get, put, post, delete, patch, .. } = item;
        let operations = [
            (Method::GET, get),
            (Method::PUT, put),
            (Method::POST, post),
            (Method::DELETE, delete),
            (Method::PATCH, patch),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            admit(operation, need_of(&method, path));
            let responses = &mut operation.responses.responses;
            responses.entry("default".to_owned()).or_insert_with(|| RefOr::T(problem.clone()));
        }
    }
    let components = description.components.get_or_insert_default();
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let cookie = ApiKeyValue::new(crate::layers::COOKIE);
    components.add_security_scheme("token", SecurityScheme::Http(token));
    components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
}

/// Says who may do it.
fn admit(operation: &mut Operation, need: Need) {
    let of = |name: &str| SecurityRequirement::new::<_, [String; 0], String>(name, []);
    if need == Need::Nothing {
        operation.security = Some(Vec::new());
        return;
    }
    operation.security = Some(vec![of("token"), of("session")]);
    let before = operation.description.take().map_or(String::new(), |text| format!("{text}\n\n"));
    operation.description = Some(format!("{before}Needs {}.", need.describe()));
}

/// The description of the interface, made from its handlers.
pub fn description() -> utoipa::openapi::OpenApi {
    all().1
}

/// Every address.
pub(crate) fn router() -> Router<App> {
    let (interface, description) = all();
    let text = description.to_json().unwrap_or_default();
    let describe = move || async move {
        ([(axum::http::header::CONTENT_TYPE, "application/json")], text.clone())
    };
    interface
        .route("/api/v1/openapi.json", get(describe))
        .route("/healthz", get(system::healthz))
        .route("/readyz", get(system::readyz))
        .route("/metrics", get(system::metrics))
        .fallback(pages::page)
}

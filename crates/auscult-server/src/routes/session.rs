//! Logging in and out.

use auscult_monitor::{clock::utc, sources::Plant};
use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::{Principal, Role, verify},
    error::{Problem, Result},
    extract::Json,
    layers::COOKIE,
    policy::Origin,
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(show, begin, end))
}

/// Who is asking.
#[derive(Debug, Serialize, ToSchema)]
struct SessionState {
    /// Who is logged in; `null` if nobody is.
    user: Option<SessionUser>,
    /// What writes must show in `X-Auscult-CSRF`; `null` without a cookie.
    csrf: Option<String>,
    /// Whether one must log in to see anything.
    needs_login: bool,
    /// What the site is called.
    site: String,
    /// The program's version.
    version: &'static str,
    /// Whether the machines are synthetic.
    demo: bool,
    /// What time it is in the plant.
    now: String,
    /// How much faster than the world's the clock of the plant runs; 1 unless the machines are synthetic.
    clock_speed: f64,
}

#[derive(Debug, Serialize, ToSchema)]
struct SessionUser {
    name: String,
    role: Role,
}

/// Who is asking, and what the site is.
#[utoipa::path(get, path = "/session", tag = "session", responses((status = 200, body = SessionState)))]
async fn show(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
) -> Json<SessionState> {
    let role = match &principal {
        Principal::Nobody => None,
        Principal::Local => Some(Role::Administrator),
        Principal::User(session) => Some(session.role),
        Principal::Token { .. } => {
            let roles = [
                (crate::access::Need::Administer, Role::Administrator),
                (crate::access::Need::Operate, Role::Operator),
            ];
            let found = roles.into_iter().find(|(need, _)| principal.may(*need));
            Some(found.map_or(Role::Viewer, |(_, role)| role))
        }
    };
    let csrf = match &principal {
        Principal::User(session) => Some(session.csrf.clone()),
        _ => None,
    };
    Json(SessionState {
        user: role.map(|role| SessionUser { name: principal.name(), role }),
        csrf,
        needs_login: principal == Principal::Nobody,
        site: app.monitor().site().name.clone(),
        version: env!("CARGO_PKG_VERSION"),
        demo: app.settings.is_demo,
        now: utc(app.now()),
        clock_speed: if app.settings.is_demo { Plant::SPEED } else { 1.0 },
    })
}

/// Who wants to log in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Login {
    /// Their name.
    #[schema(max_length = 64)]
    name: String,
    /// Their password.
    #[schema(max_length = 1024)]
    password: String,
}

/// Logs in; the session is a cookie.
#[utoipa::path(post, path = "/session", tag = "session", request_body = Login, responses(
    (status = 204, description = "logged in"),
    (status = 401, description = "name or password is wrong", body = Problem, content_type = "application/problem+json"),
    (status = 429, description = "too many tries", body = Problem, content_type = "application/problem+json"),
))]
async fn begin(
    State(app): State<App>,
    Extension(origin): Extension<Origin>,
    Json(login): Json<Login>,
) -> Result<Response> {
    let of_name = format!("name {}", login.name.chars().take(64).collect::<String>());
    let of_address = format!("address {}", origin.address);
    let wait = app.throttle.wait(&of_name).max(app.throttle.wait(&of_address));
    if wait > 0 {
        return Err(Problem::too_many("too many failed logins; wait before the next one", wait));
    }
    let permit = app.checking.acquire().await;
    let permit = permit.map_err(|_| Problem::unavailable("the service is stopping"))?;
    let Login { name, password } = login;
    let user = name.clone();
    let is_right = app
        .with_store(move |store| {
            let kept = store.kept_password(&name)?;
            Ok(verify(kept.as_deref(), &password))
        })
        .await?;
    drop(permit);
    if !is_right {
        app.throttle.failed(&of_name);
        app.throttle.failed(&of_address);
        tracing::warn!(address = %origin.address, "a login failed");
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "name or password is wrong"));
    }
    app.throttle.succeeded(&of_name);
    let secret = app.with_store(move |store| store.begin_session(&user)).await?;
    let seconds = crate::access::SESSION_SECONDS as u64;
    Ok(with_cookie(&secret, seconds, origin.is_secure))
}

/// Logs out.
#[utoipa::path(delete, path = "/session", tag = "session", responses((status = 204, description = "logged out")))]
async fn end(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    Extension(origin): Extension<Origin>,
) -> Result<Response> {
    if let Principal::User(session) = principal {
        app.change_people(move |store| store.end_session(session.digest)).await?;
    }
    Ok(with_cookie("", 0, origin.is_secure))
}

fn with_cookie(secret: &str, seconds: u64, is_secure: bool) -> Response {
    let secure = if is_secure { "; Secure" } else { "" };
    let text =
        format!("{COOKIE}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(header::SET_COOKIE, value);
    }
    (StatusCode::NO_CONTENT, headers).into_response()
}

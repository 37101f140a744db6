//! Who sends a request, and whether they may.

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::entry::is_unsafe;
use crate::{
    access::{Need, Principal, need_of},
    error::{Problem, Result},
    policy::Origin,
    state::App,
};

/// The cookie of a session.
pub(crate) const COOKIE: &str = "auscult_session";

/// The header that writes of a browser must show.
const CSRF: &str = "x-auscult-csrf";

pub(super) async fn check(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

fn admit(app: &App, request: &Request) -> Result<Principal> {
    let principal = principal_of(app, request)?;
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let is_login = path == Some("/api/v1/session") && request.method() == Method::POST;
    if let Principal::User(session) = &principal
        && is_unsafe(request.method())
        && !is_login
    {
        let shown = request.headers().get(CSRF).map(axum::http::HeaderValue::as_bytes);
        if !shown.is_some_and(|shown| is_same(shown, session.csrf.as_bytes())) {
            return Err(Problem::forbidden(
                "X-Auscult-CSRF is missing or not that of this session; GET /api/v1/session gives it",
            ));
        }
    }
    // What was not routed is a page, which everybody may load.
    let need = path.map_or(Need::Nothing, |path| need_of(request.method(), path));
    if principal.may(need) {
        return Ok(principal);
    }
    Err(match principal {
        Principal::Nobody => Problem::new(
            StatusCode::UNAUTHORIZED,
            "log in (POST /api/v1/session), or show a token (Authorization: Bearer ...)",
        ),
        _ => Problem::forbidden(format!("this needs {}", need.describe())),
    })
}

fn principal_of(app: &App, request: &Request) -> Result<Principal> {
    let headers = request.headers();
    if let Some(shown) = headers.get(header::AUTHORIZATION) {
        let secret = shown.to_str().ok().and_then(|text| {
            let (scheme, secret) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
        });
        let known = secret.map(|secret| app.store().principal_of_token(secret)).transpose()?;
        let Some((principal, is_news)) = known.flatten() else {
            return Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "this token is not known, or is not valid any more; make one with `auscult serve token add`",
            ));
        };
        if let (true, Principal::Token { name, .. }) = (is_news, &principal) {
            let (app, name) = (app.clone(), name.clone());
            tokio::spawn(async move { app.with_store(move |store| store.note_use(&name)).await });
        }
        return Ok(principal);
    }
    if let Some(secret) = cookie(headers)
        && let Some(session) = app.store().session(&secret)?
    {
        if session.is_due {
            let (app, digest) = (app.clone(), session.digest);
            tokio::spawn(
                async move { app.with_store(move |store| store.keep_session(digest)).await },
            );
        }
        return Ok(Principal::User(session));
    }
    let is_local = request.extensions().get::<Origin>().is_some_and(|origin| origin.is_local);
    if is_local && !app.store().has_users()? {
        return Ok(Principal::Local);
    }
    Ok(Principal::Nobody)
}

/// The secret of a session in the cookies of a request.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|it| it.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim().to_owned())
}

/// Compares secrets in a time that does not tell where they differ.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

//! The door: is the request meant for us, is it one of too many, does it come from one of our own pages, is it done in time?

use std::{any::Any, time::Duration};

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    error::{Problem, Result},
    limits::{LONG_TIME, UPLOAD_TIME, USUAL_TIME},
    policy::Peer,
    state::App,
};

pub(super) async fn check(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match enter(&app, &mut request) {
        Ok(()) => {}
        Err(problem) => return problem.into_response(),
    }
    let time = time_of(&request);
    match tokio::time::timeout(time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("this took longer than {} s and was given up", time.as_secs()),
        )
        .into_response(),
    }
}

fn enter(app: &App, request: &mut Request) -> Result<()> {
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.ok_or_else(|| {
        Problem::internal("a request came from nowhere", &"the listener names no address")
    })?;
    let origin = app.policy().origin(peer.0, request.headers());
    if !app.rates.take(origin.address) {
        return Err(Problem::too_many("too many requests from this address; wait a second", 1));
    }
    let host = host_of(request.uri(), request.headers())?;
    if !app.policy().knows_host(host) {
        let host: String = host.chars().take(80).collect();
        return Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            format!(
                "this service is not {host:?}; reach it by the address that it listens at, or name the host in server.hosts \
                 of the configuration"
            ),
        ));
    }
    if is_unsafe(request.method()) {
        check_origin(host, request.headers())?;
    }
    request.extensions_mut().insert(origin);
    Ok(())
}

/// Whether a request may change something.
pub(super) fn is_unsafe(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn host_of<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Result<&'a str> {
    let mut named = headers.get_all(header::HOST).iter();
    let (first, second) = (named.next(), named.next());
    let missing = || Problem::bad_request("the request names no host, or more than one");
    if second.is_some() {
        return Err(missing());
    }
    let of_header = first.and_then(|host| host.to_str().ok());
    let of_address = uri.authority().map(axum::http::uri::Authority::as_str);
    match (of_address, of_header) {
        (Some(address), Some(header)) if address != header => Err(missing()),
        (Some(address), _) => Ok(address),
        (None, Some(header)) => Ok(header),
        (None, None) => Err(missing()),
    }
}

/// Browsers say which page makes them write; programs say nothing.
fn check_origin(host: &str, headers: &HeaderMap) -> Result<()> {
    let foreign = || {
        Problem::forbidden(
            "another site made this browser send the request; only our own pages may",
        )
    };
    if let Some(site) = headers.get("sec-fetch-site")
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return Err(foreign());
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().map_err(|_| foreign())?;
    let of_host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    match of_host {
        Some(of_host) if of_host.eq_ignore_ascii_case(host) => Ok(()),
        _ => Err(foreign()),
    }
}

fn time_of(request: &Request) -> Duration {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    if ends(&["/score", "/audio"]) {
        UPLOAD_TIME
    } else if path.contains("/exports/")
        || ends(&["/page", "/accept", "/forget", "/rollback", "/learn", "/budget", "/v1/machines"])
    {
        LONG_TIME
    } else {
        USUAL_TIME
    }
}

/// A handler that panics is a fault of ours; nobody is told where.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
pub(super) fn panicked(error: Box<dyn Any + Send>) -> axum::http::Response<Body> {
    let text = error.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| error.downcast_ref::<&str>().copied()).unwrap_or("no reason");
    Problem::internal("the service has failed", &text).into_response()
}

//! The last touch on JSON: no paths of this computer, an `ETag`, and nothing at all if the client has it already.

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest as _, Sha256};

use crate::{error::Problem, state::App};

/// Marks an answer that is ready as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsIs;

/// Larger answers are streams.
const MOST_BYTES: usize = 256 << 20;

pub(super) async fn finish(State(app): State<App>, request: Request, next: Next) -> Response {
    let is_read = *request.method() == Method::GET;
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = plain_problem(next.run(request).await);
    let is_ready = response.extensions().get::<AsIs>().is_some();
    let response = if !is_ready && is_json(response.headers()) {
        clean(&app, response, is_read).await
    } else {
        response
    };
    match response.headers().get(header::ETAG) {
        Some(etag) if is_read && known.is_some_and(|known| is_listed(&known, etag)) => {
            let etag = etag.clone();
            (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response()
        }
        _ => response,
    }
}

/// What axum itself answers in plain text becomes a problem, too.
fn plain_problem(response: Response) -> Response {
    let status = response.status();
    let is_plain = !(is_json(response.headers()) || response.extensions().get::<AsIs>().is_some());
    if !is_plain || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let detail = match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            // The router adds that header after this.
            "this address does not know that method; the header Allow lists those it knows"
                .to_owned()
        }
        StatusCode::NOT_FOUND => {
            "there is nothing here; GET /api/v1/openapi.json lists what there is".to_owned()
        }
        status => status.canonical_reason().unwrap_or("the request was refused").to_owned(),
    };
    Problem::new(status, detail).into_response()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| matches!(kind, b"application/json" | b"application/problem+json"))
}

async fn clean(app: &App, response: Response, is_read: bool) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, MOST_BYTES).await else {
        return Problem::internal("an answer is too large", &"more than 256 MiB").into_response();
    };
    let bytes = app.scrubber().scrub_bytes(bytes.into());
    if is_read
        && parts.status == StatusCode::OK
        && !parts.headers.contains_key(header::ETAG)
        && let Ok(etag) = HeaderValue::from_str(&etag_of(&bytes))
    {
        parts.headers.insert(header::ETAG, etag);
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(bytes))
}

/// Names what an answer holds; weak, because it may be sent compressed.
pub(crate) fn etag_of(bytes: &[u8]) -> String {
    etag_of_hash(Sha256::digest(bytes).into())
}

/// The same, of a hash that is known.
pub(crate) fn etag_of_hash(hash: [u8; 32]) -> String {
    let [a, b, ..] = hash.as_chunks::<8>().0 else { return "W/\"\"".to_owned() };
    format!("W/\"{:016x}{:016x}\"", u64::from_be_bytes(*a), u64::from_be_bytes(*b))
}

fn is_listed(known: &HeaderValue, etag: &HeaderValue) -> bool {
    let (Ok(known), Ok(etag)) = (known.to_str(), etag.to_str()) else { return false };
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.trim() == "*" || known.split(',').any(|tag| bare(tag) == bare(etag))
}

//! Writes: kept in the audit log, and answered the same way if they come twice with the same key.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest as _, Sha256};

use super::entry::is_unsafe;
use crate::{
    access::{Earlier, NewAudit, Principal, StoredAnswer},
    error::{Problem, Result},
    limits::MOST_JSON,
    policy::Origin,
    state::App,
};

/// Letters of a body that the audit log keeps.
const MOST_DETAIL: usize = 500;

pub(super) async fn record(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    // Sound is not a change of anything that people decide, and far too much for a log.
    let is_sound =
        path.as_deref().is_some_and(|it| it.ends_with("/audio") || it.ends_with("/score"));
    let Some(path) = path.filter(|_| is_unsafe(request.method()) && !is_sound) else {
        return next.run(request).await;
    };
    // A client that leaves early must neither stop a write halfway nor keep it out of the log.
    let done = tokio::spawn(async move { write(&app, &path, request, next).await }).await;
    match done {
        Ok(response) => response.unwrap_or_else(IntoResponse::into_response),
        Err(error) => Problem::internal("the service has failed", &error).into_response(),
    }
}

async fn write(app: &App, path: &str, request: Request, next: Next) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MOST_JSON).await;
    let body = body.map_err(|_| Problem::too_large(MOST_JSON as u64))?;
    let principal = parts.extensions.get::<Principal>().cloned().unwrap_or(Principal::Nobody);
    let who = principal.name();
    let address = parts.extensions.get::<Origin>().map(|it| it.address.to_string());
    let action = format!("{} {}", parts.method, parts.uri.path());
    let detail = without_secrets(&body);
    let key = key_of(&parts.headers, path)?;
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let response = match key {
        Some(key) => once(app, &who, key, &action, &body, request, next).await?,
        None => next.run(request).await,
    };
    let entry = NewAudit {
        who,
        address: address.unwrap_or_default(),
        action,
        detail,
        status: response.status().as_u16(),
    };
    app.with_store(move |store| store.add_audit(&entry)).await?;
    Ok(response)
}

/// The key of a write. Secrets are never kept, so writes with secrets have none.
fn key_of(headers: &axum::http::HeaderMap, path: &str) -> Result<Option<String>> {
    let has_secrets = ["/session", "/users", "/tokens"].iter().any(|it| path.contains(it));
    let Some(key) = headers.get("idempotency-key").filter(|_| !has_secrets) else {
        return Ok(None);
    };
    let key = key.to_str().ok().filter(|key| (1..=200).contains(&key.len()));
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        Problem::invalid("Idempotency-Key", "Idempotency-Key: 1 to 200 letters of ASCII")
    })
}

async fn once(
    app: &App,
    who: &str,
    key: String,
    action: &str,
    body: &Bytes,
    request: Request,
    next: Next,
) -> Result<Response> {
    let mut hasher = Sha256::new();
    hasher.update(action.as_bytes());
    hasher.update([0]);
    hasher.update(body);
    let digest: [u8; 32] = hasher.finalize().into();
    let (whose, of) = (who.to_owned(), key.clone());
    let earlier = app.with_store(move |store| store.begin_answer(&whose, &of, digest)).await?;
    match earlier {
        Earlier::Other => {
            return Err(Problem::invalid(
                "Idempotency-Key",
                "this key was used for another request within a day; use a new one",
            ));
        }
        Earlier::Running => {
            return Err(Problem::conflict(
                "the same request is being answered right now; try again in a moment",
            ));
        }
        Earlier::Answered(answer) => return Ok(again(answer)),
        Earlier::New => {}
    }
    let response = next.run(request).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, MOST_JSON).await.unwrap_or_default();
    // What failed may work the next time.
    let answer = (!parts.status.is_server_error()).then(|| StoredAnswer {
        status: parts.status.as_u16(),
        content_type: content_type(&parts.headers),
        body: body.to_vec(),
    });
    let whose = who.to_owned();
    app.with_store(move |store| store.end_answer(&whose, &key, answer.as_ref())).await?;
    Ok(Response::from_parts(parts, Body::from(body)))
}

fn content_type(headers: &axum::http::HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or("application/json").to_owned()
}

fn again(answer: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(&answer.content_type) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}

/// A JSON body without what nobody else may know.
fn without_secrets(body: &[u8]) -> String {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(body) else {
        return String::new();
    };
    if let Some(fields) = value.as_object_mut() {
        for (name, value) in fields.iter_mut() {
            let name = name.to_lowercase();
            if ["password", "secret", "token", "url"].iter().any(|word| name.contains(word)) {
                *value = "...".into();
            }
        }
        // Addresses of cameras hold passwords.
        if let Some(source) = fields.get_mut("source").and_then(|it| it.as_object_mut())
            && source.contains_key("url")
        {
            source.insert("url".to_owned(), "...".into());
        }
    }
    value.to_string().chars().take(MOST_DETAIL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_written_down() {
        let body = br#"{"name":"anna","password":"hunter22","source":{"url":"rtsp://a:b@c"}}"#;
        let kept = without_secrets(body);
        assert!(kept.contains("anna") && !kept.contains("hunter22") && !kept.contains("a:b"));
        assert_eq!(without_secrets(b"password=hunter22"), "");
    }
}

//! What can go wrong: one type, which becomes `application/problem+json`.

use axum::{
    extract::rejection::{JsonRejection, PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

/// An answer that is not what was asked for (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: String,
    /// The status.
    status: u16,
    /// What was wrong, the value, what is allowed, what to do next.
    detail: String,
    /// The part of the request that is wrong, where it is one part.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// Seconds to wait before another try.
    #[serde(skip)]
    retry_after: Option<u64>,
}

/// What handlers give.
pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            field: None,
            retry_after: None,
        }
    }

    /// A part of the request that cannot be used.
    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
        problem.field = Some(field.into());
        problem
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    pub(crate) fn too_many(detail: impl Into<String>, seconds: u64) -> Self {
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, detail);
        problem.retry_after = Some(seconds.max(1));
        problem
    }

    pub(crate) fn too_large(most: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {most} bytes, which is the most; send it in parts"),
        )
    }

    pub(crate) fn no_machine(name: &str) -> Self {
        let name: String = name.chars().take(80).collect();
        Self::not_found(format!(
            "there is no machine {name:?} here; GET /api/v1/machines lists those there are"
        ))
    }

    /// Something that is not the caller's fault; what exactly is for the log only.
    pub(crate) fn internal(doing: &str, error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "{doing}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("{doing}; the log of the service says why"),
        )
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, detail);
        problem.retry_after = Some(2);
        problem
    }

    /// What was wrong.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The status that it is answered with.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.title, self.detail)
    }
}

impl std::error::Error for Problem {}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == 401 {
            let scheme = HeaderValue::from_static("Bearer realm=\"auscult\"");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<auscult_monitor::Error> for Problem {
    fn from(error: auscult_monitor::Error) -> Self {
        use auscult_monitor::Error;
        match error {
            Error::UnknownMachine { name } => Self::no_machine(&name),
            Error::Refused(reason) => Self::conflict(reason),
            Error::Stopping => Self::unavailable("the monitor is stopping; try again in a moment"),
            Error::Site(problems) => {
                let texts: Vec<String> =
                    problems.problems.into_iter().map(|problem| problem.text).collect();
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, texts.join("; "))
            }
            Error::NoHistory { .. } => Self::unavailable("there is no history yet"),
            error => Self::internal("the history or the data folder cannot be used", &error),
        }
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let status = rejection.status();
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::too_large(crate::limits::MOST_JSON as u64);
        }
        if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Self::new(status, "Content-Type must be application/json");
        }
        let text = rejection.body_text();
        Self::new(status, format!("the body cannot be used: {}", cause(&text)))
    }
}

/// What a rejection says after its kind, which speaks of our types.
fn cause(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, cause)| cause)
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        Self::bad_request(format!("the query cannot be used: {}", cause(&text)))
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        match rejection.status() {
            status if status.is_server_error() => {
                Self::internal("the address was not understood", &rejection.body_text())
            }
            _ => Self::not_found(format!("there is nothing here: {}", rejection.body_text())),
        }
    }
}

//! The pages, which are inside the program.

use axum::{
    extract::Request,
    http::{HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use rust_embed::RustEmbed;

use crate::{
    error::Problem,
    layers::{AsIs, etag_of_hash},
};

#[derive(RustEmbed)]
#[folder = "dashboard/dist/"]
struct Files;

/// Everything that is not an address of the interface: a file, or the page that shows all others.
pub(crate) async fn page(request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Problem::not_found(
            "there is nothing here; GET /api/v1/openapi.json lists what there is",
        )
        .into_response();
    }
    let name = path.trim_start_matches('/');
    match Files::get(name).filter(|_| !name.is_empty()) {
        Some(file) => answer(name, file.data, file.metadata.sha256_hash()),
        // A file that is not there is not a page.
        None if name.starts_with("assets/") || has_extension(request.uri()) => {
            Problem::not_found("there is no such file").into_response()
        }
        None => match Files::get("index.html") {
            Some(file) => answer("index.html", file.data, file.metadata.sha256_hash()),
            None => Problem::not_found("this program was built without pages").into_response(),
        },
    }
}

/// Whether an address names a file; machines may have dots in their names.
fn has_extension(uri: &Uri) -> bool {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let depth = uri.path().matches('/').count();
    depth == 1 && last.contains('.')
}

fn answer(name: &str, data: std::borrow::Cow<'static, [u8]>, hash: [u8; 32]) -> Response {
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    };
    // Names of assets hold their content, so they never change.
    let is_asset = name.starts_with("assets/");
    let cached = if is_asset { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = (StatusCode::OK, data.into_owned()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cached));
    if let Ok(etag) = HeaderValue::from_str(&etag_of_hash(hash)) {
        headers.insert(header::ETAG, etag);
    }
    response.extensions_mut().insert(AsIs);
    response
}

//! What every request passes, from the outside in.

mod entry;
mod finish;
mod headers;
mod login;
mod writes;

use axum::{Router, extract::DefaultBodyLimit, middleware};
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer,
        predicate::{NotForContentType, Predicate as _, SizeAbove},
    },
};

pub(crate) use self::{
    finish::{AsIs, etag_of, etag_of_hash},
    login::COOKIE,
};
use crate::{limits::MOST_JSON, state::App};

/// Puts all layers around a router; the last one here is the first that a request passes.
pub(crate) fn around(router: Router<App>, app: &App) -> Router<App> {
    let compressed = SizeAbove::new(512)
        .and(NotForContentType::new("audio/"))
        .and(NotForContentType::new("image/png"))
        .and(NotForContentType::new("application/vnd.apache.parquet"))
        .and(NotForContentType::SSE);
    router
        .layer(DefaultBodyLimit::max(MOST_JSON))
        .layer(middleware::from_fn_with_state(app.clone(), writes::record))
        .layer(middleware::from_fn_with_state(app.clone(), login::check))
        .layer(middleware::from_fn_with_state(app.clone(), finish::finish))
        .layer(middleware::from_fn_with_state(app.clone(), entry::check))
        .layer(CatchPanicLayer::custom(entry::panicked))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(middleware::from_fn_with_state(app.clone(), headers::add))
}

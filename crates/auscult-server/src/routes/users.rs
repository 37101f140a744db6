//! Users, tokens and the audit log, for administrators.

use auscult_monitor::clock::utc;
use axum::{extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    access::{AuditEntry, Role, Scope, Store, Token, User},
    error::{Problem, Result},
    extract::{Json, Path, Query},
    list::{Page, Part},
    state::App,
};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(users, add_user))
        .routes(routes!(change_user, remove_user))
        .routes(routes!(tokens, add_token))
        .routes(routes!(revoke_token))
        .routes(routes!(audit))
}

/// Everybody who may log in.
#[utoipa::path(get, path = "/users", tag = "users", responses((status = 200, body = Page<User>)))]
async fn users(State(app): State<App>) -> Result<Json<Page<User>>> {
    let items = app.with_store(Store::users).await?;
    Ok(Json(Page { items, next: None }))
}

/// Somebody who may log in from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewUser {
    /// 1 to 64 letters, digits, - _ . and not a dot first.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    role: Role,
    /// 10 to 1024 bytes.
    #[schema(min_length = 10, max_length = 1024)]
    password: String,
}

/// Adds a user. The first one must be an administrator; from then on everybody logs in.
#[utoipa::path(post, path = "/users", tag = "users", request_body = NewUser, responses(
    (status = 201, body = User),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn add_user(
    State(app): State<App>,
    Json(new): Json<NewUser>,
) -> Result<(StatusCode, Json<User>)> {
    let user = User { name: new.name.clone(), role: new.role, created: 0.0 };
    let is_first = !app.with_store(Store::has_users).await?;
    if is_first && new.role != Role::Administrator {
        return Err(Problem::invalid(
            "role",
            "the first user must be an administrator, or nobody could add others",
        ));
    }
    app.change_people(move |store| store.add_user(&new.name, new.role, &new.password)).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// What changes about a user; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UserChange {
    role: Option<Role>,
    /// 10 to 1024 bytes; all sessions of the user end.
    #[schema(min_length = 10, max_length = 1024)]
    password: Option<String>,
}

/// Changes role or password of a user.
#[utoipa::path(patch, path = "/users/{user}", tag = "users", params(("user" = String, Path)),
    request_body = UserChange, responses(
    (status = 204, description = "changed"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn change_user(
    State(app): State<App>,
    Path(name): Path<String>,
    Json(change): Json<UserChange>,
) -> Result<StatusCode> {
    app.change_people(move |store| {
        store.change_user(&name, change.role, change.password.as_deref())
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a user; their sessions end.
#[utoipa::path(delete, path = "/users/{user}", tag = "users", params(("user" = String, Path)), responses(
    (status = 204, description = "removed"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
async fn remove_user(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode> {
    app.change_people(move |store| store.remove_user(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
struct TokenView {
    name: String,
    scopes: Vec<Scope>,
    created: String,
    /// Until when; `null` for ever.
    expires: Option<String>,
    /// To the minute.
    last_used: Option<String>,
}

fn view(token: Token) -> TokenView {
    TokenView {
        name: token.name,
        scopes: token.scopes,
        created: utc(token.created),
        expires: token.expires.map(utc),
        last_used: token.last_used.map(utc),
    }
}

/// Every token, without its secret.
#[utoipa::path(get, path = "/tokens", tag = "users", responses((status = 200, body = Page<TokenView>)))]
async fn tokens(State(app): State<App>) -> Result<Json<Page<TokenView>>> {
    let tokens = app.with_store(Store::tokens).await?;
    Ok(Json(Page { items: tokens.into_iter().map(view).collect(), next: None }))
}

/// A token to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewTokenBody {
    /// 1 to 64 letters, digits, - _ . and not a dot first.
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    /// What it may be used for.
    #[schema(min_items = 1)]
    scopes: Vec<Scope>,
    /// Valid for so many days, 1 to 36500; for ever if not given.
    #[schema(minimum = 1, maximum = 36_500)]
    expires_days: Option<f64>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
struct MadeToken {
    #[serde(flatten)]
    token: TokenView,
    /// What programs show as `Authorization: Bearer ...`; it is shown now and never again.
    secret: String,
}

/// Makes a token.
#[utoipa::path(post, path = "/tokens", tag = "users", request_body = NewTokenBody, responses(
    (status = 201, body = MadeToken),
    (status = 409, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn add_token(
    State(app): State<App>,
    Json(new): Json<NewTokenBody>,
) -> Result<(StatusCode, Json<MadeToken>)> {
    let NewTokenBody { name, scopes, expires_days } = new;
    if let Some(days) = expires_days
        && !(1.0..=36_500.0).contains(&days)
    {
        let text = format!("expires_days = {days}: 1 to 36500");
        return Err(Problem::invalid("expires_days", text));
    }
    let made = app.with_store(move |store| store.add_token(&name, &scopes, expires_days)).await?;
    let made = MadeToken { token: view(made.token), secret: made.secret };
    Ok((StatusCode::CREATED, Json(made)))
}

/// Revokes a token: from now on it is not valid.
#[utoipa::path(delete, path = "/tokens/{token}", tag = "users", params(("token" = String, Path)), responses(
    (status = 204, description = "revoked"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
))]
async fn revoke_token(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode> {
    app.change_people(move |store| store.revoke_token(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A line of the audit log.
#[derive(Debug, Serialize, ToSchema)]
struct AuditView {
    id: i64,
    time: String,
    who: String,
    /// From which address.
    address: String,
    /// Method and path.
    action: String,
    /// The body, without secrets.
    detail: String,
    /// The status of the answer.
    status: u16,
}

/// Every change that was asked for, the newest first.
#[utoipa::path(get, path = "/audit", tag = "users", params(Part), responses(
    (status = 200, body = Page<AuditView>),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
async fn audit(State(app): State<App>, Query(part): Query<Part>) -> Result<Json<Page<AuditView>>> {
    let (limit, before) = (part.limit()?, part.after::<i64>()?);
    let entries = app.with_store(move |store| store.audit(before, limit + 1)).await?;
    let view = |entry: AuditEntry| AuditView {
        id: entry.id,
        time: utc(entry.time),
        who: entry.who,
        address: entry.address,
        action: entry.action,
        detail: entry.detail,
        status: entry.status,
    };
    let entries = entries.into_iter().map(view).collect();
    Ok(Json(Page::of(entries, limit, |entry: &AuditView| entry.id)))
}

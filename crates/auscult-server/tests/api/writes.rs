use axum::{body::Body, http::Method};
use serde_json::json;

use crate::support::{PASSWORD, Service};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_gives_the_same_answer() {
    let service = Service::start().await;
    let local = service.client().with("idempotency-key", "k-1");
    let path = "/api/v1/machines/pump-7/shelve";
    let body = json!({"minutes": 30, "reason": "first"});
    let first = local.post(path, &body).await;
    assert_eq!(first.status, 200);
    let again = local.post(path, &body).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.headers["idempotent-replayed"], "true");
    let events = service.client().get("/api/v1/events?kind=command").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "it was done once");
    local.post(path, &json!({"minutes": 31, "reason": "other"})).await.is_problem(422);
    local.post("/api/v1/machines/fan-2/shelve", &body).await.is_problem(422);
    // A refusal is an answer, too.
    let refused = local.with("idempotency-key", "k-2");
    let path = "/api/v1/machines/pump-7/acknowledge";
    refused.post(path, &json!({})).await.is_problem(409);
    let again = refused.post(path, &json!({})).await;
    again.is_problem(409);
    assert_eq!(again.headers["idempotent-replayed"], "true");
    let long = "k".repeat(201);
    local.with("idempotency-key", &long).post(path, &json!({})).await.is_problem(422);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_early_finds_its_write_done_and_written_down() {
    let service = Service::start().await;
    let path = "/api/v1/machines/pump-7/shelve";
    let body = json!({"minutes": 30, "reason": "left early"});
    let local = service.client().with("content-type", "application/json");
    let keyed = local.with("idempotency-key", "k-1");
    let request = keyed.request(Method::POST, path, Body::from(body.to_string()));
    // It has begun, and nobody waits for its answer.
    let mut answer = Box::pin(keyed.open(request));
    assert!(futures_util::FutureExt::now_or_never(&mut answer).is_none());
    drop(answer);
    let is_written = |log: &serde_json::Value| log.to_string().contains("left early");
    service.wait(&local, "/api/v1/audit", is_written).await;
    let again = keyed.post(path, &body).await;
    assert_eq!(
        (again.status, again.headers["idempotent-replayed"].as_bytes()),
        (200, &b"true"[..])
    );
    let events = local.get("/api/v1/events?kind=command").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "it was done once");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_written_down_without_secrets() {
    let service = Service::with_users().await;
    let anna = service.login("anna").await;
    let body = json!({"minutes": 30, "reason": "new seals"});
    assert_eq!(anna.post("/api/v1/machines/pump-7/shelve", &body).await.status, 200);
    let secret = json!({"name": "x", "scopes": ["read"]});
    let secret = anna.post("/api/v1/tokens", &secret).await.json()["secret"].clone();
    let other = json!({"password": "another secret"});
    anna.call(Method::PATCH, "/api/v1/users/vera", &other).await;
    let wrong = json!({"name": "otto", "password": "my secret guess"});
    service.client().post("/api/v1/session", &wrong).await.is_problem(401);
    let log = anna.get("/api/v1/audit?limit=3").await;
    let first = log.json();
    let text = anna.get("/api/v1/audit").await.text();
    for expected in ["PATCH /api/v1/users/vera", "new seals", "anna", "127.0.0.1", "otto"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for secret in [PASSWORD, "another secret", "my secret guess", secret.as_str().unwrap()] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    assert_eq!(first["items"][0]["status"], 401);
    let next = first["next"].as_str().unwrap();
    let second = anna.get(&format!("/api/v1/audit?limit=3&after={next}")).await.json();
    let id = |page: &serde_json::Value, at: usize| page["items"][at]["id"].as_i64().unwrap();
    assert_eq!(id(&second, 0), id(&first, 2) - 1);
    service.login("otto").await.get("/api/v1/audit").await.is_problem(403);
    service.stop().await;
}

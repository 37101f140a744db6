use std::time::Duration;

use auscult_server::access::Scope;
use axum::{
    body::{Body, BodyDataStream},
    http::Method,
};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::support::{Client, Service, wav};

/// A stream that is being read.
struct Reading {
    body: BodyDataStream,
    text: String,
}

impl Reading {
    async fn open(client: &Client, path: &str) -> Self {
        let request = client.request(Method::GET, path, Body::empty());
        let response = client.open(request).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// Reads until the text has this in it.
    async fn until(&mut self, wanted: &str) -> String {
        let found = async {
            while !self.text.contains(wanted) {
                let piece = self.body.next().await.unwrap().unwrap();
                self.text.push_str(&String::from_utf8_lossy(&piece));
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), found).await;
        assert!(waited.is_ok(), "{wanted} never came: {}", self.text);
        std::mem::take(&mut self.text)
    }

    /// Reads to the end, which must come well before streams are looked at anyway.
    async fn ends(mut self, whose: &str) {
        let end = async { while self.body.next().await.is_some() {} };
        let waited = tokio::time::timeout(Duration::from_secs(8), end).await;
        assert!(waited.is_ok(), "the stream of {whose} goes on");
    }
}

fn ids(text: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    for block in text.split("\n\n").filter(|block| block.contains("event: event")) {
        ids.extend(block.lines().find_map(|line| line.strip_prefix("id: ")));
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_missed_comes_first_and_nothing_twice() {
    let service = Service::start().await;
    let local = service.client();
    let shelve = |machine: &'static str, reason: &'static str| {
        let local = local.clone();
        async move {
            let path = format!("/api/v1/machines/{machine}/shelve");
            let answer = local.post(&path, &json!({"minutes": 9, "reason": reason})).await;
            assert_eq!(answer.status, 200);
        }
    };
    let mut live = Reading::open(&local, "/api/v1/stream").await;
    shelve("pump-7", "first").await;
    let text = live.until("first").await;
    assert!(text.starts_with("retry: 2000\n\n"));
    let last = *ids(&text).last().unwrap();
    drop(live);
    for reason in ["second", "third"] {
        shelve("fan-2", reason).await;
    }
    let resumed = local.with("last-event-id", last);
    let mut resumed = Reading::open(&resumed, "/api/v1/stream").await;
    let text = resumed.until("third").await;
    assert!(text.contains("second") && !text.contains("first"), "{text}");
    shelve("pump-7", "fourth").await;
    let more = resumed.until("fourth").await;
    let all: Vec<String> =
        [ids(&text), ids(&more)].concat().iter().map(ToString::to_string).collect();
    let mut single = all.clone();
    single.dedup();
    assert_eq!(all, single);
    assert!(resumed.until("event: status").await.contains("\"severity\""));
    let unknown = local.with("last-event-id", "never-was");
    assert!(Reading::open(&unknown, "/api/v1/stream").await.until("event: reset").await.len() > 10);
    let mut by_query = Reading::open(&local, &format!("/api/v1/stream?last_event_id={last}")).await;
    by_query.until("second").await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_microphone_is_seen_live() {
    let service = Service::start().await;
    let local = service.client();
    let mut live = Reading::open(&local, "/api/v1/machines/pump-7/live").await;
    let answer = service.push(&local, "pump-7", 0, &wav(1, 0, 1.0)).await;
    assert_eq!(answer.status, 202);
    let text = live.until("}\n\n").await;
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let level: serde_json::Value = serde_json::from_str(data).unwrap();
    assert!((-80.0..0.0).contains(&level["dbfs"].as_f64().unwrap()), "{level}");
    let (edges, levels) = (&level["hertz"], &level["spectrum"]);
    assert_eq!(edges.as_array().unwrap().len(), levels.as_array().unwrap().len() + 1);
    assert_eq!(level["clipped"], false);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_the_session() {
    let service = Service::with_users().await;
    let (anna, otto, vera) =
        (service.login("anna").await, service.login("otto").await, service.login("vera").await);
    let program = service.program(&[Scope::Read]);
    let path = "/api/v1/stream";
    let mut of_anna = Reading::open(&anna, path).await;
    let of_otto = Reading::open(&otto, path).await;
    let otto_listens = Reading::open(&otto, "/api/v1/machines/pump-7/live").await;
    let of_vera = Reading::open(&vera, path).await;
    let of_program = Reading::open(&program, path).await;

    let out = otto.call(Method::DELETE, "/api/v1/session", &json!({})).await;
    assert_eq!(out.status, 204, "{}", out.text());
    of_otto.ends("somebody who logged out").await;
    otto_listens.ends("somebody who logged out and listened in").await;
    let removed = anna.call(Method::DELETE, "/api/v1/users/vera", &json!({})).await;
    assert_eq!(removed.status, 204, "{}", removed.text());
    of_vera.ends("a user who was removed").await;
    let revoked = anna.call(Method::DELETE, "/api/v1/tokens/token-0", &json!({})).await;
    assert_eq!(revoked.status, 204, "{}", revoked.text());
    of_program.ends("a token that was revoked").await;

    // A session that has become too old ends when it is looked at next.
    let again = service.login("otto").await;
    let of_otto = Reading::open(&again, path).await;
    let database = service.folder.path().join("data/access.db");
    let database = rusqlite::Connection::open(database).unwrap();
    database.execute("UPDATE sessions SET created = 0 WHERE user = 'otto'", []).unwrap();
    let changed = json!({"role": "viewer"});
    let changed = anna.call(Method::PATCH, "/api/v1/users/otto", &changed).await;
    assert_eq!(changed.status, 204, "{}", changed.text());
    of_otto.ends("a session that is too old").await;

    let body = json!({"minutes": 9, "reason": "still here"});
    assert_eq!(anna.post("/api/v1/machines/pump-7/shelve", &body).await.status, 200);
    of_anna.until("still here").await;
    service.stop().await;
}

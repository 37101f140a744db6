//! A service without a port, and clients that log in.

use std::{net::SocketAddr, time::Duration};

use auscult::{Cancel, FrontEnds};
use auscult_monitor::{
    clock::Clock,
    data::DataFolder,
    history::StoredClip,
    run,
    running::{Watching, begin},
    site::Site,
};
use auscult_server::{
    App, LogRing, Peer, Policy, Settings,
    access::{Role, Scope, Store},
    app,
};
use auscult_testing::{ClipRecipe, Machine};
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode, header},
    response::Response,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tower::ServiceExt;

pub(crate) const PASSWORD: &str = "correct horse";

/// Two machines that are pushed to.
pub(crate) const SITE: &str = r#"
site = "test"
[[machine]]
name = "pump-7"
keep = "all"
clip = "1s"
preset = "fast"
no_data_after = "1h"
learn = { visits = 2, clips = 6, visit = "button", start = "on-command" }
[[machine]]
name = "fan-2"
clip = "1s"
preset = "fast"
no_data_after = "1h"
"#;

pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) folder: TempDir,
    pub(crate) store: Store,
    cancel: Cancel,
    running: JoinHandle<auscult_monitor::Result<()>>,
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(SITE, tempfile::tempdir().unwrap()).await
    }

    /// With a viewer, an operator and an administrator.
    pub(crate) async fn with_users() -> Self {
        let service = Self::start().await;
        for (name, role) in
            [("anna", Role::Administrator), ("otto", Role::Operator), ("vera", Role::Viewer)]
        {
            service.store.add_user(name, role, PASSWORD).unwrap();
        }
        service
    }

    pub(crate) async fn with(text: &str, folder: TempDir) -> Self {
        let data = DataFolder::new(folder.path().join("data"));
        let site = Site::parse(text, &folder.path().join("site.toml")).unwrap();
        let store = Store::open(data.root()).unwrap();
        let settings = run::Settings {
            data,
            clock: Clock::system(),
            jobs: Some(2),
            front_ends: FrontEnds::standard(),
        };
        let cancel = Cancel::new();
        let watching = Watching { path: None, most: None, cancel: cancel.clone() };
        let policy = Policy::new("127.0.0.1:8080".parse().unwrap(), &site);
        let (monitor, running) = begin(site, settings, watching).await.unwrap();
        let router = app(App::new(Settings {
            monitor,
            store: store.clone(),
            policy,
            logs: LogRing::default(),
            exporter: Some(std::sync::Arc::new(|history, query, _, path, clean| {
                let mut text = "machine,path\n".to_owned();
                let mut add = |clip: StoredClip| {
                    let mut path = clip.row.path;
                    clean(&mut path);
                    text.push_str(&clip.machine);
                    text.push(',');
                    text.push_str(&path);
                    text.push('\n');
                    Ok(())
                };
                history.clips(query, &mut add).map_err(|error| error.to_string())?;
                std::fs::write(path, text).map_err(|error| error.to_string())
            })),
            is_demo: false,
        }));
        Self { router, folder, store, cancel, running }
    }

    /// Stops everything; the folder stays.
    pub(crate) async fn stop(self) -> TempDir {
        self.cancel.cancel();
        self.running.await.unwrap().unwrap();
        self.folder
    }

    /// Somebody at this computer, who is not logged in.
    pub(crate) fn client(&self) -> Client {
        Client {
            router: self.router.clone(),
            peer: "127.0.0.1:50000".parse().unwrap(),
            headers: HeaderMap::new(),
            folder: self.folder.path().display().to_string(),
        }
    }

    /// Somebody who has logged in.
    pub(crate) async fn login(&self, name: &str) -> Client {
        let client = self.client();
        let body = serde_json::json!({ "name": name, "password": PASSWORD });
        let answer = client.post("/api/v1/session", &body).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
        let client = client.with("cookie", cookie.split(';').next().unwrap());
        let csrf = client.get("/api/v1/session").await.json()["csrf"].as_str().unwrap().to_owned();
        client.with("x-auscult-csrf", &csrf)
    }

    /// A program with a token.
    pub(crate) fn program(&self, scopes: &[Scope]) -> Client {
        let name = format!("token-{}", self.store.tokens().unwrap().len());
        let made = self.store.add_token(&name, scopes, None).unwrap();
        self.client().with("authorization", &format!("Bearer {}", made.secret))
    }

    /// Waits until something is true of an answer; a test that waits for ever fails.
    pub(crate) async fn wait(
        &self,
        client: &Client,
        path: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Value {
        for _ in 0..600 {
            let value = client.get(path).await.json();
            if is(&value) {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{path} never became what it should");
    }

    /// Pushes seconds of a healthy pump.
    pub(crate) async fn push(
        &self,
        client: &Client,
        machine: &str,
        sequence: u32,
        sound: &[u8],
    ) -> Answer {
        let client = client.with("x-auscult-sequence", &sequence.to_string());
        client.send_bytes(&format!("/api/v1/sources/{machine}/audio"), "audio/wav", sound).await
    }

    /// Learns pump-7 from two visits of pushed sound; gives the next sequence number.
    pub(crate) async fn learn(&self, client: &Client) -> u32 {
        let mut sequence = 0;
        for visit in 1..=2 {
            for take in 0..12 {
                let answer = self.push(client, "pump-7", sequence, &wav(visit, take, 1.0)).await;
                assert_eq!(answer.status, 202, "{}", answer.text());
                sequence += 1;
            }
            let clips = f64::from(sequence) - 1.0;
            self.wait(client, "/api/v1/machines/pump-7", |it| it["clips"].as_f64() >= Some(clips))
                .await;
            let now = serde_json::json!({ "now": visit == 2 });
            let answer = client.post("/api/v1/machines/pump-7/learn", &now).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        self.wait(client, "/api/v1/machines/pump-7", |it| !it["model"].is_null()).await;
        sequence
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    router: Router,
    peer: SocketAddr,
    headers: HeaderMap,
    folder: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    /// A problem of this status that says something and gives nothing away.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        let body = self.json();
        assert_eq!(body["status"], status);
        assert!(body["detail"].as_str().is_some_and(|it| it.len() > 8), "{body}");
    }
}

impl Client {
    pub(crate) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.insert(name, value.parse().unwrap());
        client
    }

    pub(crate) fn without(&self, name: &'static str) -> Self {
        let mut client = self.clone();
        client.headers.remove(name);
        client
    }

    pub(crate) fn at_address(&self, peer: &str) -> Self {
        Self { peer: peer.parse().unwrap(), ..self.clone() }
    }

    pub(crate) fn request(&self, method: Method, path: &str, body: Body) -> Request<Body> {
        let mut request = Request::builder().method(method).uri(path).body(body).unwrap();
        request.headers_mut().insert(header::HOST, "127.0.0.1:8080".parse().unwrap());
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        request.extensions_mut().insert(Peer(self.peer));
        request
    }

    /// The answer with its body still to come, for streams.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let what = format!("{} {}", request.method(), request.uri());
        let response = self.open(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let is_stream =
            headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let body = if is_stream {
            Vec::new()
        } else {
            axum::body::to_bytes(response.into_body(), 64 << 20).await.unwrap().to_vec()
        };
        let answer = Answer { status: status.as_u16(), headers, body };
        // Of every answer of every test.
        assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{what}: {}", answer.text());
        assert!(!answer.text().contains(&self.folder), "{what} leaks a path: {}", answer.text());
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path, Body::empty())).await
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Answer {
        let client = self.with("content-type", "application/json");
        client.send(client.request(method, path, Body::from(body.to_string()))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call(Method::POST, path, body).await
    }

    pub(crate) async fn send_bytes(&self, path: &str, kind: &str, bytes: &[u8]) -> Answer {
        let client = self.with("content-type", kind);
        client.send(client.request(Method::POST, path, Body::from(bytes.to_vec()))).await
    }
}

/// A healthy pump as a WAV file of 16 bits at 16 kHz.
pub(crate) fn wav(visit: u32, take: u32, seconds: f64) -> Vec<u8> {
    let recipe =
        ClipRecipe { visit, take, seconds, sample_rate: 16_000, ..ClipRecipe::new(Machine::Pump) };
    let samples = recipe.render().unwrap();
    let integers: Vec<i16> =
        samples.iter().map(|it| (it.clamp(-1.0, 1.0) * 32_767.0) as i16).collect();
    let bytes: Vec<u8> = integers.iter().flat_map(|it| it.to_le_bytes()).collect();
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + bytes.len() as u32).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(32_000_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend((bytes.len() as u32).to_le_bytes());
    wav.extend(bytes);
    wav
}

use axum::http::{Method, header};
use serde_json::json;

use crate::support::{SITE, Service, wav};

#[tokio::test(flavor = "multi_thread")]
async fn the_list_comes_in_parts_and_only_if_it_changed() {
    let machine = |number: usize| format!("[[machine]]\nname = \"m-{number:03}\"\nclip = \"1s\"\n");
    let text: String = (0..25).map(machine).collect();
    let service = Service::with(&text, tempfile::tempdir().unwrap()).await;
    let local = service.client();
    let mut names = Vec::new();
    let mut after = String::new();
    loop {
        let page = local.get(&format!("/api/v1/machines?limit=10{after}")).await.json();
        for item in page["items"].as_array().unwrap() {
            names.push(item["name"].as_str().unwrap().to_owned());
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(names, (0..25).map(|number| format!("m-{number:03}")).collect::<Vec<_>>());
    let found = local.get("/api/v1/machines?search=M-01&limit=1000").await.json();
    assert_eq!(found["items"].as_array().unwrap().len(), 10);
    assert_eq!(local.get("/api/v1/machines?state=alarm").await.json()["items"], json!([]));
    for path in ["/api/v1/machines", "/api/v1/machines/m-001", "/api/v1/events"] {
        let answer = local.get(path).await;
        let etag = answer.headers[header::ETAG].to_str().unwrap().to_owned();
        let again = local.with("if-none-match", &etag).get(path).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        assert_eq!(again.headers[header::ETAG], etag.as_str());
        let other = local.with("if-none-match", "\"x\"").get(path).await;
        assert_eq!(other.status, 200);
    }
    let packed = local.with("accept-encoding", "gzip").get("/api/v1/machines?limit=1000").await;
    assert_eq!(packed.headers[header::CONTENT_ENCODING], "gzip");
    assert!(packed.body.starts_with(&[0x1f, 0x8b]) && packed.body.len() < 4_000);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_do_is_seen_at_once() {
    let service = Service::start().await;
    let local = service.client();
    let shelved = |value: &serde_json::Value| {
        let items = value["items"].as_array().unwrap();
        let pump = items.iter().find(|it| it["name"] == "pump-7").unwrap();
        (pump["shelved"]["reason"].clone(), pump["severity"].as_i64().unwrap())
    };
    let (_, before) = shelved(&local.get("/api/v1/machines").await.json());
    let body = json!({"minutes": 30, "reason": "new seals"});
    let answer = local.post("/api/v1/machines/pump-7/shelve", &body).await;
    assert_eq!(answer.status, 200);
    let (reason, after) = shelved(&local.get("/api/v1/machines").await.json());
    assert_eq!(reason, "new seals");
    assert!(after > before, "what is shelved sinks");
    let events = local.get("/api/v1/events?machine=pump-7&kind=command").await.json();
    assert_eq!(events["items"][0]["who"], "local");
    let id = events["items"][0]["id"].as_str().unwrap().to_owned();
    let event = local.get(&format!("/api/v1/events/{id}")).await.json();
    assert!(event["sentence"].as_str().unwrap().contains("new seals"));
    assert_eq!(event["page"], json!(null));
    local.get(&format!("/api/v1/events/{id}/page")).await.is_problem(404);
    assert_eq!(local.post("/api/v1/machines/pump-7/unshelve", &json!({})).await.status, 200);
    let out = json!({"reason": "repair"});
    assert_eq!(local.post("/api/v1/machines/pump-7/out-of-service", &out).await.status, 200);
    let machine = local.get("/api/v1/machines/pump-7").await.json();
    assert_eq!(machine["out_of_service"], "repair");
    assert!(machine["what_to_do"].as_str().unwrap().contains("repair"));
    assert_eq!(local.post("/api/v1/machines/pump-7/in-service", &json!({})).await.status, 200);
    let lines = local.get("/api/v1/exports/events?format=jsonl").await.text();
    assert!(lines.lines().count() >= 4);
    for line in lines.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    let table = local.get("/api/v1/exports/events?format=csv&machine=pump-7").await.text();
    assert!(table.starts_with("id,machine,time,kind") && table.contains("new seals"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_are_added_kept_over_a_restart_and_taken_away() {
    let service = Service::start().await;
    let local = service.client();
    let new = json!({
        "name": "valve-1", "source": {"kind": "push"}, "keep": "all", "visit": "day",
        "clip_seconds": 2.0, "preset": "fast", "visits": 3, "clips": 10,
    });
    let answer = local.post("/api/v1/machines", &new).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert_eq!(answer.headers[header::LOCATION], "/api/v1/machines/valve-1");
    assert_eq!(answer.json()["spec"]["keep"], "all");
    assert_eq!(answer.json()["lines"], json!({"clip": null, "alert": null, "alarm": null}));
    assert_eq!(answer.json()["spec"]["removable"], true);
    assert_eq!(local.get("/api/v1/machines/pump-7").await.json()["spec"]["removable"], false);
    local.post("/api/v1/machines", &new).await.is_problem(409);
    // It takes sound at once.
    let pushed = service.push(&local, "valve-1", 1, &wav(1, 0, 2.0)).await;
    assert_eq!(pushed.status, 202, "{}", pushed.text());
    let budget = json!({"alarms_per_month": 2});
    let answer = local.call(Method::PUT, "/api/v1/machines/fan-2/budget", &budget).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["possible"], false, "it is still being learnt");
    let service = Service::with(SITE, service.stop().await).await;
    let local = service.client();
    let names = local.get("/api/v1/machines").await.text();
    assert!(names.contains("valve-1"));
    let fan = local.get("/api/v1/machines/fan-2").await.json();
    assert_eq!(fan["spec"]["alarms"], "2 alarms per month");
    assert_eq!(fan["spec"]["alarms_per_month"], 2.0);
    local.call(Method::DELETE, "/api/v1/machines/pump-7", &json!({})).await.is_problem(409);
    let gone = local.call(Method::DELETE, "/api/v1/machines/valve-1", &json!({})).await;
    assert_eq!(gone.status, 204, "{}", gone.text());
    local.get("/api/v1/machines/valve-1").await.is_problem(404);
    assert!(!local.get("/api/v1/machines").await.text().contains("valve-1"));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_system_shows_paths_to_administrators_only() {
    let service = Service::with_users().await;
    let seen = service.login("vera").await.get("/api/v1/system").await.json();
    assert_eq!(seen["data_folder"], json!(null));
    assert!(seen["disk"]["history_bytes"].as_u64().unwrap() > 0);
    assert_eq!(seen["queues"].as_array().unwrap().len(), 2);
    // Every other answer of every test is checked for paths.
    let anna = service.login("anna").await;
    let request = anna.request(Method::GET, "/api/v1/system", axum::body::Body::empty());
    let body = axum::body::to_bytes(anna.open(request).await.into_body(), 1 << 20).await.unwrap();
    let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(seen["data_folder"], service.folder.path().join("data").display().to_string());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rate_of_one_address_is_limited() {
    let text = format!("{SITE}\n[server]\nrequests_per_second = 20\nstreams = 2");
    let service = Service::with(&text, tempfile::tempdir().unwrap()).await;
    let local = service.client();
    let open =
        || local.open(local.request(Method::GET, "/api/v1/stream", axum::body::Body::empty()));
    let (first, _second) = (open().await, open().await);
    assert_eq!((first.status(), open().await.status().as_u16()), (axum::http::StatusCode::OK, 429));
    drop(first);
    assert_eq!(open().await.status(), 200);
    let mut refused = 0;
    for _ in 0..60 {
        refused += usize::from(local.get("/healthz").await.status == 429);
    }
    assert!(refused > 5, "{refused}");
    assert_eq!(local.at_address("127.0.0.2:1").get("/healthz").await.status, 200);
    service.stop().await;
}

use auscult::{FrontEnds, Machine, Sources};
use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{Client, Service, wav};

#[tokio::test(flavor = "multi_thread")]
async fn repeats_are_acknowledged_and_gaps_are_reported() {
    let service = Service::start().await;
    let local = service.client();
    let sound = wav(1, 0, 1.0);
    let push = |sequence| {
        let (service, local, sound) = (&service, local.clone(), sound.clone());
        async move {
            let answer = service.push(&local, "fan-2", sequence, &sound).await;
            assert_eq!(answer.status, 202, "{}", answer.text());
            answer.json()
        }
    };
    assert_eq!(push(5).await, json!({"sequence": 5, "next": 6, "repeated": false, "gap": null}));
    assert_eq!(push(5).await, json!({"sequence": 5, "next": 6, "repeated": true, "gap": null}));
    assert_eq!(push(6).await["repeated"], false);
    let gap = push(9).await;
    assert_eq!(gap, json!({"sequence": 9, "next": 10, "repeated": false, "gap": [7, 8]}));
    assert_eq!(push(7).await["repeated"], true, "what is late is too late");
    service.wait(&local, "/api/v1/machines/fan-2", |it| it["clips"] == 3).await;
    let source = local.get("/api/v1/sources/fan-2").await.json();
    assert_eq!(source["push"]["missing"], 2);
    assert_eq!(source["push"]["pieces"], 3);
    assert_eq!(local.get("/api/v1/sources").await.json()["items"].as_array().unwrap().len(), 2);
    // Numbers are remembered.
    let service = Service::with(crate::support::SITE, service.stop().await).await;
    let local = service.client();
    assert_eq!(service.push(&local, "fan-2", 9, &sound).await.json()["repeated"], true);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_clip_is_in_the_history_and_a_sender_that_counts_anew_is_told() {
    let service = Service::start().await;
    let local = service.client();
    for sequence in 0..=101 {
        assert_eq!(service.push(&local, "fan-2", sequence, &wav(1, 0, 1.0)).await.status, 202);
        // At once, without waiting for anything.
        let data = service.folder.path().join("data");
        let history = rusqlite::Connection::open(data.join("history.db")).unwrap();
        let clips: u32 =
            history.query_row("SELECT count(*) FROM clips", [], |row| row.get(0)).unwrap();
        assert_eq!(clips, sequence + 1);
    }
    let again = service.push(&local, "fan-2", 2, &wav(1, 0, 1.0)).await;
    assert_eq!(again.json()["repeated"], true);
    let anew = service.push(&local, "fan-2", 1, &wav(1, 0, 1.0)).await;
    anew.is_problem(409);
    assert!(anew.text().contains("102 is expected"), "{}", anew.text());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_become_clips_whatever_their_form() {
    let service = Service::start().await;
    let local = service.client();
    // Half a second each, as WAV and as raw samples of either order.
    let whole = wav(1, 0, 1.0);
    let samples = &whole[44..];
    let (first, second) = samples.split_at(samples.len() / 2);
    let swapped: Vec<u8> = second.chunks(2).flat_map(|it| [it[1], it[0]]).collect();
    let path = "/api/v1/sources/pump-7/audio";
    let one = local.with("x-auscult-sequence", "0");
    let little = "audio/x-raw;rate=16000;format=s16le;channels=1";
    assert_eq!(one.send_bytes(path, little, first).await.status, 202);
    let two = local.with("x-auscult-sequence", "1");
    assert_eq!(two.send_bytes(path, "audio/L16;rate=16000", &swapped).await.status, 202);
    let page = service
        .wait(&local, "/api/v1/machines/pump-7/clips", |it| {
            it["items"].as_array().unwrap().len() == 1
        })
        .await;
    let clip = &page["items"][0];
    assert_eq!((clip["seconds"].as_f64(), clip["path"].as_str()), (Some(1.0), Some("live")));
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_is_learnt_scored_explained_and_taught() {
    let service = Service::start().await;
    let local = service.client();
    let next = service.learn(&local).await;
    let machine = local.get("/api/v1/machines/pump-7").await.json();
    assert_eq!(machine["model"]["references"], 24);
    let promise = machine["promise"]["text"].as_str().unwrap();
    assert!(promise.contains("1 alarm per month is aimed at"), "{promise}");
    assert_eq!(machine["promise"]["holds"], json!(null), "two visits promise nothing");

    // What the service says of a clip is what the library says of the same file.
    let fresh = wav(1, 77, 3.0);
    let answer = local.send_bytes("/api/v1/machines/pump-7/score", "audio/wav", &fresh).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let scored = answer.json();
    let data = service.folder.path().join("data");
    let file = service.folder.path().join("fresh.wav");
    std::fs::write(&file, &fresh).unwrap();
    let model = Machine::open_with(data.join("models/pump-7/0001.auscult"), &FrontEnds::standard());
    let model = model.unwrap();
    let mut listening = model.listen(Sources::of([&file]).unwrap());
    let records: Vec<Value> = listening
        .by_ref()
        .map(|record| {
            let mut record = record.unwrap();
            "body".clone_into(&mut record.path);
            record.time = None;
            // Through text, as the service sends it, and without where the data folder is.
            let text = serde_json::to_string(&record).unwrap();
            let text = text.replace(&format!("{}/", data.display()), "");
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    assert_eq!(records.len(), 3);
    assert_eq!(scored["clips"], Value::from(records));
    let program = format!("auscult {}", env!("CARGO_PKG_VERSION"));
    let facts = listening.summary().facts(model.hash(), &program);
    assert_eq!(scored["run"], facts);
    assert_eq!(scored["schema"], 1);

    // A clip that is kept can be heard and seen, beside its closest normal clip.
    let clips = f64::from(next);
    let answer = service.push(&local, "pump-7", next, &wav(1, 99, 1.0)).await;
    assert_eq!(answer.status, 202);
    service.wait(&local, "/api/v1/machines/pump-7", |it| it["clips"].as_f64() > Some(clips)).await;
    let page = local.get("/api/v1/machines/pump-7/clips?limit=1").await.json();
    let clip = &page["items"][0];
    assert_eq!(clip["has_sound"], true, "{clip}");
    let step = clip["step"].as_u64().unwrap();
    assert_eq!(
        local.get(&format!("/api/v1/machines/pump-7/clips/{step}")).await.json()["step"],
        step
    );
    let path = format!("/api/v1/machines/pump-7/clips/{step}/sound");
    let sound = local.get(&path).await;
    assert_eq!(sound.headers["content-type"], "audio/wav");
    assert_eq!(sound.body.len(), 44 + 32_000);
    let part = local.with("range", "bytes=0-3").get(&path).await;
    assert_eq!((part.status, part.body.as_slice()), (206, &b"RIFF"[..]));
    assert_eq!(part.headers["content-range"], "bytes 0-3/32044");
    local.with("range", "bytes=99999999-").get(&path).await.is_problem(416);
    let picture = local.get(&path.replace("sound", "spectrogram")).await.json();
    let cells = picture["frames"].as_u64().unwrap() * picture["bins"].as_u64().unwrap();
    assert_eq!(picture["data"].as_str().unwrap().len() as u64, cells.div_ceil(3) * 4);
    assert_eq!(
        picture["hertz"].as_array().unwrap().len() as u64,
        picture["bins"].as_u64().unwrap() + 1
    );

    // Feedback, accepting with a look ahead, and undoing.
    let said = json!({"step": step, "verdict": "normal", "note": "it always sounds so"});
    let answer = local.post("/api/v1/machines/pump-7/feedback", &said).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        local.get("/api/v1/feedback?machine=pump-7").await.json()["items"][0]["who"],
        "local"
    );
    let waiting = local.get("/api/v1/machines/pump-7/waiting").await.json();
    assert_eq!(waiting["items"][0]["step"], step);
    assert_eq!(waiting["items"][0]["has_sound"], true);
    assert_eq!(local.get("/api/v1/waiting").await.json(), waiting, "one list for all machines");
    let accept = "/api/v1/machines/pump-7/waiting/accept";
    let look = local.post(accept, &json!({"steps": [step], "preview": true})).await.json();
    assert_eq!((&look["done"], &look["references_after"]), (&json!(false), &json!(25)));
    let done = local.post(accept, &json!({"steps": [step]})).await.json();
    assert_eq!((&done["done"], &done["references_after"]), (&json!(true), &json!(25)));
    assert_eq!(local.get("/api/v1/machines/pump-7/waiting").await.json()["items"], json!([]));
    let undone = local.post("/api/v1/machines/pump-7/models/rollback", &json!({})).await.json();
    assert_eq!(undone["references_after"], 24, "{undone}");
    assert_eq!(
        local.get("/api/v1/machines/pump-7/models").await.json()["items"].as_array().unwrap().len(),
        3
    );

    // The budget says what can be promised, and refuses what cannot.
    let budget = local.get("/api/v1/machines/pump-7/budget?alarms_per_month=1").await.json();
    assert_eq!(budget["scores"].as_array().unwrap().len(), 24);
    assert_eq!(budget["possible"], false, "twelve clips promise nothing: {}", budget["text"]);
    let body = json!({"alarms_per_month": 1});
    let refused = local.call(Method::PUT, "/api/v1/machines/pump-7/budget", &body).await;
    refused.is_problem(409);

    // The trend and the week.
    let trend = local.get("/api/v1/machines/pump-7/trend?width=31536000&from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z").await.json();
    let clips: i64 =
        trend["points"].as_array().unwrap().iter().map(|it| it["clips"].as_i64().unwrap()).sum();
    assert_eq!(clips, 25);
    assert!(!trend["events"].as_array().unwrap().is_empty());
    assert_eq!(trend["state"], json!(null), "nothing was known before it began");
    let later = local
        .get("/api/v1/machines/pump-7/trend?from=2099-01-01T00:00:00Z&to=2100-01-01T00:00:00Z");
    let (later, now) = (later.await.json(), local.get("/api/v1/machines/pump-7").await.json());
    assert_eq!((&later["state"], &later["events"]), (&now["state"], &json!([])));
    let week = local.get("/api/v1/exports/week?machine=pump-7").await;
    assert_eq!(week.status, 200, "{}", week.text());
    assert!(week.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    let export = local.get("/api/v1/exports/clips?format=csv&machine=pump-7").await;
    let text = export.text();
    assert_eq!(text.lines().count(), 1 + 25, "{text}");
    assert!(!text.contains(",/"), "where things are is nobody's business: {text}");
    assert_eq!(export.headers["content-disposition"], "attachment; filename=\"clips.csv\"");
    // Packed, it ends as well.
    let packed = local.with("accept-encoding", "gzip");
    for form in ["clips?format=csv", "events?format=jsonl"] {
        let export = packed.get(&format!("/api/v1/exports/{form}")).await;
        assert_eq!(export.status, 200, "{form}");
        assert!(!export.body.is_empty(), "{form}");
    }
    feedback_comes_in_parts(&local, step).await;
    let metrics = local.get("/metrics").await.text();
    assert!(metrics.contains("auscult_score{machine=\"pump-7\"}"), "{metrics}");
    service.stop().await;
}

/// Says more of a clip, and reads all that was said in parts, while more is said.
async fn feedback_comes_in_parts(client: &Client, step: u64) {
    let say = |verdict: &'static str| {
        let body = json!({"step": step, "verdict": verdict});
        async move { client.post("/api/v1/machines/pump-7/feedback", &body).await.status }
    };
    for verdict in ["fault", "not-running", "sensor-fault"] {
        assert_eq!(say(verdict).await, 200);
    }
    let mut verdicts = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/api/v1/feedback?machine=pump-7&limit=2{after}");
        let page = client.get(&path).await.json();
        for item in page["items"].as_array().unwrap() {
            verdicts.push(item["verdict"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
        if verdicts.len() == 2 {
            assert_eq!(say("fault").await, 200);
        }
    }
    assert_eq!(verdicts, ["sensor-fault", "not-running", "fault", "normal"], "each once");
    client.get("/api/v1/feedback?after=x").await.is_problem(422);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_day_is_listed_in_half_hours() {
    let service = Service::start().await;
    let local = service.client();
    let next = service.learn(&local).await;
    for (sequence, take) in [(next, 97), (next + 1, 98), (next + 2, 99)] {
        assert_eq!(service.push(&local, "pump-7", sequence, &wav(1, take, 1.0)).await.status, 202);
    }
    let clips = f64::from(next) + 2.0;
    service.wait(&local, "/api/v1/machines/pump-7", |it| it["clips"].as_f64() >= Some(clips)).await;
    let page = local.get("/api/v1/machines/pump-7/clips").await.json();
    let scores = page["items"].as_array().unwrap().iter().filter_map(|clip| clip["score"].as_f64());
    let scores: Vec<f64> = scores.collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    // Days are read when the service begins.
    let service = Service::with(crate::support::SITE, service.stop().await).await;
    let local = service.client();
    let day = |list: &Value, name: &str| {
        let items = list["items"].as_array().unwrap();
        let machine = items.iter().find(|machine| machine["name"] == name).unwrap();
        machine["day"].as_array().unwrap().clone()
    };
    let is_read = |list: &Value| day(list, "pump-7").len() == 48 && day(list, "fan-2").len() == 48;
    let list = service.wait(&local, "/api/v1/machines", is_read).await;
    assert!(day(&list, "fan-2").iter().all(Value::is_null), "it has heard nothing");
    let scored: Vec<f64> = day(&list, "pump-7").iter().filter_map(Value::as_f64).collect();
    // Midnight of a half hour may have come between two clips.
    assert!((1..=2).contains(&scored.len()), "{scored:?}");
    if let [scored] = scored[..] {
        assert!((scored / mean - 1.0).abs() < 0.01, "{scored} and {mean}");
    }
    assert!(day(&list, "pump-7")[..40].iter().all(Value::is_null), "it is at the end of the day");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_system_says_whether_a_machine_runs() {
    let service = Service::start().await;
    let local = service.client();
    let next = service.learn(&local).await;
    let path = "/api/v1/machines/pump-7/operating-state";
    let set = |state: &'static str| {
        let local = local.clone();
        async move { local.call(Method::PUT, path, &json!({ "state": state })).await }
    };
    assert_eq!(local.get("/api/v1/machines/pump-7").await.json()["operating_state"], json!(null));
    set("banana").await.is_problem(422);
    let answer = set("off").await;
    assert_eq!((answer.status, answer.json()), (200, json!({"text": "pump-7 is off"})));
    assert_eq!(service.push(&local, "pump-7", next, &wav(1, 99, 1.0)).await.status, 202);
    let machine = "/api/v1/machines/pump-7";
    let off = service.wait(&local, machine, |it| it["state"] == "not-running").await;
    assert_eq!(off["operating_state"], "off");
    // Said once, it holds over a restart.
    let service = Service::with(crate::support::SITE, service.stop().await).await;
    let local = service.client();
    assert_eq!(local.get(machine).await.json()["operating_state"], "off");
    let on = service.program(&[auscult_server::access::Scope::Push]);
    let on = on.call(Method::PUT, path, &json!({"state": "on"})).await;
    assert_eq!(on.status, 200, "{}", on.text());
    assert_eq!(service.push(&local, "pump-7", next + 1, &wav(1, 98, 1.0)).await.status, 202);
    service.wait(&local, machine, |it| it["state"] != "not-running").await;
    service.stop().await;
}

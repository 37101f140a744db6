use std::{convert::Infallible, time::Duration};

use axum::{body::Body, http::Method};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::support::{Service, wav};

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_in_queries_is_named() {
    let service = Service::start().await;
    let local = service.client();
    let of_pump = "/api/v1/machines/pump-7";
    for (path, status) in [
        ("/api/v1/machines?limit=0".to_owned(), 422),
        ("/api/v1/machines?since=yesterday".to_owned(), 400),
        ("/api/v1/events?since=yesterday".to_owned(), 400),
        ("/api/v1/audit?foo=1".to_owned(), 400),
        ("/api/v1/machines?limit=1001".to_owned(), 422),
        ("/api/v1/machines?limit=-1".to_owned(), 400),
        ("/api/v1/machines?limit=x".to_owned(), 400),
        ("/api/v1/machines?limit=1&limit=2".to_owned(), 400),
        ("/api/v1/machines?after=%00".to_owned(), 422),
        ("/api/v1/machines?after=bm90aGluZw".to_owned(), 422),
        ("/api/v1/machines?state=purple".to_owned(), 422),
        (format!("{of_pump}/trend?from=yesterday"), 422),
        (format!("{of_pump}/trend?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"), 422),
        (format!("{of_pump}/trend?width=0"), 422),
        (format!("{of_pump}/trend?width=-5"), 422),
        (format!("{of_pump}/trend?width=1&from=1970-01-01T00:00:00Z"), 422),
        (format!("{of_pump}/trend?from=9999-12-31T00:00:00Z"), 422),
        (format!("{of_pump}/clips?from=-2147481748-01-01T00:00:00Z"), 422),
        (format!("{of_pump}/clips/99999999999999999999999"), 404),
        (format!("{of_pump}/clips/-1"), 404),
        (format!("{of_pump}/clips/18446744073709551615"), 404),
        (format!("{of_pump}/clips/18446744073709551615/sound"), 404),
        (format!("{of_pump}/clips/1/sound?part=everything"), 422),
        (format!("{of_pump}/clips/1/spectrogram"), 404),
        (format!("{of_pump}/budget"), 400),
        (format!("{of_pump}/budget?alarms_per_month=0"), 422),
        (format!("{of_pump}/budget?alarms_per_month=NaN"), 422),
        (format!("{of_pump}/budget?alarms_per_month=inf"), 422),
        ("/api/v1/events?kind=party".to_owned(), 422),
        ("/api/v1/events?machine=nobody".to_owned(), 404),
        ("/api/v1/events/nothing".to_owned(), 404),
        ("/api/v1/events/nothing/page".to_owned(), 404),
        ("/api/v1/exports/clips?format=xls".to_owned(), 422),
        ("/api/v1/exports/clips".to_owned(), 400),
        ("/api/v1/exports/events?format=parquet".to_owned(), 422),
        ("/api/v1/exports/week?machine=nobody".to_owned(), 404),
        ("/api/v1/exports/week?machine=pump-7".to_owned(), 409),
        ("/api/v1/exports/week?machine=pump-7&days=0".to_owned(), 422),
        ("/api/v1/audit?after=x".to_owned(), 422),
    ] {
        let answer = local.get(&path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        answer.is_problem(status);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tricks_in_addresses_lead_nowhere() {
    let service = Service::start().await;
    let local = service.client();
    let folder = service.folder.path();
    std::fs::write(folder.join("secret.txt"), "do not show").unwrap();
    for path in [
        "/api/v1/machines/..",
        "/api/v1/machines/..%2f..%2fsecret.txt",
        "/api/v1/machines/%2e%2e/secret.txt",
        "/api/v1/machines/pump-7%00",
        "/api/v1/machines/pump-7%0d%0aSet-Cookie:x",
        "/api/v1/machines/%ff%fe",
        "/api/v1/machines/pump-7/clips/1%2f..%2f",
        "/api/v1/events/..%2faccess.db",
        "/api/v1/sources/..%5caccess.db",
        "/assets/..%2f..%2fCargo.toml",
        "/assets/../../Cargo.toml",
        "/..%2f..%2fetc%2fpasswd",
        "/secret.txt",
        "/access.db",
        "/api/v2/machines",
        "/api/",
    ] {
        let answer = local.get(path).await;
        assert!(answer.status == 404, "{path}: {} {}", answer.status, answer.text());
        assert!(!answer.text().contains("do not show"), "{path}");
        assert!(!answer.headers.contains_key("set-cookie"), "{path}");
    }
    // Names of machines with odd letters are cut short and never shown raw.
    let long = "x".repeat(5_000);
    let answer = local.get(&format!("/api/v1/machines/{long}")).await;
    answer.is_problem(404);
    assert!(answer.body.len() < 1_000);
    for (method, path) in [
        (Method::PUT, "/api/v1/machines"),
        (Method::DELETE, "/api/v1/events"),
        (Method::POST, "/healthz"),
        (Method::TRACE, "/api/v1/machines"),
    ] {
        let answer = local.call(method, path, &json!({})).await;
        answer.is_problem(405);
        assert!(answer.headers.contains_key("allow"), "{path}");
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_in_bodies_is_named() {
    let service = Service::start().await;
    let local = service.client();
    let post = |path: &'static str, body: Value| {
        let local = local.clone();
        async move { local.post(path, &body).await }
    };
    let pump = "/api/v1/machines/pump-7";
    for (path, body, status) in [
        ("/api/v1/machines", json!({}), 422),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "ouija"}}), 422),
        ("/api/v1/machines", json!({"name": "../a", "source": {"kind": "push"}}), 422),
        ("/api/v1/machines", json!({"name": "", "source": {"kind": "push"}}), 422),
        ("/api/v1/machines", json!({"name": "pump-7", "source": {"kind": "push"}}), 409),
        ("/api/v1/machines", json!({"name": "PUMP-7", "source": {"kind": "push"}}), 422),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "folder", "path": "x"}}), 422),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "folder", "path": "/not/there"}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "tcp", "address": "x", "sample_rate": 16000}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "push"}, "keep": "forever"}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "push"}, "alarms": "few"}),
            422,
        ),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "push"}, "channel": 0}), 422),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "push"}, "channel": 65}), 422),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "push"}, "visits": 0}), 422),
        ("/api/v1/machines", json!({"name": "a", "source": {"kind": "push"}, "clips": 1}), 422),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "push"}, "clips": u32::MAX}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "push"}, "preset": "x\n[server]"}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "folder", "path": "/\u{0}"}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "folder", "path": "/proc/self/mem"}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "folder", "path": format!("/{}", "a".repeat(5_000))}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "tcp", "address": "127.0.0.1:99999", "sample_rate": 16000}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "tcp", "address": "127.0.0.1:0", "sample_rate": 0}}),
            422,
        ),
        (
            "/api/v1/machines",
            json!({"name": "a", "source": {"kind": "rtsp", "url": "file:///etc/passwd"}}),
            422,
        ),
        ("/api/v1/users", json!({"name": "a", "role": "king", "password": "0123456789"}), 422),
        (
            "/api/v1/users",
            json!({"name": "a/b", "role": "administrator", "password": "0123456789"}),
            422,
        ),
        (
            "/api/v1/users",
            json!({"name": "local", "role": "administrator", "password": "0123456789"}),
            422,
        ),
        ("/api/v1/users", json!({"name": "a", "role": "administrator", "password": "short"}), 422),
        ("/api/v1/tokens", json!({"name": "a", "scopes": []}), 422),
        ("/api/v1/tokens", json!({"name": "a", "scopes": ["read"], "expires_days": 0}), 422),
        ("/api/v1/session", json!({"name": "a"}), 422),
    ] {
        let answer = post(path, body.clone()).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text());
        answer.is_problem(status);
    }
    for (end, body, status) in [
        ("shelve", json!({"minutes": 0, "reason": "x"}), 422),
        ("shelve", json!({"minutes": 1e300, "reason": "x"}), 422),
        ("shelve", json!({"minutes": 5, "reason": "  "}), 422),
        ("shelve", json!({"minutes": 5, "reason": "x".repeat(501)}), 422),
        ("shelve", json!({"minutes": "5", "reason": "x"}), 422),
        ("shelve", json!([]), 422),
        ("acknowledge", json!({"who": "me"}), 422),
        ("acknowledge", json!({}), 409),
        ("feedback", json!({"step": 1, "verdict": "odd"}), 422),
        ("feedback", json!({"step": 999, "verdict": "normal"}), 404),
        ("feedback", json!({"step": u64::MAX, "verdict": "normal"}), 404),
        ("feedback", json!({"step": -1, "verdict": "normal"}), 422),
        ("waiting/accept", json!({"steps": [1]}), 409),
        ("waiting/reject", json!({"steps": ["1"]}), 422),
        ("forget", json!({"visits": []}), 422),
        ("learn", json!({"now": "yes"}), 422),
        ("models/rollback", json!({"version": 7}), 409),
    ] {
        let answer = local.post(&format!("{pump}/{end}"), &body).await;
        assert_eq!(answer.status, status, "{end} {body}: {}", answer.text());
        answer.is_problem(status);
    }
    for body in ["{", "nonsense", "{\"minutes\":5", "\u{0}"] {
        let client = local.with("content-type", "application/json");
        let path = format!("{pump}/shelve");
        let request = client.request(Method::POST, &path, Body::from(body));
        let answer = client.send(request).await;
        answer.is_problem(400);
        assert!(answer.text().contains("line 1 column"), "{}", answer.text());
    }
    let huge = json!({"minutes": 5, "reason": "x".repeat(2 << 20)});
    local.post(&format!("{pump}/shelve"), &huge).await.is_problem(413);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let client = local.with("content-type", "application/json");
    let request = client.request(Method::POST, &format!("{pump}/shelve"), Body::from(deep));
    client.send(request).await.is_problem(422);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_in_place_of_sound_is_refused_and_leaves_nothing() {
    let text = format!("{}\n[server]\nbody = \"100kB\"", crate::support::SITE);
    let service = Service::with(&text, tempfile::tempdir().unwrap()).await;
    let local = service.client();
    let path = "/api/v1/sources/fan-2/audio";
    let good = wav(1, 0, 1.0);
    let mut cut = good.clone();
    cut.truncate(60);
    let mut lying = good.clone();
    lying[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut zero_rate = good.clone();
    zero_rate[24..28].copy_from_slice(&0_u32.to_le_bytes());
    let numbered = local.with("x-auscult-sequence", "0");
    for (kind, bytes, status) in [
        ("audio/wav", &b""[..], 422),
        ("audio/wav", b"RIFF", 422),
        ("audio/wav", b"nonsense", 422),
        ("audio/flac", b"fLaC", 422),
        ("audio/flac", &[0xff; 5_000], 422),
        ("audio/wav", &zero_rate, 422),
        ("audio/mpeg", &good, 415),
        ("application/json", b"{}", 415),
        ("audio/L16;rate=16000", b"odd", 422),
        ("audio/L16;rate=5", b"even", 422),
        ("audio/wav", &vec![0; 200_000], 413),
    ] {
        let answer = numbered.send_bytes(path, kind, bytes).await;
        assert_eq!(answer.status, status, "{kind} {}: {}", bytes.len(), answer.text());
        answer.is_problem(status);
    }
    // What there is of a broken recording is sound; the rest is not made up.
    for bytes in [&cut, &lying] {
        let answer = numbered.send_bytes(path, "audio/wav", bytes).await;
        assert!([202, 422].contains(&answer.status), "{}", answer.text());
    }
    for sequence in ["", "-1", "x", "9007199254740993", "1.5"] {
        let client = local.with("x-auscult-sequence", sequence);
        client.send_bytes(path, "audio/wav", &good).await.is_problem(422);
    }
    local.send_bytes(path, "audio/wav", &good).await.is_problem(422);
    local
        .with("x-auscult-sequence", "0")
        .send_bytes("/api/v1/sources/nobody/audio", "audio/wav", &good)
        .await
        .is_problem(404);
    let left = std::fs::read_dir(service.folder.path().join("data/incoming"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_stall_hold_nobody_up_and_leave_nothing() {
    let service = Service::start().await;
    let local = service.client();
    let stalled: Vec<_> = (0..40)
        .map(|sequence: u32| {
            let begun =
                futures_util::stream::once(async { Ok::<_, Infallible>(vec![0_u8; 70_000]) });
            let body = Body::from_stream(begun.chain(futures_util::stream::pending()));
            let client = local
                .with("x-auscult-sequence", &sequence.to_string())
                .with("content-type", "audio/wav");
            let request = client.request(Method::POST, "/api/v1/sources/fan-2/audio", body);
            tokio::spawn(async move { client.open(request).await.status() })
        })
        .collect();
    let folder = service.folder.path().join("data/incoming");
    let files = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let becomes = async |wanted: usize| {
        for _ in 0..200 {
            if files() == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{} files and not {wanted}", files());
    };
    becomes(40).await;
    let sound = wav(1, 0, 1.0);
    let answer = service.push(&local, "fan-2", 100, &sound);
    let answer = tokio::time::timeout(Duration::from_secs(10), answer).await;
    assert_eq!(answer.unwrap().status, 202, "nobody waits for those that stall");
    for one in &stalled {
        one.abort();
    }
    becomes(0).await;
    service.stop().await;
}

/// Numbers that look random and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Changes, cuts and doubles a few places of a body, most of them in its head.
fn damaged(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=chance.below(6) {
        let reach = if chance.below(3) > 0 { bytes.len().min(64) } else { bytes.len() };
        let at = chance.below(reach);
        match chance.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), chance.below(256) as u8),
            2 => bytes.extend_from_within(..at.min(bytes.len())),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff, chance.below(256) as u8][chance.below(6)];
                }
            }
        }
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_sound_is_taken_or_refused_and_never_a_failure() {
    let service = Service::start().await;
    let local = service.client();
    let whole = wav(1, 0, 0.3);
    let samples: Vec<f32> = (0..4_800).map(|at| (at as f32 * 0.05).sin() * 0.3).collect();
    let flac = auscult_report::flac(&samples, 16_000);
    let mut chance = Chance(7);
    let (mut taken, mut refused) = (0, 0);
    for sequence in 0..400 {
        let (kind, body) =
            if sequence % 2 == 0 { ("audio/wav", &whole) } else { ("audio/flac", &flac) };
        let body = damaged(body, &mut chance);
        let client = local.with("x-auscult-sequence", &sequence.to_string());
        let answer = client.send_bytes("/api/v1/sources/fan-2/audio", kind, &body).await;
        match answer.status {
            202 => taken += 1,
            413 | 422 => refused += 1,
            other => panic!("{other}: {}", answer.text()),
        }
    }
    assert!(taken > 20 && refused > 20, "{taken} taken, {refused} refused");
    assert_eq!(local.get("/readyz").await.status, 200);
    service.stop().await;
}

/// Hours of silence as FLAC, a dozen bytes for every 32,768 samples; how long it is stands nowhere in it.
fn packed_hours(hours: u64) -> Vec<u8> {
    const RATE: u64 = 4_000;
    const BLOCK: u64 = 32_768;
    let block = (BLOCK as u16).to_be_bytes();
    let mut flac = b"fLaC\x80\0\0\x22".to_vec();
    flac.extend([block, block].concat());
    flac.extend([0; 6]);
    // 20 bits of the rate, 3 of the channels less one, 5 of the bits less one, 36 of a length that is not known.
    flac.extend(((RATE << 44) | (15 << 36)).to_be_bytes());
    flac.extend([0; 16]);
    for number in 0..hours * 3_600 * RATE / BLOCK {
        let mut frame = vec![0xff, 0xf8, 0xf0, 0x08];
        // Counted as letters of UTF-8 are.
        let letter = char::from_u32(number as u32).unwrap();
        frame.extend(letter.encode_utf8(&mut [0; 4]).bytes());
        frame.push(checksum(&frame, 8, 0x07) as u8);
        // One constant for all samples.
        frame.extend([0, 0, 0]);
        let sum = checksum(&frame, 16, 0x8005);
        flac.extend(frame);
        flac.extend((sum as u16).to_be_bytes());
    }
    flac
}

/// The remainder of a division of polynomials, as FLAC has it.
fn checksum(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    let mut sum = 0;
    for byte in bytes {
        sum ^= u32::from(*byte) << (bits - 8);
        for _ in 0..8 {
            sum = if sum >> (bits - 1) & 1 == 1 { (sum << 1) ^ polynomial } else { sum << 1 };
        }
    }
    sum & ((1 << bits) - 1)
}

/// The most memory that this process ever took, where the system says so.
fn most_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().trim_end_matches(" kB").parse::<u64>().ok()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn sound_that_unpacks_to_hours_is_refused_soon_and_in_little_memory() {
    let service = Service::start().await;
    let local = service.client();
    service.learn(&local).await;
    // Something that can be read, so that it is the length which is refused.
    let short = packed_hours(1)[..42 + 20 * 11].to_vec();
    let answer = local.send_bytes("/api/v1/machines/pump-7/score", "audio/flac", &short).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let body = packed_hours(100);
    assert!(body.len() < 2_000_000, "{} bytes", body.len());
    let before = most_memory();
    let began = std::time::Instant::now();
    let score = local.send_bytes("/api/v1/machines/pump-7/score", "audio/flac", &body).await;
    score.is_problem(413);
    let numbered = local.with("x-auscult-sequence", "9000");
    let pushed = numbered.send_bytes("/api/v1/sources/pump-7/audio", "audio/flac", &body).await;
    pushed.is_problem(413);
    for answer in [score, pushed] {
        assert!(answer.text().contains("longer than"), "{}", answer.text());
    }
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    if let (Some(before), Some(after)) = (before, most_memory()) {
        let grown = (after - before) >> 20;
        assert!(grown < 200, "{grown} MiB for sound that takes 5 GiB");
    }
    assert_eq!(local.get("/readyz").await.status, 200);
    service.stop().await;
}

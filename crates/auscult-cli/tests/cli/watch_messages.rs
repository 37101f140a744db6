//! Who is told while a plant is watched: web addresses, and the system that started the monitor.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::Stdio,
    sync::mpsc,
    time::Duration,
};

use super::watch::{SITE, Watching, recording, with_site};

/// A web server that fails twice and then takes messages: gives each with its headers.
fn receiver() -> (u16, mpsc::Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if lines.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line.to_lowercase());
            }
            let mut body = vec![0; length];
            lines.read_exact(&mut body).unwrap();
            let status = if count < 2 { "503 Service Unavailable" } else { "204 No Content" };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            if count >= 2 && sender.send((head, String::from_utf8(body).unwrap())).is_err() {
                return;
            }
        }
    });
    (port, received)
}

#[test]
fn a_webhook_is_signed_repeated_until_taken_and_told_once() {
    let (port, received) = receiver();
    let site = format!(
        "{SITE}\n[[webhook]]\nurl = \"http://127.0.0.1:{port}/hook\"\nsecret_env = \"AUSCULT_TEST_SECRET\"\n\
         tells = [\"alarm\"]\n"
    );
    let sandbox = with_site(&site);
    let watching = Watching::start(&sandbox);
    for take in 0..4 {
        sandbox.write(&format!("in/{take}.wav"), recording(take, true));
    }
    let (head, body) = received.recv_timeout(Duration::from_secs(60)).unwrap();
    let event: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&event["to"], &event["machine"]), (&"alarm".into(), &"fan".into()));
    assert!(head.contains("x-auscult-signature: sha256="), "{head}");
    let key = format!("idempotency-key: {}", event["id"].as_str().unwrap());
    assert!(head.contains(&key), "{head}");
    watching.stop();
    // After a restart nothing is sent again.
    let watching = Watching::start(&sandbox);
    assert!(received.recv_timeout(Duration::from_millis(1_500)).is_err());
    watching.stop();
}

#[test]
#[cfg(target_os = "linux")]
fn the_system_is_told_that_it_is_ready_alive_and_stopping() {
    use std::os::unix::{fs::PermissionsExt, net::UnixDatagram};
    let sandbox = with_site(SITE);
    let socket = UnixDatagram::bind(sandbox.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut child = sandbox
        .command(["watch", "site.toml", "--data", "data", "--for", "3s"])
        .env("NOTIFY_SOCKET", sandbox.path("notify"))
        .env("WATCHDOG_USEC", "60000000")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last != "STOPPING=1") {
        let mut buffer = [0; 4_096];
        let count = socket.recv(&mut buffer).unwrap();
        let text = String::from_utf8_lossy(&buffer[..count]).trim().to_owned();
        if text == "READY=1" {
            let mode = std::fs::metadata(sandbox.path("data/control.sock")).unwrap().permissions();
            assert_eq!(mode.mode() & 0o777, 0o600, "only its owner may command it");
        }
        told.push(text);
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(told[0], "READY=1");
    assert!(told.iter().any(|text| text == "WATCHDOG=1"), "{told:?}");
}

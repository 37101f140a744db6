//! Servers of all kinds.

use std::{
    io::{BufRead, BufReader},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

const SOON: Patience = Patience {
    connect: Duration::from_secs(5),
    answer: Duration::from_millis(300),
    piece: Duration::from_millis(300),
    text: Duration::from_millis(300),
    whole: Duration::from_secs(60),
    pause: Duration::from_millis(1),
};

/// A server that does `answer` with every request and where it is to begin, and how many there were.
fn serve(answer: impl Fn(&mut TcpStream, usize) + Send + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut from = 0;
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for line in lines.map_while(io::Result::ok).take_while(|line| !line.is_empty()) {
                if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                    from = range.trim_end_matches('-').parse().unwrap();
                }
            }
            counter.fetch_add(1, Ordering::SeqCst);
            answer(&mut stream, from);
            // Held open where the answer did not end it.
            open.push(stream);
        }
    });
    (url, count)
}

fn fetch(url: &str, part: &Path) -> Result<()> {
    let remote = Remote { url, size: RemoteSize::AtMost(1 << 30), advice: "look elsewhere" };
    let fetcher = Fetcher::with_patience(url, Encryption::NotRequired, SOON).unwrap();
    fetcher.fetch(&remote, part, &mut |_, _| ControlFlow::Continue(()))
}

fn head(from: usize, length: usize) -> String {
    let status = if from == 0 { "200 OK" } else { "206 Partial Content" };
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n")
}

#[test]
fn a_server_that_stalls_is_left_and_what_it_sent_stays() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part");
    let (url, requests) = serve(|stream, from| {
        stream.write_all(head(from, 1000 - from).as_bytes()).unwrap();
        if from == 0 {
            stream.write_all(&[7; 100]).unwrap();
        }
    });
    let error = fetch(&url, &part).unwrap_err().to_string();
    assert!(error.contains("nothing has arrived for 0 s; look elsewhere"), "{error}");
    assert_eq!(std::fs::read(&part).unwrap(), [7; 100]);
    assert_eq!(requests.load(Ordering::SeqCst), 1 + ATTEMPTS as usize);
    // Nor is a server waited for that takes the connection and never answers.
    let (silent, _) = serve(|_, _| {});
    let error = fetch(&silent, &part).unwrap_err().to_string();
    assert!(error.contains("timeout"), "{error}");
    let fetcher = Fetcher::with_patience(&url, Encryption::NotRequired, SOON).unwrap();
    assert!(fetcher.text(&url, "look elsewhere").is_err());
}

#[test]
fn a_server_that_gives_a_byte_a_connection_is_not_asked_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("part");
    let (url, requests) = serve(|stream, from| {
        stream.write_all(head(from, 100_000 - from).as_bytes()).unwrap();
        stream.write_all(b"x").unwrap();
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    assert!(fetch(&url, &part).is_err());
    let asked = requests.load(Ordering::SeqCst);
    assert!((100..120).contains(&asked), "{asked}");
}

#[test]
fn addresses_without_encryption_are_refused_unless_the_caller_says_otherwise() {
    let error = Fetcher::new("http://example.org", Encryption::Required).unwrap_err();
    assert!(error.to_string().contains("does not begin with https://"), "{error}");
}

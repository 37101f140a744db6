//! Downloads, from a server of our own.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    ops::ControlFlow,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use auscult_eval::{
    datasets::{DatasetKind, DownloadSettings, RemoteFile, Year, download, plan},
    fetch::{Encryption, Fetcher, Remote, RemoteSize},
};

/// A record with one file; some connections break after a third of what they should send.
struct Server {
    address: String,
    requests: Arc<AtomicUsize>,
}

#[derive(Clone)]
struct Behaviour {
    name: &'static str,
    body: Vec<u8>,
    md5: &'static str,
    broken_connections: usize,
    knows_ranges: bool,
}

const BODY: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Of the body above.
const MD5: &str = "e9b1713db620f1e3a14b6812de523f4b";

impl Behaviour {
    fn whole() -> Self {
        let (body, md5) = (BODY.to_vec(), MD5);
        Self { name: "dev_fan.zip", body, md5, broken_connections: 0, knows_ranges: true }
    }
}

impl Server {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            let mut to_break = behaviour.broken_connections;
            for stream in listener.incoming().flatten() {
                answer(stream, &behaviour, &mut to_break, &counter);
            }
        });
        Self { address, requests }
    }

    fn settings(&self, folder: &Path) -> DownloadSettings {
        let encryption = Encryption::NotRequired;
        let (base_url, folder) = (self.address.clone(), folder.to_owned());
        DownloadSettings { base_url, folder, encryption, takes_unverified: false }
    }
}

fn answer(mut stream: TcpStream, is: &Behaviour, to_break: &mut usize, requests: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let mut from = 0;
    for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse().unwrap();
        }
    }
    let head = |status: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
    };
    if first.contains("/api/records/7882613") {
        let text = format!(
            r#"{{"files":[{{"key":"{}","size":{},"checksum":"md5:{}"}}]}}"#,
            is.name,
            is.body.len(),
            is.md5
        );
        let _ = stream.write_all((head("200 OK", text.len()) + &text).as_bytes());
        return;
    }
    if !first.contains(&format!("/records/7882613/files/{}", is.name)) || first.contains("other") {
        let _ = stream.write_all(head("404 Not Found", 0).as_bytes());
        return;
    }
    requests.fetch_add(1, Ordering::SeqCst);
    let (status, body) = if is.knows_ranges {
        ("206 Partial Content", &is.body[from..])
    } else {
        ("200 OK", &is.body[..])
    };
    let sent = if *to_break > 0 { body.len().div_ceil(3) } else { body.len() };
    *to_break = to_break.saturating_sub(1);
    let _ = stream.write_all(head(status, body.len()).as_bytes());
    let _ = stream.write_all(&body[..sent]);
}

fn file() -> RemoteFile {
    RemoteFile { record: 7_882_613, name: "dev_fan.zip".to_owned(), known_md5: None }
}

#[test]
fn a_file_arrives_whole_and_is_not_fetched_twice() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour::whole());
    let settings = server.settings(folder.path());
    let mut seen = Vec::new();
    let path = download(&file(), &settings, &mut |done, size| {
        seen.push((done, size));
        ControlFlow::Continue(())
    });
    assert_eq!(fs::read(path.unwrap()).unwrap(), BODY);
    assert_eq!(seen.last(), Some(&(36, 36)));
    download(&file(), &settings, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(server.requests.load(Ordering::SeqCst), 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left behind");
    // What lies there with the right size is looked at as well.
    fs::write(folder.path().join("dev_fan.zip"), BODY.to_ascii_uppercase()).unwrap();
    let error = download(&file(), &settings, &mut |_, _| ControlFlow::Continue(()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("was expected; it lies there already: remove it"), "{error}");
}

#[test]
fn a_broken_connection_is_taken_up_where_it_broke() {
    let folder = tempfile::tempdir().unwrap();
    // As long as each brings something, any number of connections may break.
    let server = Server::start(Behaviour { broken_connections: 7, ..Behaviour::whole() });
    let path =
        download(&file(), &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap();
    assert_eq!(fs::read(path).unwrap(), BODY);
    assert_eq!(server.requests.load(Ordering::SeqCst), 8);
}

#[test]
fn an_interrupted_download_goes_on_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour::whole());
    fs::write(folder.path().join("dev_fan.zip.part"), &BODY[..10]).unwrap();
    let mut first = None;
    let path = download(&file(), &server.settings(folder.path()), &mut |done, _| {
        first.get_or_insert(done);
        ControlFlow::Continue(())
    });
    assert_eq!(fs::read(path.unwrap()).unwrap(), BODY);
    assert_eq!(first, Some(10), "the first call is from where it goes on");
    let error = download(&file(), &server.settings(&folder.path().join("new")), &mut |_, _| {
        ControlFlow::Break(())
    });
    assert!(error.unwrap_err().to_string().contains("the next attempt goes on from there"));
    assert!(folder.path().join("new/dev_fan.zip.part").exists());
}

#[test]
fn a_server_that_cannot_go_on_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour { knows_ranges: false, ..Behaviour::whole() });
    fs::write(folder.path().join("dev_fan.zip.part"), b"xxxxxxxxxx").unwrap();
    let path =
        download(&file(), &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap();
    assert_eq!(fs::read(path).unwrap(), BODY);
}

#[test]
fn wrong_bytes_are_noticed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut body = BODY.to_vec();
    body[5] = b'!';
    let server = Server::start(Behaviour { body, ..Behaviour::whole() });
    let error =
        download(&file(), &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(error.to_string().contains(&format!("{MD5} was expected")), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_revision_goes_before_the_first_form_and_unknown_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour { name: "dev_fan_r2.zip", ..Behaviour::whole() });
    let path =
        download(&file(), &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap();
    assert!(path.ends_with("dev_fan_r2.zip"));
    let other = RemoteFile { name: "dev_pump.zip".to_owned(), ..file() };
    let error =
        download(&other, &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(error.to_string().contains("the record has no dev_pump.zip"), "{error}");
    let other = RemoteFile { record: 1, ..file() };
    let error =
        download(&other, &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(error.to_string().contains("answers 404"), "{error}");
}

#[test]
fn another_checksum_than_the_known_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour::whole());
    let file = RemoteFile { known_md5: Some("9348591e96fb0ad499a1e33b082562fc"), ..file() };
    let error =
        download(&file, &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(error.to_string().contains("9348591e96fb0ad499a1e33b082562fc was expected"), "{error}");
    // A record that tells no checksum does not make the known one void.
    let server = Server::start(Behaviour { md5: "", ..Behaviour::whole() });
    let error =
        download(&file, &server.settings(folder.path()), &mut |_, _| ControlFlow::Continue(()))
            .unwrap_err();
    assert!(error.to_string().contains(&format!("its MD5 is {MD5}")), "{error}");
}

#[test]
fn what_cannot_be_trusted_is_taken_only_if_the_caller_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour { md5: "", ..Behaviour::whole() });
    let fetch = |settings: &DownloadSettings| {
        download(&file(), settings, &mut |_, _| ControlFlow::Continue(()))
    };
    let settings = server.settings(folder.path());
    let error = fetch(&settings).unwrap_err().to_string();
    assert_eq!(error, "cannot verify dev_fan.zip: nobody says which checksum it must have");
    let encrypted = DownloadSettings { encryption: Encryption::Required, ..settings.clone() };
    let error = fetch(&encrypted).unwrap_err().to_string();
    assert!(error.contains("does not begin with https://"), "{error}");
    assert_eq!(server.requests.load(Ordering::SeqCst), 0);
    let path = fetch(&DownloadSettings { takes_unverified: true, ..settings }).unwrap();
    assert_eq!(fs::read(path).unwrap(), BODY);
}

#[test]
fn a_file_of_unknown_size_is_fetched_unless_it_is_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour { broken_connections: 2, ..Behaviour::whole() });
    let url = format!("{}/records/7882613/files/dev_fan.zip", server.address);
    let part = folder.path().join("part");
    let fetch = |url: &str, most| {
        let remote = Remote { url, size: RemoteSize::AtMost(most), advice: "look elsewhere" };
        let fetcher = Fetcher::new(url, Encryption::NotRequired).unwrap();
        fetcher.fetch(&remote, &part, &mut |_, _| ControlFlow::Continue(()))
    };
    let error = fetch(&url, 35).unwrap_err().to_string();
    assert!(error.contains("has 36 bytes or more, and nothing wanted here has more"), "{error}");
    assert!(error.ends_with("; look elsewhere"), "{error}");
    fetch(&url, 36).unwrap();
    assert_eq!(fs::read(&part).unwrap(), BODY);
    let error = fetch(&format!("{url}.other"), 36).unwrap_err().to_string();
    assert!(error.ends_with("the server answers 404; look elsewhere"), "{error}");
}

#[test]
fn plans_name_the_published_files() {
    let names = |kind, sets: &[&str], machines: &[&str]| -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let plan = plan(kind, &owned(sets), &owned(machines)).unwrap();
        plan.files.into_iter().map(|file| file.name).collect()
    };
    let year = DatasetKind::Dcase;
    assert_eq!(names(year(Year::Y2023), &["dev"], &["fan"]), ["dev_fan.zip"]);
    assert_eq!(
        names(year(Year::Y2020), &["eval"], &["fan"]),
        ["eval_data_train_fan.zip", "eval_data_test_fan.zip"]
    );
    assert_eq!(
        names(year(Year::Y2024), &["eval"], &["Scanner"]),
        ["eval_data_Scanner_train.zip", "eval_data_Scanner_test.zip"]
    );
    assert_eq!(names(DatasetKind::Mimii, &["min6dB"], &["pump"]), ["-6_dB_pump.zip"]);
    assert_eq!(names(year(Year::Y2023), &[], &[]).len(), 21);
    let error = plan(year(Year::Y2023), &[], &["pump".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("no machine \"pump\"; there are ToyCar"), "{error}");
}

//! Fetching: large files over HTTP, resumed where they broke off and compared with checksums.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use md5::{Digest, Md5};
use sha2::Sha256;
use ureq::{
    Agent,
    http::Response,
    tls::{Certificate, RootCerts, TlsConfig},
};

/// The result of fetching.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot be reached, or sends something else.
    #[error("cannot fetch {url}: {reason}")]
    Download {
        /// What was requested.
        url: String,
        /// What went wrong, and what to do.
        reason: String,
    },
    /// Its address is not encrypted: anybody on the way could change what arrives.
    #[error(
        "cannot fetch {url}: its address does not begin with https://, so anybody on the way could change what arrives"
    )]
    NotEncrypted {
        /// What was requested.
        url: String,
    },
    /// Nobody says which checksum the file must have.
    #[error("cannot verify {url}: nobody says which checksum it must have")]
    Unverified {
        /// What was requested.
        url: String,
    },
    /// The caller stopped it.
    #[error(
        "cannot fetch {url}: stopped; what has arrived stays, and the next attempt goes on from there"
    )]
    Stopped {
        /// What was requested.
        url: String,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A file somewhere else.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a> {
    /// Its address.
    pub url: &'a str,
    /// How many bytes it has.
    pub size: RemoteSize,
    /// What to do if it cannot be fetched; a half-sentence.
    pub advice: &'a str,
}

/// What is known of a file's size before it is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteSize {
    /// This many bytes.
    Known(u64),
    /// As many as the server says, or sends; more than this is refused.
    AtMost(u64),
}

impl RemoteSize {
    fn refuse_more(self, bytes: u64) -> std::result::Result<(), Failure> {
        match self {
            Self::AtMost(most) if bytes > most => Err(Failure::Refused(format!(
                "it has {bytes} bytes or more, and nothing wanted here has more than {most}"
            ))),
            _ => Ok(()),
        }
    }
}

/// Is called with the bytes that have arrived, first of all with those of an earlier attempt, and
/// the bytes there are (0 if unknown); may stop the fetch.
pub type FetchProgress<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// Whether what is fetched must come over an encrypted connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encryption {
    /// Addresses without https are refused, also those a server leads to.
    #[default]
    Required,
    /// The caller trusts the network, or compares a checksum that came another way.
    NotRequired,
}

/// A client for one host.
#[derive(Debug)]
pub struct Fetcher {
    agent: Agent,
    patience: Patience,
}

/// How long a server is waited for.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Until it takes a connection.
    connect: Duration,
    /// Until it begins to answer.
    answer: Duration,
    /// Until the next piece of a file arrives.
    piece: Duration,
    /// Until a page of text, or one connection's part of a file, is there.
    text: Duration,
    whole: Duration,
    /// Before the next connection; doubled by each that brings next to nothing.
    pause: Duration,
}

const PATIENCE: Patience = Patience {
    connect: Duration::from_secs(20),
    answer: Duration::from_secs(30),
    piece: Duration::from_secs(30),
    text: Duration::from_secs(60),
    whole: Duration::from_secs(24 * 3_600),
    pause: Duration::from_millis(100),
};

/// How often whoever waits looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(100);

/// Why one connection did not bring the whole file.
enum Failure {
    /// Trying again may help.
    Broken(String),
    /// Trying again will not help.
    Refused(String),
    /// The caller stopped it.
    Stopped,
    /// This machine.
    Here(Error),
}

/// How often a connection that brings next to nothing is tried again.
const ATTEMPTS: u32 = 5;

/// Less than this, and than a hundredth of what was there before, is next to nothing.
const ENOUGH: u64 = 1 << 16;

impl Fetcher {
    /// A client for an address; with `https` it trusts the certificates of this system.
    ///
    /// # Errors
    ///
    /// [`Error::NotEncrypted`] if encryption is required and the address has none, [`Error::Download`] if the system has no
    /// certificates.
    pub fn new(address: &str, encryption: Encryption) -> Result<Self> {
        Self::with_patience(address, encryption, PATIENCE)
    }

    fn with_patience(address: &str, encryption: Encryption, patience: Patience) -> Result<Self> {
        let is_encrypted = address.starts_with("https:");
        let is_required = encryption == Encryption::Required;
        if is_required && !is_encrypted {
            return Err(Error::NotEncrypted { url: address.to_owned() });
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(is_required)
            .timeout_connect(Some(patience.connect))
            .timeout_recv_response(Some(patience.answer))
            .timeout_recv_body(Some(patience.whole));
        if is_encrypted {
            let found = rustls_native_certs::load_native_certs();
            if found.certs.is_empty() {
                let reason = "this system has no root certificates; install ca-certificates";
                return Err(Error::Download { url: address.to_owned(), reason: reason.to_owned() });
            }
            let certificates: Vec<Certificate<'static>> =
                found.certs.iter().map(|found| Certificate::from_der(found).to_owned()).collect();
            let roots = RootCerts::Specific(Arc::new(certificates));
            // The provider must be the process's before the first connection; a second is not needed.
            let _ = rustls::crypto::ring::default_provider().install_default();
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(Self { agent: config.build().new_agent(), patience })
    }

    /// A page of text.
    ///
    /// # Errors
    ///
    /// [`Error::Download`] if there is none, with `advice`.
    pub fn text(&self, url: &str, advice: &str) -> Result<String> {
        let failed = |reason: String| Error::Download {
            url: url.to_owned(),
            reason: format!("{reason}; {advice}"),
        };
        let request =
            self.agent.get(url).config().timeout_recv_body(Some(self.patience.text)).build();
        let mut response = request.call().map_err(|error| failed(error.to_string()))?;
        if response.status() != 200 {
            return Err(failed(format!("the server answers {}", response.status())));
        }
        response.body_mut().read_to_string().map_err(|error| failed(error.to_string()))
    }

    /// A file of at most `most` bytes, into memory. What breaks off is asked for again, from its start, a few times.
    ///
    /// # Errors
    ///
    /// [`Error::Download`] if there is none, or it is larger, with `advice`.
    pub fn bytes(&self, url: &str, most: u64, advice: &str) -> Result<Vec<u8>> {
        let mut failures = 0;
        loop {
            match self.bytes_once(url, most) {
                Ok(bytes) => return Ok(bytes),
                Err(Failure::Broken(_)) if failures + 1 < ATTEMPTS => {}
                Err(Failure::Here(error)) => return Err(error),
                Err(Failure::Stopped) => return Err(Error::Stopped { url: url.to_owned() }),
                Err(Failure::Refused(reason) | Failure::Broken(reason)) => {
                    let reason = format!("{reason}; {advice}");
                    return Err(Error::Download { url: url.to_owned(), reason });
                }
            }
            failures += 1;
            thread::sleep(self.patience.pause * 2_u32.pow(failures));
        }
    }

    fn bytes_once(&self, url: &str, most: u64) -> std::result::Result<Vec<u8>, Failure> {
        let broken = |error: ureq::Error| Failure::Broken(error.to_string());
        let request = self.agent.get(url).config();
        let request = request.timeout_recv_body(Some(10 * self.patience.text)).build();
        let mut response = request.call().map_err(|error| match error {
            ureq::Error::RequireHttpsOnly(_) => Failure::Refused(error.to_string()),
            error => broken(error),
        })?;
        match response.status().as_u16() {
            200 => {}
            status if status < 500 => {
                return Err(Failure::Refused(format!("the server answers {status}")));
            }
            status => return Err(Failure::Broken(format!("the server answers {status}"))),
        }
        let size = RemoteSize::AtMost(most);
        let announced = response.body().content_length();
        size.refuse_more(announced.unwrap_or(0))?;
        let body = response.body_mut().with_config().limit(most + 1);
        let bytes = body.read_to_vec().map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => {
                size.refuse_more(most + 1).err().unwrap_or(broken(error))
            }
            error => broken(error),
        })?;
        size.refuse_more(bytes.len() as u64)?;
        match announced {
            Some(announced) if announced > bytes.len() as u64 => {
                Err(Failure::Broken(format!("{} of {announced} bytes arrived", bytes.len())))
            }
            _ => Ok(bytes),
        }
    }

    /// Fetches what is missing of a file into `part`. A connection that breaks off is taken up where
    /// it broke, as long as each brings something worth a connection.
    ///
    /// # Errors
    ///
    /// [`Error::Download`] if the server cannot be reached, sends nothing for half a minute or sends something else,
    /// [`Error::Write`] if the disk is full. What has arrived stays, for the next time.
    pub fn fetch(
        &self,
        remote: &Remote<'_>,
        part: &Path,
        progress: &mut FetchProgress<'_>,
    ) -> Result<()> {
        let Remote { url, advice, .. } = remote;
        let failed = |reason: String| Error::Download { url: (*url).to_owned(), reason };
        let mut failures = 0;
        let began = Instant::now();
        loop {
            let before = length(part);
            let broken = match self.connect(remote, part, progress) {
                Ok(()) => return Ok(()),
                Err(Failure::Broken(reason)) => reason,
                Err(Failure::Refused(reason)) => {
                    return Err(failed(format!("{reason}; {advice}")));
                }
                Err(Failure::Stopped) => return Err(Error::Stopped { url: (*url).to_owned() }),
                Err(Failure::Here(error)) => return Err(error),
            };
            let brought = length(part).saturating_sub(before);
            let is_worth_it = brought > 0 && (brought >= ENOUGH || brought * 100 >= before);
            failures = if is_worth_it { 0 } else { failures + 1 };
            if failures == ATTEMPTS || began.elapsed() > self.patience.whole {
                return Err(failed(format!("{broken}; {advice}")));
            }
            thread::sleep(self.patience.pause * 2_u32.pow(failures));
        }
    }

    /// One connection.
    fn connect(
        &self,
        remote: &Remote<'_>,
        part: &Path,
        progress: &mut FetchProgress<'_>,
    ) -> std::result::Result<(), Failure> {
        let here = |source| Failure::Here(Error::Write { path: part.to_owned(), source });
        if let RemoteSize::Known(size) = remote.size {
            if length(part) == size {
                // All of it is here: there is nothing to stop.
                let _ = progress(size, size);
                return Ok(());
            }
            if length(part) > size {
                fs::remove_file(part).map_err(here)?;
            }
        }
        let have = length(part);
        let mut request = self.agent.get(remote.url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| match error {
            // A server led to an address without encryption.
            ureq::Error::RequireHttpsOnly(_) => Failure::Refused(error.to_string()),
            error => Failure::Broken(error.to_string()),
        })?;
        let mut options = OpenOptions::new();
        let (start, output) = match response.status().as_u16() {
            206 => (have, options.create(true).append(true).open(part)),
            // The server does not know how to go on: from the start.
            200 => (0, options.create(true).write(true).truncate(true).open(part)),
            // Nothing beyond what is here: this is all, if nobody says that it is too much.
            416 if have > 0 && whole_size(&response).is_none_or(|size| size == have) => {
                return Ok(());
            }
            416 if have > 0 => {
                fs::remove_file(part).map_err(here)?;
                return Err(Failure::Broken(
                    "the partial file here was not a part of it".to_owned(),
                ));
            }
            status if status < 500 => {
                return Err(Failure::Refused(format!("the server answers {status}")));
            }
            status => return Err(Failure::Broken(format!("the server answers {status}"))),
        };
        let announced = response.body().content_length().map(|rest| start + rest);
        let (size, most) = match remote.size {
            RemoteSize::Known(size) => (Some(size), size),
            RemoteSize::AtMost(most) => (announced, most.saturating_add(1)),
        };
        remote.size.refuse_more(announced.unwrap_or(0))?;
        let input = response.into_body().into_with_config().limit(u64::MAX).reader();
        let pieces = read_ahead(input.take(most.saturating_sub(start))).map_err(here)?;
        let mut output = output.map_err(here)?;
        let mut done = start;
        let mut waited = Duration::ZERO;
        while progress(done, size.unwrap_or(0)).is_continue() {
            match pieces.recv_timeout(LOOK) {
                Ok(Ok(piece)) => {
                    output.write_all(&piece).map_err(here)?;
                    done += piece.len() as u64;
                    waited = Duration::ZERO;
                }
                Ok(Err(error)) => return Err(Failure::Broken(error.to_string())),
                Err(RecvTimeoutError::Timeout) => {
                    waited += LOOK;
                    if waited >= self.patience.piece {
                        let seconds = waited.as_secs_f64();
                        let reason = format!("nothing has arrived for {seconds:.0} s");
                        return Err(Failure::Broken(reason));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    output.sync_all().map_err(here)?;
                    remote.size.refuse_more(done)?;
                    return match size {
                        Some(size) if done != size => Err(Failure::Broken(format!(
                            "the connection ended after {done} of {size} bytes"
                        ))),
                        _ => Ok(()),
                    };
                }
            }
        }
        Err(Failure::Stopped)
    }
}

/// Reads on a thread of its own, a few pieces ahead: a server that says nothing can be left, and so can one whose file is not
/// wanted any more. The end of the input closes the channel.
fn read_ahead(mut input: impl Read + Send + 'static) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
    let (sender, pieces) = sync_channel(4);
    let read = move || {
        loop {
            let mut piece = vec![0; 1 << 16];
            let read = match input.read(&mut piece) {
                Ok(0) => return,
                Ok(count) => {
                    piece.truncate(count);
                    Ok(piece)
                }
                Err(error) => Err(error),
            };
            let is_over = read.is_err();
            // Nobody may be left to take it.
            if sender.send(read).is_err() || is_over {
                return;
            }
        }
    };
    thread::Builder::new().name("fetch".to_owned()).spawn(read)?;
    Ok(pieces)
}

/// What a refused range says of the whole: `bytes */36`.
fn whole_size<B>(response: &Response<B>) -> Option<u64> {
    let range = response.headers().get("content-range")?.to_str().ok()?;
    range.rsplit_once('/')?.1.parse().ok()
}

fn length(part: &Path) -> u64 {
    part.metadata().map_or(0, |found| found.len())
}

/// How a file's bytes are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// As Zenodo does.
    Md5,
    /// As most others do.
    Sha256,
}

impl Checksum {
    /// The sum of a file, in hexadecimal digits.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the file cannot be read.
    pub fn of(self, path: &Path) -> Result<String> {
        match self {
            Self::Md5 => sum::<Md5>(path),
            Self::Sha256 => sum::<Sha256>(path),
        }
    }

    /// The sum of bytes, in hexadecimal digits.
    ///
    /// ```
    /// use auscult::fetch::Checksum;
    ///
    /// assert_eq!(Checksum::Md5.of_bytes(b""), "d41d8cd98f00b204e9800998ecf8427e");
    /// ```
    pub fn of_bytes(self, bytes: &[u8]) -> String {
        match self {
            Self::Md5 => hexadecimal(&Md5::digest(bytes)),
            Self::Sha256 => hexadecimal(&Sha256::digest(bytes)),
        }
    }
}

fn sum<D: Digest>(path: &Path) -> Result<String> {
    let wrong = |source| Error::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(wrong)?;
    let mut hasher = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(wrong)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    Ok(hexadecimal(&hasher.finalize()))
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests;

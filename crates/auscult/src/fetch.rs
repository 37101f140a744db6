//! Fetching: large files over HTTP, resumed where they broke off and compared with checksums.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
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

/// A client for one host.
#[derive(Debug)]
pub struct Fetcher(Agent);

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

/// How often a connection that brings nothing is tried again.
const ATTEMPTS: usize = 4;

/// The pause before that.
const PAUSE: Duration = Duration::from_millis(300);

impl Fetcher {
    /// A client for an address; with `https` it trusts the certificates of this system.
    ///
    /// # Errors
    ///
    /// [`Error::Download`] if the system has none.
    pub fn new(address: &str) -> Result<Self> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(30)))
            .timeout_recv_response(Some(Duration::from_secs(60)));
        if address.starts_with("https:") {
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
        Ok(Self(config.build().new_agent()))
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
        let mut response = self.0.get(url).call().map_err(|error| failed(error.to_string()))?;
        if response.status() != 200 {
            return Err(failed(format!("the server answers {}", response.status())));
        }
        response.body_mut().read_to_string().map_err(|error| failed(error.to_string()))
    }

    /// Fetches what is missing of a file into `part`. A connection that breaks off is taken up where
    /// it broke, as long as each brings something.
    ///
    /// # Errors
    ///
    /// [`Error::Download`] if the server cannot be reached or sends something else, [`Error::Write`]
    /// if the disk is full. What has arrived stays, for the next time.
    pub fn fetch(
        &self,
        remote: &Remote<'_>,
        part: &Path,
        progress: &mut FetchProgress<'_>,
    ) -> Result<()> {
        let Remote { url, advice, .. } = remote;
        let failed = |reason: String| Error::Download { url: (*url).to_owned(), reason };
        let mut failures = 0;
        loop {
            let before = length(part);
            match self.connect(remote, part, progress) {
                Ok(()) => return Ok(()),
                Err(Failure::Broken(_)) if length(part) > before => failures = 0,
                Err(Failure::Broken(_)) if failures < ATTEMPTS => {
                    failures += 1;
                    thread::sleep(PAUSE);
                }
                Err(Failure::Broken(reason) | Failure::Refused(reason)) => {
                    return Err(failed(format!("{reason}; {advice}")));
                }
                Err(Failure::Stopped) => return Err(Error::Stopped { url: (*url).to_owned() }),
                Err(Failure::Here(error)) => return Err(error),
            }
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
        let mut request = self.0.get(remote.url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let mut response = request.call().map_err(|error| Failure::Broken(error.to_string()))?;
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
        let input = response.body_mut().with_config().limit(u64::MAX).reader();
        let mut input = input.take(most.saturating_sub(start));
        let mut output = output.map_err(here)?;
        let mut buffer = vec![0; 1 << 16];
        let mut done = start;
        while progress(done, size.unwrap_or(0)).is_continue() {
            let count =
                input.read(&mut buffer).map_err(|error| Failure::Broken(error.to_string()))?;
            if count == 0 {
                output.sync_all().map_err(here)?;
                remote.size.refuse_more(done)?;
                return match size {
                    Some(size) if done != size => Err(Failure::Broken(format!(
                        "the connection ended after {done} of {size} bytes"
                    ))),
                    _ => Ok(()),
                };
            }
            output.write_all(&buffer[..count]).map_err(here)?;
            done += count as u64;
        }
        Err(Failure::Stopped)
    }
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

//! The service from its start to its end: connections, TLS, and the monitor beside it.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use auscult::Cancel;
use auscult_monitor::{
    run,
    running::{Watching, begin, block_on},
    site::Site,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::{
    access::{AccessError, Store},
    logs::LogRing,
    policy::{Peer, Policy},
    state::{App, Exporter, Settings},
};

/// How a service is run.
pub struct Serve {
    /// What is watched.
    pub site: Site,
    /// How the monitor is run.
    pub monitor: run::Settings,
    /// How long, and from which file.
    pub watching: Watching,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Its log.
    pub logs: LogRing,
    /// How clips are exported.
    pub exporter: Option<Exporter>,
    /// Whether the plant is the synthetic one.
    pub is_demo: bool,
    /// Told where it listens, once it does.
    pub ready: Box<dyn FnOnce(&str) + Send>,
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Serve").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// Why a service cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It would be open to the network.
    #[error("{listen} can be reached from other computers, and there is nobody who could log in")]
    Unguarded {
        /// Where it was to listen.
        listen: SocketAddr,
    },
    /// The address cannot be used.
    #[error("cannot listen at {listen}: {source}")]
    Listen {
        /// Where.
        listen: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// A certificate or key cannot be used.
    #[error("{path} cannot be used for TLS: {reason}")]
    Tls {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Users and tokens cannot be read.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The monitor cannot run.
    #[error(transparent)]
    Monitor(#[from] auscult_monitor::Error),
}

/// How long a client may take to send the head of a request, or to stay idle.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long a handshake may take.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// How long connections may go on when the service stops.
const END_TIME: Duration = Duration::from_secs(1);

/// How often certificates are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Runs a monitor and the service beside it until they are stopped: the entry of `auscult serve`.
///
/// # Errors
///
/// If it would be open to the network without anybody who could log in, the address or a certificate cannot be used,
/// or the monitor cannot start.
pub fn serve(serve: Serve) -> Result<(), ServeError> {
    block_on(run(serve))
}

async fn run(serve: Serve) -> Result<(), ServeError> {
    let Serve { site, monitor, watching, listen, logs, exporter, is_demo, ready } = serve;
    let store = Store::open(monitor.data.root())?;
    if !listen.ip().is_loopback() && !store.is_guarded()? {
        return Err(ServeError::Unguarded { listen });
    }
    let tls = Tls::of(&site)?;
    let failed = |source| ServeError::Listen { listen, source };
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let listen = listener.local_addr().map_err(failed)?;
    let most = site.server.connections;
    let policy = Policy::new(listen, &site);
    let cancel = watching.cancel.clone();
    let (handle, running) = begin(site, monitor, watching).await?;
    crate::upload::clear(&handle.settings().data);
    store.forget_running()?;
    let app = App::new(Settings { monitor: handle, store, policy, logs, exporter, is_demo });
    let (stop, stopped) = watch::channel(false);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{listen}");
    tracing::info!("serving {url}");
    let connections = Connections {
        router: crate::app(app),
        tls,
        permits: Arc::new(Semaphore::new(most.max(1))),
        stopped,
    };
    let accepting = tokio::spawn(connections.accept(listener, cancel));
    ready(&url);
    let ended = running.await;
    let _ = stop.send(true);
    // Whoever still reads has a moment to end.
    let _ = tokio::time::timeout(END_TIME, accepting).await;
    Ok(ended.map_err(|_| auscult_monitor::Error::Stopping)??)
}

/// Takes connections and gives their requests to the service.
struct Connections {
    router: axum::Router,
    tls: Option<Arc<Tls>>,
    permits: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
}

impl Connections {
    async fn accept(self, listener: TcpListener, cancel: Cancel) {
        let mut stopped = self.stopped.clone();
        let permits = Arc::clone(&self.permits);
        let most = permits.available_permits();
        loop {
            // When all are taken, the next ones wait in the system's queue.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stopped.changed() => break,
            };
            let Ok((stream, peer)) = accepted else {
                // Too many open files: others have to end first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            if cancel.is_cancelled() {
                break;
            }
            prepare(&stream);
            let (router, tls, stopped) = (self.router.clone(), self.tls.clone(), stopped.clone());
            tokio::spawn(async move {
                match tls {
                    None => converse(stream, peer, router, stopped).await,
                    Some(tls) => {
                        let shaken = TlsAcceptor::from(tls.config()).accept(stream);
                        if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIME, shaken).await {
                            converse(stream, peer, router, stopped).await;
                        }
                    }
                }
                drop(permit);
            });
        }
        // All of them again: every connection has ended.
        let _ = permits.acquire_many(u32::try_from(most).unwrap_or(u32::MAX)).await;
    }
}

/// Answers are small and wanted at once, and a client that is gone without a word must not be waited for.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
        let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, 60_000);
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: axum::Router,
    mut stopped: watch::Receiver<bool>,
) {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        router.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // Clients come and go as they like.
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(END_TIME, connection).await;
        }
    }
}

/// Certificates and key from files, read again when they change.
struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    fn of(site: &Site) -> Result<Option<Arc<Self>>, ServeError> {
        let server = &site.server;
        let (Some(certificate), Some(key)) = (&server.tls_certificate, &server.tls_key) else {
            return Ok(None);
        };
        let config = RwLock::new(read(certificate, key)?);
        let tls = Arc::new(Self { certificate: certificate.clone(), key: key.clone(), config });
        tokio::spawn(Arc::clone(&tls).watch());
        Ok(Some(tls))
    }

    fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn watch(self: Arc<Self>) {
        let facts = |path: &PathBuf| -> Option<(SystemTime, u64)> {
            let facts = std::fs::metadata(path).ok()?;
            Some((facts.modified().ok()?, facts.len()))
        };
        let look = || (facts(&self.certificate), facts(&self.key));
        let mut seen = look();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = look();
            if now == seen {
                continue;
            }
            seen = now;
            match read(&self.certificate, &self.key) {
                Ok(config) => {
                    *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
                    tracing::info!("the certificate was read again");
                }
                Err(error) => {
                    tracing::error!(%error, "the new certificate cannot be used; the old one goes on");
                }
            }
        }
    }
}

fn read(certificate: &PathBuf, key: &PathBuf) -> Result<Arc<ServerConfig>, ServeError> {
    let failed = |path: &PathBuf, reason: String| ServeError::Tls { path: path.clone(), reason };
    let of_certificate = |error: &dyn std::fmt::Display| failed(certificate, error.to_string());
    let certificates = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| of_certificate(&error))?;
    if certificates.is_empty() {
        return Err(of_certificate(&"there is no certificate in it"));
    }
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, private));
    let mut config = config.map_err(|error| of_certificate(&error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

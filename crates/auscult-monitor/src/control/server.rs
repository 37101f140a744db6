//! Answering those who ask.

use std::{future::Future, os::unix::fs::PermissionsExt, path::Path, pin::Pin, sync::Arc};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
};

use super::{Answer, Ask};
use crate::error::{Error, Result};

/// Carries out what is asked.
pub(crate) type Handler =
    Arc<dyn Fn(Ask) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

/// Bytes of a socket's path, without the one that ends it.
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Longer lines are nonsense.
const LONGEST_LINE: u64 = 1 << 20;

/// Listens at a socket that only its owner may use.
///
/// # Errors
///
/// If the socket cannot be made.
pub(crate) fn serve(path: &Path, handler: Handler) -> Result<tokio::task::JoinHandle<()>> {
    // Of a monitor that was killed; whoever holds the lock of the folder may remove it.
    let _ = std::fs::remove_file(path);
    let doing = || format!("cannot listen at {}", path.display());
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        return Err(Error::Refused(format!(
            "{}: the path has {length} bytes, and sockets of this system have at most {LONGEST_PATH}; choose a data folder with a \
             shorter path",
            doing()
        )));
    }
    let listener = UnixListener::bind(path).map_err(Error::io(doing()))?;
    let only_owner = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, only_owner).map_err(Error::io(doing()))?;
    Ok(tokio::spawn(async move {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&handler)));
            }
        }
    }))
}

async fn answer(stream: UnixStream, handler: Handler) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read.take(LONGEST_LINE));
    let mut line = String::new();
    while lines.read_line(&mut line).await.is_ok_and(|count| count > 0) {
        let answer = match serde_json::from_str(&line) {
            Ok(ask) => handler(ask).await,
            Err(error) => Answer::Refused { reason: format!("not understood: {error}") },
        };
        let mut text = serde_json::to_string(&answer).unwrap_or_default();
        text.push('\n');
        if write.write_all(text.as_bytes()).await.is_err() {
            return;
        }
        line.clear();
    }
}

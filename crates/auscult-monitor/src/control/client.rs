//! Asking a running monitor.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    time::Duration,
};

use super::{Answer, Ask};
use crate::{
    data::DataFolder,
    error::{Error, Result},
};

/// Making a model of many clips takes its time.
const PATIENCE: Duration = Duration::from_secs(600);

/// Asks the monitor of a data folder.
///
/// # Errors
///
/// [`Error::NotRunning`] if there is none, [`Error::Refused`] if it says no.
pub fn call(data: &DataFolder, ask: &Ask) -> Result<Answer> {
    let not_running = |_| Error::NotRunning { folder: data.root().to_owned() };
    let mut stream = UnixStream::connect(data.socket()).map_err(not_running)?;
    let failed = || Error::io("cannot talk with the monitor");
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed())?;
    let mut line = serde_json::to_string(ask)?;
    line.push('\n');
    stream.write_all(line.as_bytes()).map_err(failed())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(failed())?;
    if answer.is_empty() {
        return Err(Error::NotRunning { folder: data.root().to_owned() });
    }
    match serde_json::from_str(&answer)? {
        Answer::Refused { reason } => Err(Error::Refused(reason)),
        answer => Ok(answer),
    }
}

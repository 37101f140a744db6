//! `access.db` in the data folder: two connections, one to read and one to write.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags};

/// The file within a data folder.
const FILE: &str = "access.db";

/// What makes version n + 1 out of version n; none of them ever changes.
const STEPS: &[&str] = &[include_str!("schema.sql")];

/// Why users, tokens or sessions cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The file is not there or cannot be opened.
    #[error("{path} cannot be opened: {reason}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A newer program wrote it.
    #[error("{path} was written by a newer program; use that one")]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// SQLite refuses.
    #[error("users and tokens cannot be read or written: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The name is taken.
    #[error("there is a {what} {name:?} already; choose another name")]
    Taken {
        /// `user` or `token`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The name is not known.
    #[error("there is no {what} {name:?}")]
    Unknown {
        /// `user` or `token`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The name cannot be used.
    #[error("{0:?} is not a name: 1 to 64 letters, digits, - _ . and not a dot first")]
    Name(String),
    /// The audit log uses the name for those who are not logged in.
    #[error("the name {0:?} is reserved for those who are not logged in; choose another name")]
    Reserved(String),
    /// The password cannot be used.
    #[error("a password has 10 to 1024 bytes")]
    PasswordLength,
    /// A token without scopes is of no use.
    #[error("a token needs at least one scope: read, push, score, operate or admin")]
    NoScopes,
    /// The last administrator would be gone.
    #[error("{0:?} is the only administrator; make another user administrator first")]
    LastAdministrator(String),
    /// The computer has no randomness.
    #[error("this computer gives no random numbers, and secrets need them")]
    NoRandomness,
}

/// Users, tokens, sessions and what they did; clones share the file.
#[derive(Debug, Clone)]
pub struct Store {
    reader: Arc<Mutex<Connection>>,
    writer: Arc<Mutex<Connection>>,
}

impl Store {
    /// Opens the store of a data folder, and makes both if they are not there.
    ///
    /// # Errors
    ///
    /// If the folder or the file cannot be used.
    pub fn open(folder: &Path) -> Result<Self, AccessError> {
        let path = folder.join(FILE);
        let failed = |reason: String| AccessError::Open { path: path.clone(), reason };
        auscult_monitor::data::make_private(folder).map_err(|error| failed(error.to_string()))?;
        let mut writer = Connection::open(&path).map_err(|error| failed(error.to_string()))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let only_owner = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, only_owner)
                .map_err(|error| failed(error.to_string()))?;
        }
        prepare(&mut writer, &path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Connection::open_with_flags(&path, flags);
        let reader = reader.map_err(|error| failed(error.to_string()))?;
        reader.busy_timeout(BUSY)?;
        Ok(Self { reader: Arc::new(Mutex::new(reader)), writer: Arc::new(Mutex::new(writer)) })
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        work(&self.reader.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let outcome = work(&transaction)?;
        transaction.commit()?;
        Ok(outcome)
    }

    /// Whether anybody could log in or show a token.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn is_guarded(&self) -> Result<bool, AccessError> {
        self.read(|connection| {
            let select = "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM tokens WHERE expires IS NULL OR expires > ?1)";
            Ok(connection.prepare_cached(select)?.query_row([now()], |row| row.get(0))?)
        })
    }
}

const BUSY: Duration = Duration::from_secs(10);

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), AccessError> {
    connection.busy_timeout(BUSY)?;
    let open = |error: rusqlite::Error| AccessError::Open {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    connection.pragma_update(None, "journal_mode", "wal").map_err(open)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let Some(steps) = usize::try_from(version).ok().and_then(|version| STEPS.get(version..)) else {
        return Err(AccessError::Newer { path: path.to_owned() });
    };
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", STEPS.len() as i64)?;
    Ok(transaction.commit()?)
}

/// Seconds since 1970, by the computer's clock: logins do not follow a demonstration's.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

pub(super) fn check_name(name: &str) -> Result<(), AccessError> {
    if auscult_monitor::site::is_safe_name(name) {
        Ok(())
    } else {
        Err(AccessError::Name(name.chars().take(80).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_that_it_makes_is_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        Store::open(&folder).unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    }

    #[test]
    fn a_store_is_made_once_and_newer_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(!store.is_guarded().unwrap());
        drop(Store::open(folder.path()).unwrap());
        let connection = Connection::open(folder.path().join(FILE)).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(AccessError::Newer { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(folder.path()).unwrap());
        let facts = std::fs::metadata(folder.path().join(FILE)).unwrap();
        assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    }
}

//! Sessions: somebody logged in with a browser.

use rusqlite::{OptionalExtension, params};

use super::{
    Principal, Role, secrets,
    store::{AccessError, Store, now},
    users::role_of,
};

/// Somebody who is logged in.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Their name.
    pub user: String,
    /// What they may do.
    pub role: Role,
    /// What writes must show, so that no other page can make them.
    pub csrf: String,
    /// The fingerprint of the cookie.
    pub digest: [u8; 32],
    /// Whether it is worth writing down that the session is in use.
    pub is_due: bool,
}

/// A session ends when it was not used for this long ...
const IDLE_SECONDS: f64 = 12.0 * 3_600.0;

/// ... and after this long in any case.
pub(crate) const LONGEST_SECONDS: f64 = 7.0 * 86_400.0;

/// Uses are written down this often.
const USE_SECONDS: f64 = 60.0;

impl Store {
    /// Begins a session; gives the secret for the cookie.
    pub(crate) fn begin_session(&self, user: &str) -> Result<String, AccessError> {
        let (secret, csrf) = (secrets::make()?, secrets::make()?);
        self.write(|connection| {
            let old = "DELETE FROM sessions WHERE seen < ?1 OR created < ?2";
            connection.execute(old, params![now() - IDLE_SECONDS, now() - LONGEST_SECONDS])?;
            let insert = "INSERT INTO sessions (digest, user, csrf, created, seen) VALUES (?1, ?2, ?3, ?4, ?4)";
            let digest = secrets::digest(secret.as_bytes());
            connection.execute(insert, params![digest, user, csrf, now()])?;
            Ok(())
        })?;
        Ok(secret)
    }

    /// Whose session this is, if it has not ended.
    pub(crate) fn session(&self, secret: &str) -> Result<Option<Session>, AccessError> {
        let digest = secrets::digest(secret.as_bytes());
        self.read(|connection| {
            let select = "SELECT user, role, csrf, seen FROM sessions JOIN users ON users.name = user \
                 WHERE digest = ?1 AND seen > ?2 AND sessions.created > ?3";
            let mut statement = connection.prepare_cached(select)?;
            let values = params![digest, now() - IDLE_SECONDS, now() - LONGEST_SECONDS];
            let found = statement.query_row(values, |row| {
                Ok(Session {
                    user: row.get(0)?,
                    role: role_of(&row.get::<_, String>(1)?),
                    csrf: row.get(2)?,
                    digest,
                    is_due: now() - row.get::<_, f64>(3)? > USE_SECONDS,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Whether somebody who could look could still do so now.
    pub(crate) fn is_still_known(&self, principal: &Principal) -> Result<bool, AccessError> {
        let exists = |select: &str, values: &[&dyn rusqlite::ToSql]| {
            self.read(|connection| {
                Ok(connection.prepare_cached(select)?.query_row(values, |row| row.get(0))?)
            })
        };
        match principal {
            Principal::Nobody => Ok(false),
            Principal::Local => self.has_users().map(|has_users| !has_users),
            Principal::User(session) => exists(
                "SELECT EXISTS (SELECT 1 FROM sessions WHERE digest = ?1 AND created > ?2)",
                params![session.digest, now() - LONGEST_SECONDS],
            ),
            Principal::Token { name, .. } => exists(
                "SELECT EXISTS (SELECT 1 FROM tokens WHERE name = ?1 AND (expires IS NULL OR expires > ?2))",
                params![name, now()],
            ),
        }
    }

    /// A session was used.
    pub(crate) fn keep_session(&self, digest: [u8; 32]) -> Result<(), AccessError> {
        self.write(|connection| {
            let update = "UPDATE sessions SET seen = ?2 WHERE digest = ?1";
            connection.execute(update, params![digest, now()])?;
            Ok(())
        })
    }

    /// A session ends.
    pub(crate) fn end_session(&self, digest: [u8; 32]) -> Result<(), AccessError> {
        self.write(|connection| {
            connection.execute("DELETE FROM sessions WHERE digest = ?1", [digest])?;
            Ok(())
        })
    }
}

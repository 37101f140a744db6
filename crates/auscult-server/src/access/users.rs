//! Users.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    Role, passwords,
    store::{AccessError, Store, check_name, now},
};

/// Somebody who may log in.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct User {
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Since when, in seconds since 1970.
    #[serde(skip)]
    pub created: f64,
}

/// What the audit log calls those who are not logged in.
const RESERVED: [&str; 2] = ["local", "nobody"];

impl Store {
    /// Everybody, by name.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn users(&self) -> Result<Vec<User>, AccessError> {
        self.read(|connection| {
            let select = "SELECT name, role, created FROM users ORDER BY name";
            let mut statement = connection.prepare_cached(select)?;
            let rows = statement.query_map([], |row| {
                Ok(User {
                    name: row.get(0)?,
                    role: role_of(&row.get::<_, String>(1)?),
                    created: row.get(2)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Whether there is any user.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn has_users(&self) -> Result<bool, AccessError> {
        self.read(|connection| {
            let select = "SELECT EXISTS (SELECT 1 FROM users)";
            Ok(connection.prepare_cached(select)?.query_row([], |row| row.get(0))?)
        })
    }

    /// One more user.
    ///
    /// # Errors
    ///
    /// If the name is taken, reserved or is none, or the password is too short.
    pub fn add_user(&self, name: &str, role: Role, password: &str) -> Result<(), AccessError> {
        check_name(name)?;
        if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(AccessError::Reserved(name.to_owned()));
        }
        let kept = passwords::hash(password)?;
        self.write(|connection| {
            let insert = "INSERT INTO users (name, role, password, created) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (name) DO NOTHING";
            let added = connection.execute(insert, params![name, role.name(), kept, now()])?;
            match added {
                0 => Err(AccessError::Taken { what: "user", name: name.to_owned() }),
                _ => Ok(()),
            }
        })
    }

    /// One user less; their sessions end.
    ///
    /// # Errors
    ///
    /// If there is no such user, or no administrator would be left among others.
    pub fn remove_user(&self, name: &str) -> Result<(), AccessError> {
        self.write(|connection| {
            check_last_administrator(connection, name)?;
            match connection.execute("DELETE FROM users WHERE name = ?1", [name])? {
                0 => Err(unknown(name)),
                _ => Ok(()),
            }
        })
    }

    /// Another role, another password, or both at once; with another password all sessions of the user end.
    ///
    /// # Errors
    ///
    /// If there is no such user, the password is too short, or no administrator would be left; then nothing changes.
    pub fn change_user(
        &self,
        name: &str,
        role: Option<Role>,
        password: Option<&str>,
    ) -> Result<(), AccessError> {
        let kept = password.map(passwords::hash).transpose()?;
        self.write(|connection| {
            if role.is_some_and(|role| role != Role::Administrator) {
                check_last_administrator(connection, name)?;
            }
            let update = "UPDATE users SET role = coalesce(?2, role), password = coalesce(?3, password) \
                 WHERE name = ?1";
            if connection.execute(update, params![name, role.map(Role::name), kept])? == 0 {
                return Err(unknown(name));
            }
            if kept.is_some() {
                connection.execute("DELETE FROM sessions WHERE user = ?1", [name])?;
            }
            Ok(())
        })
    }

    /// Another password; all sessions of the user end.
    ///
    /// # Errors
    ///
    /// If there is no such user, or the password is too short.
    pub fn set_password(&self, name: &str, password: &str) -> Result<(), AccessError> {
        self.change_user(name, None, Some(password))
    }

    /// What is kept of a user's password.
    pub(crate) fn kept_password(&self, name: &str) -> Result<Option<String>, AccessError> {
        self.read(|connection| {
            let select = "SELECT password FROM users WHERE name = ?1";
            let mut statement = connection.prepare_cached(select)?;
            Ok(statement.query_row([name], |row| row.get(0)).optional()?)
        })
    }
}

/// A word that is not known may do the least.
pub(super) fn role_of(text: &str) -> Role {
    text.parse().unwrap_or(Role::Viewer)
}

fn unknown(name: &str) -> AccessError {
    AccessError::Unknown { what: "user", name: name.chars().take(80).collect() }
}

/// Without users everybody at this computer is administrator again, so the last user may go; but others must not be
/// left without an administrator.
fn check_last_administrator(connection: &Connection, name: &str) -> Result<(), AccessError> {
    let select = "SELECT EXISTS (SELECT 1 FROM users WHERE name <> ?1), \
         EXISTS (SELECT 1 FROM users WHERE name <> ?1 AND role = 'administrator'), \
         EXISTS (SELECT 1 FROM users WHERE name = ?1 AND role = 'administrator')";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (others, administrators, is_one): (bool, bool, bool) =
        connection.query_row(select, [name], read)?;
    if is_one && others && !administrators {
        return Err(AccessError::LastAdministrator(name.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_come_change_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.add_user("anna", Role::Administrator, "0123456789").unwrap();
        store.add_user("bert", Role::Viewer, "0123456789").unwrap();
        assert!(matches!(
            store.add_user("anna", Role::Viewer, "0123456789"),
            Err(AccessError::Taken { .. })
        ));
        assert!(matches!(
            store.add_user("../x", Role::Viewer, "0123456789"),
            Err(AccessError::Name(_))
        ));
        for name in ["local", "Nobody"] {
            let refused = store.add_user(name, Role::Viewer, "0123456789");
            assert!(matches!(refused, Err(AccessError::Reserved(_))), "{name}");
        }
        assert!(matches!(store.remove_user("anna"), Err(AccessError::LastAdministrator(_))));
        assert!(matches!(
            store.change_user("anna", Some(Role::Viewer), Some("9876543210")),
            Err(AccessError::LastAdministrator(_))
        ));
        let kept = store.kept_password("anna").unwrap();
        assert!(passwords::verify(kept.as_deref(), "0123456789"), "all of it was refused");
        let refused = store.change_user("bert", Some(Role::Administrator), Some("short"));
        assert!(matches!(refused, Err(AccessError::PasswordLength)));
        assert_eq!(store.users().unwrap()[1].role, Role::Viewer, "all of it was refused");
        store.change_user("bert", Some(Role::Administrator), None).unwrap();
        store.remove_user("anna").unwrap();
        assert!(matches!(store.remove_user("anna"), Err(AccessError::Unknown { .. })));
        assert_eq!(store.users().unwrap().len(), 1);
        store.remove_user("bert").unwrap();
        assert!(!store.has_users().unwrap());
    }
}

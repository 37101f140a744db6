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
    /// If the name is taken or is none, or the password is too short.
    pub fn add_user(&self, name: &str, role: Role, password: &str) -> Result<(), AccessError> {
        check_name(name)?;
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

    /// Another role.
    ///
    /// # Errors
    ///
    /// If there is no such user, or no administrator would be left.
    pub fn set_role(&self, name: &str, role: Role) -> Result<(), AccessError> {
        self.write(|connection| {
            if role != Role::Administrator {
                check_last_administrator(connection, name)?;
            }
            let update = "UPDATE users SET role = ?2 WHERE name = ?1";
            match connection.execute(update, params![name, role.name()])? {
                0 => Err(unknown(name)),
                _ => Ok(()),
            }
        })
    }

    /// Another password; all sessions of the user end.
    ///
    /// # Errors
    ///
    /// If there is no such user, or the password is too short.
    pub fn set_password(&self, name: &str, password: &str) -> Result<(), AccessError> {
        let kept = passwords::hash(password)?;
        self.write(|connection| {
            let update = "UPDATE users SET password = ?2 WHERE name = ?1";
            if connection.execute(update, params![name, kept])? == 0 {
                return Err(unknown(name));
            }
            connection.execute("DELETE FROM sessions WHERE user = ?1", [name])?;
            Ok(())
        })
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
        assert!(matches!(store.remove_user("anna"), Err(AccessError::LastAdministrator(_))));
        assert!(matches!(
            store.set_role("anna", Role::Viewer),
            Err(AccessError::LastAdministrator(_))
        ));
        store.set_role("bert", Role::Administrator).unwrap();
        store.remove_user("anna").unwrap();
        assert!(matches!(store.remove_user("anna"), Err(AccessError::Unknown { .. })));
        assert_eq!(store.users().unwrap().len(), 1);
        store.remove_user("bert").unwrap();
        assert!(!store.has_users().unwrap());
    }
}

//! Tokens: how programs show who they are.

use rusqlite::{OptionalExtension, params};

use super::{
    Principal, Scope, secrets,
    store::{AccessError, Store, check_name, now},
};

/// A token, without its secret, which nobody knows any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// What it is called.
    pub name: String,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
    /// Since when, in seconds since 1970.
    pub created: f64,
    /// Until when; for ever without it.
    pub expires: Option<f64>,
    /// When it was last used, to the minute.
    pub last_used: Option<f64>,
}

/// A token that is being made.
#[derive(Debug)]
pub struct NewToken {
    /// The token.
    pub token: Token,
    /// What programs show; it is not kept.
    pub secret: String,
}

/// What secrets of tokens begin with, so that they are found where they should not be.
const PREFIX: &str = "auscult_";

/// Uses are written down this often, in seconds.
const USE_SECONDS: f64 = 60.0;

impl Store {
    /// Every token, by name.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn tokens(&self) -> Result<Vec<Token>, AccessError> {
        self.read(|connection| {
            let select =
                "SELECT name, scopes, created, expires, last_used FROM tokens ORDER BY name";
            let mut statement = connection.prepare_cached(select)?;
            let rows = statement.query_map([], |row| {
                Ok(Token {
                    name: row.get(0)?,
                    scopes: scopes_of(&row.get::<_, String>(1)?),
                    created: row.get(2)?,
                    expires: row.get(3)?,
                    last_used: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// One more token; its secret is shown now and never again.
    ///
    /// # Errors
    ///
    /// If the name is taken or is none, or there is no scope.
    pub fn add_token(
        &self,
        name: &str,
        scopes: &[Scope],
        expires_days: Option<f64>,
    ) -> Result<NewToken, AccessError> {
        check_name(name)?;
        if scopes.is_empty() {
            return Err(AccessError::NoScopes);
        }
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        let secret = format!("{PREFIX}{}", secrets::make()?);
        let created = now();
        let expires = expires_days.map(|days| created + days * 86_400.0);
        let words: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
        self.write(|connection| {
            let insert = "INSERT INTO tokens (name, digest, scopes, created, expires) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (name) DO NOTHING";
            let digest = secrets::digest(secret.as_bytes());
            let values = params![name, digest, words.join(","), created, expires];
            match connection.execute(insert, values)? {
                0 => Err(AccessError::Taken { what: "token", name: name.to_owned() }),
                _ => Ok(()),
            }
        })?;
        let token = Token { name: name.to_owned(), scopes, created, expires, last_used: None };
        Ok(NewToken { token, secret })
    }

    /// A token is not valid any more.
    ///
    /// # Errors
    ///
    /// If there is no such token.
    pub fn revoke_token(&self, name: &str) -> Result<(), AccessError> {
        self.write(|connection| {
            match connection.execute("DELETE FROM tokens WHERE name = ?1", [name])? {
                0 => Err(AccessError::Unknown {
                    what: "token",
                    name: name.chars().take(80).collect(),
                }),
                _ => Ok(()),
            }
        })
    }

    /// Who shows this secret, if it is a token's and still valid; and whether its use is worth writing down.
    pub(crate) fn principal_of_token(
        &self,
        secret: &str,
    ) -> Result<Option<(Principal, bool)>, AccessError> {
        self.read(|connection| {
            let select = "SELECT name, scopes, last_used FROM tokens WHERE digest = ?1 AND (expires IS NULL OR expires > ?2)";
            let mut statement = connection.prepare_cached(select)?;
            let digest = secrets::digest(secret.as_bytes());
            let found = statement.query_row(params![digest, now()], |row| {
                let (name, scopes): (String, String) = (row.get(0)?, row.get(1)?);
                Ok((name, scopes, row.get::<_, Option<f64>>(2)?))
            });
            Ok(found.optional()?.map(|(name, scopes, last)| {
                let is_news = last.is_none_or(|last| now() - last > USE_SECONDS);
                (Principal::Token { name, scopes: scopes_of(&scopes) }, is_news)
            }))
        })
    }

    /// A token was used.
    pub(crate) fn note_use(&self, name: &str) -> Result<(), AccessError> {
        self.write(|connection| {
            let update = "UPDATE tokens SET last_used = ?2 WHERE name = ?1";
            connection.execute(update, params![name, now()])?;
            Ok(())
        })
    }
}

fn scopes_of(text: &str) -> Vec<Scope> {
    text.split(',').filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_secret_until_it_is_revoked_or_expires() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let new = store.add_token("edge-1", &[Scope::Push, Scope::Push], None).unwrap();
        assert_eq!(new.token.scopes, [Scope::Push]);
        let (principal, is_news) = store.principal_of_token(&new.secret).unwrap().unwrap();
        assert!(is_news);
        assert_eq!(principal.name(), "token edge-1");
        store.note_use("edge-1").unwrap();
        assert!(!store.principal_of_token(&new.secret).unwrap().unwrap().1);
        assert!(store.principal_of_token("auscult_x").unwrap().is_none());
        let bytes = std::fs::read(folder.path().join("access.db")).unwrap();
        let log = std::fs::read(folder.path().join("access.db-wal")).unwrap_or_default();
        for file in [bytes, log] {
            assert!(!file.windows(new.secret.len()).any(|part| part == new.secret.as_bytes()));
        }
        store.revoke_token("edge-1").unwrap();
        assert!(store.principal_of_token(&new.secret).unwrap().is_none());
        let old = store.add_token("old", &[Scope::Read], Some(-1.0)).unwrap();
        assert!(store.principal_of_token(&old.secret).unwrap().is_none());
        assert!(!store.is_guarded().unwrap());
        assert!(matches!(store.add_token("none", &[], None), Err(AccessError::NoScopes)));
    }
}

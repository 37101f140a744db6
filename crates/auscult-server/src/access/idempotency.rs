//! Answers to writes that may be sent twice.

use rusqlite::{OptionalExtension, params};

use super::store::{AccessError, Store, now};

/// An answer that was given.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAnswer {
    /// Its status.
    pub status: u16,
    /// What its body is.
    pub content_type: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Earlier {
    /// Nothing: go on, and say what was answered.
    New,
    /// The same request is being answered right now.
    Running,
    /// The same request was answered so.
    Answered(StoredAnswer),
    /// The key was used for another request.
    Other,
}

/// How long answers are kept.
const KEPT_SECONDS: f64 = 86_400.0;

/// A request whose answer never came is given up after this long: the service was killed.
const RUNNING_SECONDS: f64 = 900.0;

impl Store {
    /// Forgets requests that were being answered when the service was killed, so that they can be sent again.
    pub(crate) fn forget_running(&self) -> Result<(), AccessError> {
        self.write(|connection| {
            connection.execute("DELETE FROM answers WHERE status IS NULL", [])?;
            Ok(())
        })
    }

    /// Takes a key for a request, or says what became of it.
    pub(crate) fn begin_answer(
        &self,
        who: &str,
        key: &str,
        request: [u8; 32],
    ) -> Result<Earlier, AccessError> {
        self.write(|connection| {
            let old = "DELETE FROM answers WHERE created < ?1 OR (status IS NULL AND created < ?2)";
            connection.execute(old, params![now() - KEPT_SECONDS, now() - RUNNING_SECONDS])?;
            let select = "SELECT request, status, content_type, body FROM answers WHERE who = ?1 AND key = ?2";
            let found = connection.query_row(select, params![who, key], |row| {
                let (request, status): ([u8; 32], Option<u16>) = (row.get(0)?, row.get(1)?);
                let answer = match status {
                    Some(status) => Some(StoredAnswer {
                        status,
                        content_type: row.get(2)?,
                        body: row.get(3)?,
                    }),
                    None => None,
                };
                Ok((request, answer))
            });
            Ok(match found.optional()? {
                Some((known, _)) if known != request => Earlier::Other,
                Some((_, None)) => Earlier::Running,
                Some((_, Some(answer))) => Earlier::Answered(answer),
                None => {
                    let insert = "INSERT INTO answers (who, key, request, created) VALUES (?1, ?2, ?3, ?4)";
                    connection.execute(insert, params![who, key, request, now()])?;
                    Earlier::New
                }
            })
        })
    }

    /// Keeps an answer, or forgets the key if there is none worth keeping.
    pub(crate) fn end_answer(
        &self,
        who: &str,
        key: &str,
        answer: Option<&StoredAnswer>,
    ) -> Result<(), AccessError> {
        self.write(|connection| {
            if let Some(StoredAnswer { status, content_type, body }) = answer {
                let update = "UPDATE answers SET status = ?3, content_type = ?4, body = ?5 WHERE who = ?1 AND key = ?2";
                connection.execute(update, params![who, key, status, content_type, body])?;
            } else {
                let delete = "DELETE FROM answers WHERE who = ?1 AND key = ?2";
                connection.execute(delete, params![who, key])?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_the_same_answer_again_and_none_to_another_request() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let begin = |request| store.begin_answer("anna", "k", request).unwrap();
        assert_eq!(begin([1; 32]), Earlier::New);
        assert_eq!(begin([1; 32]), Earlier::Running);
        assert_eq!(begin([2; 32]), Earlier::Other);
        store.forget_running().unwrap();
        assert_eq!(begin([1; 32]), Earlier::New);
        let answer =
            StoredAnswer { status: 200, content_type: "x".to_owned(), body: b"y".to_vec() };
        store.end_answer("anna", "k", Some(&answer)).unwrap();
        store.forget_running().unwrap();
        assert_eq!(begin([1; 32]), Earlier::Answered(answer));
        assert_eq!(store.begin_answer("bert", "k", [2; 32]).unwrap(), Earlier::New);
        store.end_answer("bert", "k", None).unwrap();
        assert_eq!(store.begin_answer("bert", "k", [3; 32]).unwrap(), Earlier::New);
    }
}

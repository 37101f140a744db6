//! How far the sound of each machine has been pushed: repeats are recognised, gaps are noticed, also after a restart.

use rusqlite::{OptionalExtension, params};

use super::store::{AccessError, Store, now};

/// How far the sound of a machine has been pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct PushState {
    /// The sequence number that is expected next.
    pub next: i64,
    /// Pieces that were taken.
    pub pieces: i64,
    /// Pieces that never came.
    pub missing: i64,
    /// When the last one came, in seconds since 1970.
    pub time: f64,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// It was taken before.
    Repeated {
        /// The number that is expected.
        next: i64,
    },
    /// It is new, and pieces before it may be missing, from the first to the last.
    New {
        /// The number that is expected after it.
        next: i64,
        /// What is missing.
        gap: Option<(i64, i64)>,
    },
}

impl Store {
    /// How far the sound of a machine has been pushed.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn push_state(&self, machine: &str) -> Result<Option<PushState>, AccessError> {
        self.read(|connection| {
            let select = "SELECT next, pieces, missing, time FROM pushes WHERE machine = ?1";
            let mut statement = connection.prepare_cached(select)?;
            let found = statement.query_row([machine], |row| {
                Ok(PushState {
                    next: row.get(0)?,
                    pieces: row.get(1)?,
                    missing: row.get(2)?,
                    time: row.get(3)?,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// What a piece with this number would be.
    pub(crate) fn look_at_push(&self, machine: &str, sequence: i64) -> Result<Pushed, AccessError> {
        let next = self.push_state(machine)?.map(|state| state.next);
        Ok(match next {
            Some(next) if sequence < next => Pushed::Repeated { next },
            Some(next) => {
                let gap = (sequence > next).then_some((next, sequence - 1));
                Pushed::New { next: sequence + 1, gap }
            }
            // Whoever begins, begins where they like.
            None => Pushed::New { next: sequence + 1, gap: None },
        })
    }

    /// A piece was taken.
    pub(crate) fn note_push(
        &self,
        machine: &str,
        sequence: i64,
        gap: Option<(i64, i64)>,
    ) -> Result<(), AccessError> {
        let missing = gap.map_or(0, |(from, to)| to - from + 1);
        self.write(|connection| {
            let insert = "INSERT INTO pushes (machine, next, pieces, missing, time) VALUES (?1, ?2, 1, ?3, ?4) \
                 ON CONFLICT (machine) DO UPDATE SET next = excluded.next, pieces = pieces + 1, \
                 missing = missing + excluded.missing, time = excluded.time";
            connection.execute(insert, params![machine, sequence + 1, missing, now()])?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_recognised_and_gaps_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let look = |sequence| store.look_at_push("pump-7", sequence).unwrap();
        assert_eq!(look(7), Pushed::New { next: 8, gap: None });
        store.note_push("pump-7", 7, None).unwrap();
        assert_eq!(look(7), Pushed::Repeated { next: 8 });
        assert_eq!(look(8), Pushed::New { next: 9, gap: None });
        assert_eq!(look(11), Pushed::New { next: 12, gap: Some((8, 10)) });
        store.note_push("pump-7", 11, Some((8, 10))).unwrap();
        let state = store.push_state("pump-7").unwrap().unwrap();
        assert_eq!((state.next, state.pieces, state.missing), (12, 2, 3));
    }
}

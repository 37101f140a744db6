-- Who may do what, version 1. Times are seconds since 1970-01-01T00:00:00Z, by the computer's clock.

CREATE TABLE users (
    name     TEXT PRIMARY KEY,
    role     TEXT NOT NULL,         -- viewer, operator, administrator
    password TEXT NOT NULL,         -- argon2id, as a PHC string
    created  REAL NOT NULL
) WITHOUT ROWID;

-- Of secrets only the SHA-256 is kept: they are random, so it says nothing about them.
CREATE TABLE tokens (
    name      TEXT PRIMARY KEY,
    digest    BLOB NOT NULL UNIQUE,
    scopes    TEXT NOT NULL,        -- words with commas between them
    created   REAL NOT NULL,
    expires   REAL,
    last_used REAL
) WITHOUT ROWID;

CREATE TABLE sessions (
    digest  BLOB PRIMARY KEY,
    user    TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
    csrf    TEXT NOT NULL,
    created REAL NOT NULL,
    seen    REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    time    REAL NOT NULL,
    who     TEXT NOT NULL,
    address TEXT NOT NULL,
    action  TEXT NOT NULL,          -- method and path
    detail  TEXT NOT NULL,          -- the body, without secrets
    status  INTEGER NOT NULL
);

-- Answers to writes with an Idempotency-Key, for a day.
CREATE TABLE answers (
    who          TEXT NOT NULL,
    key          TEXT NOT NULL,
    request      BLOB NOT NULL,     -- SHA-256 of method, path and body
    status       INTEGER,           -- null while the first one is being answered
    content_type TEXT,
    body         BLOB,
    created      REAL NOT NULL,
    PRIMARY KEY (who, key)
) WITHOUT ROWID;

-- How far the sound of a machine has been pushed.
CREATE TABLE pushes (
    machine TEXT PRIMARY KEY,
    next    INTEGER NOT NULL,
    pieces  INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    time    REAL NOT NULL
) WITHOUT ROWID;

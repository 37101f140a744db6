-- The history of a site, version 1. Times are seconds since 1970-01-01T00:00:00Z.
-- Anybody may read it while the monitor runs:  sqlite3 'file:history.db?mode=ro'

CREATE TABLE machines (
    id      INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    added   REAL NOT NULL
);

-- Models with the time they judged; valid_to is null for those in use.
CREATE TABLE models (
    id              INTEGER PRIMARY KEY,
    machine         INTEGER NOT NULL REFERENCES machines,
    version         INTEGER NOT NULL,
    operating_state TEXT,               -- the state it is for; null for all
    file            TEXT NOT NULL,      -- relative to the data folder
    hash            TEXT NOT NULL,
    origin          TEXT NOT NULL,      -- configured, learned, accepted, forgotten, rollback
    note            TEXT NOT NULL,
    threshold       REAL,
    reference_count INTEGER NOT NULL,
    visits          INTEGER NOT NULL,
    valid_from      REAL NOT NULL,
    valid_to        REAL,
    UNIQUE (machine, version)
);

-- One row a clip: the fields of its record (docs/records.md), and how the monitor took it.
CREATE TABLE clips (
    id            INTEGER PRIMARY KEY,
    machine       INTEGER NOT NULL REFERENCES machines,
    step          INTEGER NOT NULL,     -- counts everything that happened to the machine
    taken         REAL NOT NULL,        -- the engine's time when it was taken in
    observation   TEXT NOT NULL,        -- normal, anomalous, not-running, sensor-fault, learning, none
    time          REAL NOT NULL,        -- when its sound began
    time_origin   TEXT NOT NULL,
    path          TEXT NOT NULL,
    start_seconds REAL NOT NULL,
    seconds       REAL NOT NULL,
    score         REAL,
    p_value       REAL,
    calibrated    REAL,
    verdict       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    heard         TEXT,
    differs_most  TEXT,
    promised      INTEGER NOT NULL,
    promised_if   TEXT,
    alarm         TEXT NOT NULL,        -- the state after it
    domain        TEXT,
    level_dbfs    REAL,
    remarks       TEXT NOT NULL,        -- words with commas between them
    copy_of       TEXT,
    error         TEXT,
    model         INTEGER REFERENCES models,
    bands         TEXT,                 -- JSON: where the spectrum differs most
    nearest       TEXT,
    sound         TEXT,                 -- relative to the data folder, if it was kept
    is_thinned    INTEGER NOT NULL DEFAULT 0,   -- counted in thin already, kept for its event
    UNIQUE (machine, step)
);
CREATE INDEX clips_by_time ON clips (machine, time);

-- Everything but clips that the engine heard, as JSON; with clips, in the order of steps, it gives the events again.
CREATE TABLE inputs (
    machine INTEGER NOT NULL REFERENCES machines,
    step    INTEGER NOT NULL,
    taken   REAL NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (machine, step)
);

-- What the engine remembered before its step, from time to time: replays begin there.
CREATE TABLE checkpoints (
    machine INTEGER NOT NULL REFERENCES machines,
    step    INTEGER NOT NULL,
    taken   REAL NOT NULL,
    rules   TEXT NOT NULL,              -- the rules then, as JSON
    memory  TEXT NOT NULL,
    PRIMARY KEY (machine, step)
);

CREATE TABLE events (
    id           TEXT PRIMARY KEY,
    machine      INTEGER NOT NULL REFERENCES machines,
    step         INTEGER NOT NULL,
    time         REAL NOT NULL,
    kind         TEXT NOT NULL,         -- state, drift, reminder, command, model, source, clock, rules
    from_state   TEXT NOT NULL,
    to_state     TEXT NOT NULL,
    reason       TEXT NOT NULL,
    is_announced INTEGER NOT NULL,
    body         TEXT NOT NULL          -- the event as JSON
);
CREATE INDEX events_by_time ON events (time);
CREATE INDEX events_by_machine ON events (machine, time);

-- Where every machine stands; replaced with every clip.
CREATE TABLE standing (
    machine INTEGER PRIMARY KEY REFERENCES machines,
    taken   REAL NOT NULL,
    memory  TEXT NOT NULL,              -- what the engine remembers
    status  TEXT NOT NULL               -- what `auscult watch status --json` prints
);

-- Scores that are too old to be kept one by one.
CREATE TABLE thin (
    machine   INTEGER NOT NULL REFERENCES machines,
    width     INTEGER NOT NULL,         -- 60, 3600 or 86400 seconds
    start     INTEGER NOT NULL,         -- a multiple of the width
    clips     INTEGER NOT NULL,
    scored    INTEGER NOT NULL,
    anomalous INTEGER NOT NULL,
    lowest    REAL,
    total     REAL,                     -- the mean is total / scored
    highest   REAL,
    PRIMARY KEY (machine, width, start)
);

CREATE TABLE feedback (
    id      INTEGER PRIMARY KEY,
    machine INTEGER NOT NULL REFERENCES machines,
    step    INTEGER NOT NULL,           -- of the clip
    time    REAL NOT NULL,
    who     TEXT NOT NULL,
    verdict TEXT NOT NULL,              -- normal, fault, not-running, sensor-fault
    note    TEXT NOT NULL
);

-- Clips that ask a person whether they are normal.
CREATE TABLE waiting (
    id       INTEGER PRIMARY KEY,
    machine  INTEGER NOT NULL REFERENCES machines,
    step     INTEGER NOT NULL,
    time     REAL NOT NULL,
    sound    TEXT NOT NULL,
    reason   TEXT NOT NULL,
    decision TEXT,                      -- accepted, rejected
    decided  REAL,
    who      TEXT,
    UNIQUE (machine, step)
);

-- Recordings of watched folders that are done with.
CREATE TABLE seen (
    machine  INTEGER NOT NULL REFERENCES machines,
    path     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,          -- nanoseconds since 1970
    time     REAL NOT NULL,
    PRIMARY KEY (machine, path)
) WITHOUT ROWID;

-- Sound on disk.
CREATE TABLE sounds (
    file    TEXT PRIMARY KEY,           -- relative to the data folder
    machine INTEGER NOT NULL REFERENCES machines,
    time    REAL NOT NULL,
    seconds REAL NOT NULL,
    bytes   INTEGER NOT NULL,
    purpose TEXT NOT NULL               -- learning, alarm, all
);
CREATE INDEX sounds_by_time ON sounds (time);

-- Messages to be sent, in their order; those that were sent stay for a while.
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY,
    sink     TEXT NOT NULL,
    machine  INTEGER NOT NULL REFERENCES machines,
    event    TEXT NOT NULL,
    news     TEXT NOT NULL,
    created  REAL NOT NULL,
    tries    INTEGER NOT NULL DEFAULT 0,
    next_try REAL NOT NULL,
    outcome  TEXT,                      -- sent, suppressed, given-up, dropped
    ended    REAL,
    problem  TEXT
);
CREATE INDEX outbox_open ON outbox (sink, id) WHERE outcome IS NULL;

-- What was deleted, when and why.
CREATE TABLE deletions (
    id      INTEGER PRIMARY KEY,
    time    REAL NOT NULL,
    machine INTEGER REFERENCES machines,
    what    TEXT NOT NULL,
    count   INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    reason  TEXT NOT NULL
);

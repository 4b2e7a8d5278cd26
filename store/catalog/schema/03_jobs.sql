CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,                 -- empty: work that ends with the program
    name TEXT NOT NULL,
    who TEXT NOT NULL,
    decision TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '{}',
    error TEXT NOT NULL DEFAULT '',
    total INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0,
    made_at REAL NOT NULL,
    ended_at REAL NOT NULL DEFAULT 0,
    worked REAL NOT NULL DEFAULT 0      -- seconds
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, id);
CREATE TABLE job_items (
    job INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,                  -- mostly a record's address
    payload TEXT,
    state TEXT NOT NULL DEFAULT 'waiting',
    reason TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (job, position),
    UNIQUE (job, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_items_by_state ON job_items (job, state, position);

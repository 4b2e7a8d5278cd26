CREATE TABLE pending (                  -- what waits for a person's decision
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,               -- the entry's id
    row TEXT,                           -- the entry as JSON, without its vector; NULL: to be removed
    verb TEXT NOT NULL, who TEXT NOT NULL, agent TEXT NOT NULL, via TEXT NOT NULL, at REAL NOT NULL
) STRICT;
CREATE TABLE recall (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,                   -- of the entry
    state TEXT NOT NULL,                -- pinned (in every context) or never (in none)
    PRIMARY KEY (kind, id)
) STRICT;
CREATE TABLE adopted (                  -- fields of an adopted entry that have no column of their own
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    metadata TEXT NOT NULL,             -- JSON
    PRIMARY KEY (kind, id)
) STRICT;
CREATE TABLE queried (
    kind TEXT NOT NULL, scope TEXT NOT NULL, times INTEGER NOT NULL, last REAL NOT NULL,
    PRIMARY KEY (kind, scope)
) STRICT;

-- Vectors by another model than the row's own has by now, and what they were made of. Nothing throws one away
-- but `memory delete-vectors`.
CREATE TABLE kept_vectors (
    kind TEXT NOT NULL, id TEXT NOT NULL, model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (kind, id, model, text_hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE new_vectors (              -- of a change of model, until it is complete
    kind TEXT NOT NULL, id TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

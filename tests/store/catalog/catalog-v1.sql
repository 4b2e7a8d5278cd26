-- The catalog as Memedex 0.1 made it (version 1); tests open it with the program of today.
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE sidecars (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    folded TEXT NOT NULL UNIQUE,        -- lower case: two keys must not meet on a case-insensitive disk
    tier TEXT NOT NULL,
    came_from TEXT,
    revision INTEGER NOT NULL,
    sidecar_hash TEXT NOT NULL REFERENCES sidecars,
    image_hash TEXT NOT NULL,
    sidecar_stat TEXT NOT NULL,         -- size and time of the files, to notice changes from outside
    image_stat TEXT NOT NULL,
    name TEXT NOT NULL,
    ticker TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    captioned INTEGER NOT NULL,
    moved_at REAL NOT NULL,             -- when it came into its tier
    generation INTEGER NOT NULL         -- of its last change; grows over the whole catalog
) STRICT;
CREATE INDEX records_by_creation ON records (tier, created_at, address);
CREATE INDEX records_by_name ON records (tier, name COLLATE NOCASE, address);
CREATE INDEX records_by_move ON records (tier, moved_at, address);
CREATE INDEX records_by_generation ON records (generation);
CREATE INDEX records_by_image ON records (image_hash);
CREATE TABLE labels (                   -- kind: tag or category
    record INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (record, kind, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_label ON labels (kind, label, record);
CREATE VIRTUAL TABLE words USING fts5 (
    name, ticker, description, caption, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TABLE vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE TABLE embeddings (
    record INTEGER NOT NULL, facet TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (record, facet)
) STRICT, WITHOUT ROWID;
CREATE TABLE journal (id TEXT PRIMARY KEY, operation TEXT NOT NULL) STRICT;
CREATE TABLE decisions (                -- what somebody did in one go
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    verb TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    reverses TEXT,                      -- for undo and redo: the decision taken back
    reversed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX decisions_by_person ON decisions (who, number);
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    decision TEXT NOT NULL,
    verb TEXT NOT NULL,
    address TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    before TEXT,                        -- the state before and after, as JSON; NULL: was not there
    after TEXT
) STRICT;
CREATE INDEX history_by_decision ON history (decision);
CREATE INDEX history_by_address ON history (address, id);
CREATE INDEX history_by_time ON history (at);
CREATE TABLE chroma_queue (address TEXT PRIMARY KEY, generation INTEGER NOT NULL) STRICT;
CREATE TABLE drafts (
    address TEXT PRIMARY KEY, fields TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL
) STRICT;
PRAGMA user_version = 1;

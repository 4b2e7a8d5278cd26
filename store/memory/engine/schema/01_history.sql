CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID; -- of a kind: "{kind} {key}"

-- The last change of every row that has a history, in order; a row that is gone keeps its line.
-- Resident vectors and Chroma are behind by what stands above the number they know.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    tbl TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 0, -- which state the row is in; undo brings back an earlier one's
    UNIQUE (tbl, id, kind)
) STRICT;

CREATE TABLE decisions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    verb TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    agent TEXT NOT NULL DEFAULT '',     -- the program that decided in the person's place
    count INTEGER NOT NULL DEFAULT 0,
    reverses TEXT,                      -- for undo and redo: the decision taken back
    reversed INTEGER NOT NULL DEFAULT 0,
    is_final INTEGER NOT NULL DEFAULT 0 -- cannot be undone
) STRICT;
CREATE INDEX decisions_by_person ON decisions (who, number);
CREATE TABLE history (
    number INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL,          -- its number
    kind TEXT NOT NULL,
    tbl TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,           -- the row's afterwards: still so, if nothing came after
    before_version INTEGER NOT NULL,
    before TEXT,                        -- the row it replaced, as JSON; NULL: there was none
    vector BLOB,                        -- … and its vector
    agent TEXT NOT NULL DEFAULT '',     -- who wrote it, and through what
    via TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX history_by_decision ON history (decision);
CREATE INDEX history_by_id ON history (id, number);

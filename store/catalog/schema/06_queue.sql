CREATE TABLE taxonomies (               -- what somebody made of the taxonomy: the whole text
    number INTEGER PRIMARY KEY,
    decision TEXT NOT NULL UNIQUE,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL
) STRICT;
CREATE TABLE troubles (                 -- why a record cannot go on; stands while it has this revision
    address TEXT PRIMARY KEY, revision INTEGER NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL
) STRICT;
CREATE TABLE inbox (                    -- what arrived in the watched folder, so that nothing is taken twice
    path TEXT PRIMARY KEY,              -- below the folder
    stat TEXT NOT NULL,                 -- its size and time when it was looked at
    reason TEXT NOT NULL,               -- why it, or something in it, was refused; empty: taken
    at REAL NOT NULL
) STRICT;

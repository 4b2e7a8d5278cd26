CREATE TABLE removed (                  -- what was let go that is no record: who, when, and what it was
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    who TEXT NOT NULL,                  -- empty: the program, to make room
    what TEXT NOT NULL,
    name TEXT NOT NULL,
    kept TEXT NOT NULL,                 -- all of it, as JSON
    put_back_at REAL NOT NULL DEFAULT 0,
    put_back_by TEXT NOT NULL DEFAULT ''
) STRICT;

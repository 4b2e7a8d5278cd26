CREATE TABLE answers (                  -- what a page was told of a decision that the history does not tell in full
    id TEXT PRIMARY KEY,                -- of the decision, as its page made it
    who TEXT NOT NULL,
    at REAL NOT NULL,
    answer TEXT NOT NULL
) STRICT;
DELETE FROM meta WHERE key = 'answered requests';

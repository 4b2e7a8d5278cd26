CREATE TABLE copilots (                 -- what the co-pilot learned from people's decisions, a row each time
    version INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    decisions INTEGER NOT NULL,         -- that it learned from
    newest INTEGER NOT NULL,            -- event of the history up to which it looked
    model TEXT NOT NULL,                -- whose vectors it reads
    scored TEXT NOT NULL,               -- JSON: of the latest decisions [score, approved], by earlier learners
    learner BLOB NOT NULL
) STRICT;
CREATE TABLE advice (                   -- what it said of a coin in review; of a decided one, what it said last
    address TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    generation INTEGER NOT NULL,        -- of the record then
    at REAL NOT NULL,
    score REAL NOT NULL                 -- how likely a person approves it, 0 to 1
) STRICT, WITHOUT ROWID;

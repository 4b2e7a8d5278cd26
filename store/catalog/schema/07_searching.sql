CREATE TABLE golden (                   -- questions with their right answers; also files in golden/
    line TEXT PRIMARY KEY,
    answers TEXT NOT NULL,              -- addresses, as JSON
    collection TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE TABLE judgements (               -- what somebody said of one result of a question
    line TEXT NOT NULL,
    address TEXT NOT NULL,
    good INTEGER NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (line, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE calibrations (             -- of one model each; the newest version stands
    version INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    records INTEGER NOT NULL,
    questions TEXT NOT NULL,
    figures TEXT NOT NULL               -- kind of question → facet → mean and deviation, as JSON
) STRICT;
CREATE TABLE evaluations (              -- the last one of each model
    model TEXT PRIMARY KEY, at REAL NOT NULL, who TEXT NOT NULL, report TEXT NOT NULL
) STRICT;
CREATE TABLE maps (                     -- where records lie in two dimensions; derived
    name TEXT PRIMARY KEY,              -- facet or fused, and how it was made
    fingerprint TEXT NOT NULL,
    at REAL NOT NULL,
    addresses TEXT NOT NULL,
    points BLOB NOT NULL                -- (n, 2) float32
) STRICT;

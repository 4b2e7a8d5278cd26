CREATE TABLE verdicts (                 -- what somebody said about two records; the last of a pair stands
    id INTEGER PRIMARY KEY,
    decision TEXT NOT NULL,
    first TEXT NOT NULL,                -- the smaller of the two addresses
    second TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    before TEXT,                        -- what the first is to the second; NULL: nothing was said
    after TEXT
) STRICT;
CREATE INDEX verdicts_by_first ON verdicts (first, second, id);
CREATE INDEX verdicts_by_second ON verdicts (second, id);
CREATE INDEX verdicts_by_decision ON verdicts (decision);

-- All below is derived from pictures, names and verdicts.
CREATE TABLE fingerprints (
    number INTEGER PRIMARY KEY,
    image_hash TEXT NOT NULL UNIQUE,
    print BLOB NOT NULL,                -- empty: nothing to see
    compared INTEGER NOT NULL DEFAULT 0 -- whether lookalikes has all that it resembles
) STRICT;
CREATE TABLE lookalikes (               -- pictures by their hash, each pair in both directions
    picture TEXT NOT NULL,
    other TEXT NOT NULL,
    distance INTEGER NOT NULL,          -- differing bits of 256
    mirrored INTEGER NOT NULL,
    PRIMARY KEY (picture, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE spellings (                -- what a record is compared by
    record INTEGER PRIMARY KEY,
    image_hash TEXT NOT NULL,
    name TEXT NOT NULL,
    name_skeleton TEXT NOT NULL,
    ticker TEXT NOT NULL,
    ticker_skeleton TEXT NOT NULL
) STRICT;
CREATE INDEX spellings_by_name ON spellings (name_skeleton);
CREATE INDEX spellings_by_ticker ON spellings (ticker_skeleton);
CREATE INDEX spellings_by_picture ON spellings (image_hash);
CREATE TABLE suspicions (               -- the most likely original or copy of a record that nobody judged yet
    record INTEGER PRIMARY KEY, sure REAL NOT NULL, kind TEXT NOT NULL
) STRICT;
CREATE INDEX suspicions_by_certainty ON suspicions (sure);
CREATE TABLE unexamined (record INTEGER PRIMARY KEY) STRICT;

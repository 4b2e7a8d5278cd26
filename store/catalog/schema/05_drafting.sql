CREATE TABLE suggestions (              -- what a model proposes; nothing of it is the record's yet
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    facet TEXT NOT NULL,                -- of the caption, or tags, or new_tags (the taxonomy knows none)
    text TEXT NOT NULL,                 -- tags are separated by commas
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,               -- name and version; empty where no language model was asked
    hint TEXT NOT NULL,
    who TEXT NOT NULL,                  -- who asked for it
    job INTEGER,
    at REAL NOT NULL,
    state TEXT NOT NULL,                -- open, taken, refused, replaced (by a newer one), trial
    settled_at REAL NOT NULL DEFAULT 0,
    settled_by TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX suggestions_by_address ON suggestions (address, state);
CREATE INDEX suggestions_by_state ON suggestions (state, address);
CREATE INDEX suggestions_by_job ON suggestions (job);
CREATE TABLE prompts (                  -- every version that was ever saved or asked with
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    who TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- mem_{second}
    content TEXT NOT NULL,
    tags TEXT NOT NULL,                 -- a JSON list, as it was given
    timestamp TEXT NOT NULL,            -- 2026-01-31T10:00:00Z
    vector BLOB,
    embedding_model TEXT
) STRICT;

CREATE TABLE session_memory (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- {session_id}_{memory_id}
    session_id TEXT NOT NULL,           -- the key: {character}_{session}
    memory_id TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    vector BLOB,
    embedding_model TEXT
) STRICT;
CREATE INDEX session_memory_by_session ON session_memory (session_id);

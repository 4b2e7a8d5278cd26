-- With every column of the databases that are taken over.
CREATE TABLE IF NOT EXISTS transcripts (
    id VARCHAR PRIMARY KEY,
    user_id VARCHAR NOT NULL,
    session_id VARCHAR NOT NULL,
    project_slug VARCHAR,
    sequence INTEGER NOT NULL,
    role VARCHAR NOT NULL,
    content JSON NOT NULL,
    turn INTEGER,
    ts TIMESTAMP,
    text_content TEXT,
    synced_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS idx_transcripts_session ON transcripts (user_id, session_id, sequence);
CREATE INDEX IF NOT EXISTS idx_transcripts_ts ON transcripts (ts);
CREATE TABLE IF NOT EXISTS transcript_vectors (
    id VARCHAR NOT NULL PRIMARY KEY,
    parent_id VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    session_id VARCHAR NOT NULL,
    project_slug VARCHAR,
    content_type VARCHAR NOT NULL,
    chunk_index INTEGER NOT NULL DEFAULT 0,
    total_chunks INTEGER NOT NULL DEFAULT 1,
    span_start INTEGER NOT NULL DEFAULT 0,
    span_end INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    source_text TEXT NOT NULL,
    vector BLOB,
    embedding_model VARCHAR,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS idx_vectors_parent ON transcript_vectors (parent_id);
CREATE INDEX IF NOT EXISTS idx_vectors_session ON transcript_vectors (user_id, session_id);
CREATE INDEX IF NOT EXISTS idx_vectors_user ON transcript_vectors (user_id);
CREATE INDEX IF NOT EXISTS idx_vectors_bare ON transcript_vectors (id) WHERE vector IS NULL;
CREATE TABLE IF NOT EXISTS events (
    id VARCHAR PRIMARY KEY,
    user_id VARCHAR NOT NULL,
    session_id VARCHAR NOT NULL,
    sequence INTEGER NOT NULL,
    event VARCHAR NOT NULL,
    ts TIMESTAMP NOT NULL,
    lvl VARCHAR,
    turn INTEGER,
    data JSON,
    tool_name VARCHAR,
    error_type VARCHAR,
    model_used VARCHAR,
    data_truncated BOOLEAN,
    data_size_bytes INTEGER,
    synced_at TIMESTAMP
);
CREATE INDEX IF NOT EXISTS idx_event_type ON events (user_id, event, ts);
CREATE INDEX IF NOT EXISTS idx_tool_name ON events (user_id, tool_name, ts);
CREATE INDEX IF NOT EXISTS idx_level ON events (user_id, lvl, ts);
CREATE INDEX IF NOT EXISTS idx_events_session ON events (user_id, session_id, ts);
CREATE INDEX IF NOT EXISTS idx_events_ts ON events (user_id, ts);
CREATE TABLE IF NOT EXISTS schema_meta (key VARCHAR PRIMARY KEY, value VARCHAR);
INSERT OR IGNORE INTO schema_meta VALUES ('version', '2');

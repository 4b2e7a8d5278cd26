CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- a UUID
    content TEXT NOT NULL,
    source TEXT NOT NULL,               -- the file's name
    page INTEGER NOT NULL,              -- from 1; 0 if the program that it comes from named none
    protocol TEXT NOT NULL,             -- in lower case
    chunk_index INTEGER NOT NULL,       -- within the document
    span_start INTEGER NOT NULL,        -- offset into the page's text
    span_end INTEGER NOT NULL,          -- offset into the text of its last page
    vector BLOB,
    embedding_model TEXT,
    section TEXT NOT NULL DEFAULT '',   -- the heading that it stands under
    last_page INTEGER                   -- where it runs over its page's end
) STRICT;
CREATE INDEX documents_by_source ON documents (protocol, source, page, chunk_index);
CREATE TABLE sources (
    id TEXT PRIMARY KEY,                -- {protocol}/{source}
    protocol TEXT NOT NULL,
    source TEXT NOT NULL,
    original TEXT NOT NULL,             -- the file as it came, in memory/originals
    pages INTEGER NOT NULL,
    bare_pages TEXT NOT NULL,           -- those without text, such as "3, 7"
    imported_at REAL NOT NULL,
    has_sections INTEGER NOT NULL DEFAULT 0 -- 0: its passages are of before they knew their sections
) STRICT;

-- Each token's state, for late interaction (`late_interaction.py`). Derived: triggers delete an entry's with its text.
CREATE TABLE token_states (
    id TEXT PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER NOT NULL, states BLOB NOT NULL
) STRICT;
CREATE TRIGGER token_states_removed AFTER DELETE ON documents BEGIN
    DELETE FROM token_states WHERE id = old.id; END;
CREATE TRIGGER token_states_changed AFTER UPDATE OF content ON documents
    WHEN old.content IS NOT new.content BEGIN
    DELETE FROM token_states WHERE id = old.id; END;

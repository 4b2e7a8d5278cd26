CREATE TABLE world_lore (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,            -- {world_id}_{lore_id}
    world_id TEXT NOT NULL,
    lore_id TEXT NOT NULL,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,             -- JSON, of the caller's
    vector BLOB,
    embedding_model TEXT
) STRICT;
CREATE INDEX world_lore_by_world ON world_lore (world_id);
CREATE TABLE worlds (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    start_message TEXT NOT NULL,
    lore TEXT NOT NULL,
    file TEXT NOT NULL,                 -- below memory/worlds
    hash TEXT NOT NULL                  -- of the file as it was taken in
) STRICT;

-- Vectors lie apart from what they are of, under a key of model and text (`vectors.py`). Before, each row had one,
-- rows of the history too, and those of other models were kept by the row's id. One in a damaged row may be damaged.
CREATE TABLE IF NOT EXISTS new_vectors (kind, text_hash, vector); -- a copy has none
CREATE TABLE IF NOT EXISTS checksums (
    name TEXT NOT NULL, key ANY NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE TEMP VIEW in_rows AS SELECT tbl, id, coalesce(model, 'unknown') AS model, CAST(text AS BLOB) AS said, vector FROM (
    SELECT 'memories' AS tbl, id, embedding_model AS model, content AS text, vector FROM main.memories
    UNION ALL SELECT 'documents', id, embedding_model, content, vector FROM main.documents
    UNION ALL SELECT 'world_lore', id, embedding_model, text, vector FROM main.world_lore
    UNION ALL SELECT 'session_memory', id, embedding_model, text, vector FROM main.session_memory
    UNION ALL SELECT 'transcript_vectors', id, embedding_model, source_text, vector FROM main.transcript_vectors
    UNION ALL SELECT tbl, NULL, before ->> '$.embedding_model',
        coalesce(before ->> '$.content', before ->> '$.text', before ->> '$.source_text'), vector
        FROM main.history WHERE vector IS NOT NULL AND json_valid(before)
);
CREATE TEMP VIEW former AS SELECT tbl, model, said, vector FROM in_rows WHERE vector IS NOT NULL
    UNION ALL SELECT kind, model, text_hash, vector FROM main.kept_vectors
    UNION ALL SELECT kind, (SELECT value FROM main.meta WHERE key = kind || ' next_model'), text_hash, vector
        FROM main.new_vectors;
INSERT OR IGNORE INTO checksums SELECT tbl || '_vectors', vector_key(model, said), -1 FROM in_rows
    WHERE vector IS NOT NULL AND (tbl, id) IN (SELECT name, key FROM checksums WHERE sum = -1);
CREATE TABLE memories_vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX memories_vectors_by_model ON memories_vectors (model);
INSERT OR IGNORE INTO memories_vectors SELECT vector_key(model, said), model, vector FROM former WHERE tbl = 'memories';
CREATE TABLE documents_vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX documents_vectors_by_model ON documents_vectors (model);
INSERT OR IGNORE INTO documents_vectors SELECT vector_key(model, said), model, vector FROM former WHERE tbl = 'documents';
CREATE TABLE world_lore_vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX world_lore_vectors_by_model ON world_lore_vectors (model);
INSERT OR IGNORE INTO world_lore_vectors SELECT vector_key(model, said), model, vector FROM former WHERE tbl = 'world_lore';
CREATE TABLE session_memory_vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX session_memory_vectors_by_model ON session_memory_vectors (model);
INSERT OR IGNORE INTO session_memory_vectors SELECT vector_key(model, said), model, vector FROM former WHERE tbl = 'session_memory';
CREATE TABLE transcript_vectors_vectors (key TEXT PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL) STRICT;
CREATE INDEX transcript_vectors_vectors_by_model ON transcript_vectors_vectors (model);
INSERT OR IGNORE INTO transcript_vectors_vectors SELECT vector_key(model, said), model, vector FROM former WHERE tbl = 'transcript_vectors';
DROP VIEW former;
DROP VIEW in_rows;
UPDATE history SET before = json_remove(before, '$.embedding_model')
    WHERE json_valid(before) AND json_type(before, '$.embedding_model') IS NOT NULL;
ALTER TABLE history DROP COLUMN vector;
DROP TABLE kept_vectors;
DROP TABLE new_vectors;
DROP INDEX IF EXISTS idx_vectors_bare;
PRAGMA writable_schema = ON; -- DROP COLUMN would cut the definition of this table at the comma in a comment
UPDATE sqlite_schema SET sql = replace(sql, '-- JSON, of', '-- JSON; of') WHERE name = 'world_lore';
PRAGMA writable_schema = RESET;
ALTER TABLE memories DROP COLUMN vector;
ALTER TABLE memories DROP COLUMN embedding_model;
ALTER TABLE documents DROP COLUMN vector;
ALTER TABLE documents DROP COLUMN embedding_model;
ALTER TABLE world_lore DROP COLUMN vector;
ALTER TABLE world_lore DROP COLUMN embedding_model;
ALTER TABLE session_memory DROP COLUMN vector;
ALTER TABLE session_memory DROP COLUMN embedding_model;
ALTER TABLE transcript_vectors DROP COLUMN vector;
ALTER TABLE transcript_vectors DROP COLUMN embedding_model;

-- Full-text rows keep no text of their own; triggers keep them equal to the table.
CREATE VIRTUAL TABLE memories_words USING fts5 (
    content, content = 'memories', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER memories_words_added AFTER INSERT ON memories BEGIN
    INSERT INTO memories_words (rowid, content) VALUES (new.rowid, new.content); END;
CREATE TRIGGER memories_words_removed AFTER DELETE ON memories BEGIN
    INSERT INTO memories_words (memories_words, rowid, content) VALUES ('delete', old.rowid, old.content); END;
CREATE TRIGGER memories_words_changed AFTER UPDATE OF content ON memories BEGIN
    INSERT INTO memories_words (memories_words, rowid, content) VALUES ('delete', old.rowid, old.content);
    INSERT INTO memories_words (rowid, content) VALUES (new.rowid, new.content); END;
CREATE VIRTUAL TABLE documents_words USING fts5 (
    content, content = 'documents', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER documents_words_added AFTER INSERT ON documents BEGIN
    INSERT INTO documents_words (rowid, content) VALUES (new.rowid, new.content); END;
CREATE TRIGGER documents_words_removed AFTER DELETE ON documents BEGIN
    INSERT INTO documents_words (documents_words, rowid, content) VALUES ('delete', old.rowid, old.content); END;
CREATE TRIGGER documents_words_changed AFTER UPDATE OF content ON documents BEGIN
    INSERT INTO documents_words (documents_words, rowid, content) VALUES ('delete', old.rowid, old.content);
    INSERT INTO documents_words (rowid, content) VALUES (new.rowid, new.content); END;
CREATE VIRTUAL TABLE world_lore_words USING fts5 (
    text, content = 'world_lore', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER world_lore_words_added AFTER INSERT ON world_lore BEGIN
    INSERT INTO world_lore_words (rowid, text) VALUES (new.rowid, new.text); END;
CREATE TRIGGER world_lore_words_removed AFTER DELETE ON world_lore BEGIN
    INSERT INTO world_lore_words (world_lore_words, rowid, text) VALUES ('delete', old.rowid, old.text); END;
CREATE TRIGGER world_lore_words_changed AFTER UPDATE OF text ON world_lore BEGIN
    INSERT INTO world_lore_words (world_lore_words, rowid, text) VALUES ('delete', old.rowid, old.text);
    INSERT INTO world_lore_words (rowid, text) VALUES (new.rowid, new.text); END;
CREATE VIRTUAL TABLE session_memory_words USING fts5 (
    text, content = 'session_memory', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER session_memory_words_added AFTER INSERT ON session_memory BEGIN
    INSERT INTO session_memory_words (rowid, text) VALUES (new.rowid, new.text); END;
CREATE TRIGGER session_memory_words_removed AFTER DELETE ON session_memory BEGIN
    INSERT INTO session_memory_words (session_memory_words, rowid, text) VALUES ('delete', old.rowid, old.text); END;
CREATE TRIGGER session_memory_words_changed AFTER UPDATE OF text ON session_memory BEGIN
    INSERT INTO session_memory_words (session_memory_words, rowid, text) VALUES ('delete', old.rowid, old.text);
    INSERT INTO session_memory_words (rowid, text) VALUES (new.rowid, new.text); END;
CREATE VIRTUAL TABLE transcript_vectors_words USING fts5 (
    source_text, content = 'transcript_vectors', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER transcript_vectors_words_added AFTER INSERT ON transcript_vectors BEGIN
    INSERT INTO transcript_vectors_words (rowid, source_text) VALUES (new.rowid, new.source_text); END;
CREATE TRIGGER transcript_vectors_words_removed AFTER DELETE ON transcript_vectors BEGIN
    INSERT INTO transcript_vectors_words (transcript_vectors_words, rowid, source_text) VALUES ('delete', old.rowid, old.source_text); END;
CREATE TRIGGER transcript_vectors_words_changed AFTER UPDATE OF source_text ON transcript_vectors BEGIN
    INSERT INTO transcript_vectors_words (transcript_vectors_words, rowid, source_text) VALUES ('delete', old.rowid, old.source_text);
    INSERT INTO transcript_vectors_words (rowid, source_text) VALUES (new.rowid, new.source_text); END;
CREATE VIRTUAL TABLE transcripts_words USING fts5 (
    text_content, content = 'transcripts', tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
CREATE TRIGGER transcripts_words_added AFTER INSERT ON transcripts BEGIN
    INSERT INTO transcripts_words (rowid, text_content) VALUES (new.rowid, new.text_content); END;
CREATE TRIGGER transcripts_words_removed AFTER DELETE ON transcripts BEGIN
    INSERT INTO transcripts_words (transcripts_words, rowid, text_content) VALUES ('delete', old.rowid, old.text_content); END;
CREATE TRIGGER transcripts_words_changed AFTER UPDATE OF text_content ON transcripts BEGIN
    INSERT INTO transcripts_words (transcripts_words, rowid, text_content) VALUES ('delete', old.rowid, old.text_content);
    INSERT INTO transcripts_words (rowid, text_content) VALUES (new.rowid, new.text_content); END;

-- Recorded sessions are large: indexes of the beginnings of their words were half of the time of full text.
-- A copy has no index, and gets none that is filled: what is deleted for good would stay in it.
DROP TABLE IF EXISTS transcript_vectors_words;
CREATE VIRTUAL TABLE transcript_vectors_words USING fts5 (
    source_text, content = 'transcript_vectors', tokenize = "unicode61 remove_diacritics 2"
);
INSERT INTO transcript_vectors_words (transcript_vectors_words)
    SELECT 'rebuild' FROM sqlite_schema WHERE name = 'transcript_vectors_words_added';
DROP TABLE IF EXISTS transcripts_words;
CREATE VIRTUAL TABLE transcripts_words USING fts5 (
    text_content, content = 'transcripts', tokenize = "unicode61 remove_diacritics 2"
);
INSERT INTO transcripts_words (transcripts_words)
    SELECT 'rebuild' FROM sqlite_schema WHERE name = 'transcripts_words_added';

-- All but `words` is derived from pictures alone, by their hash; a person's corrections stand in the sidecars.
CREATE TABLE picture_texts (            -- what a program read in a picture; empty: nothing
    image_hash TEXT PRIMARY KEY, reader TEXT NOT NULL, text TEXT NOT NULL,
    words TEXT NOT NULL                 -- by which it is found as well
) STRICT, WITHOUT ROWID;
CREATE TABLE picture_nudity (           -- how likely a model thinks it, 0 to 1
    image_hash TEXT PRIMARY KEY, model TEXT NOT NULL, score REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE unfit (                    -- records that safe mode blurs, and why; kind: hand, nudity or word
    record INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (record, kind)
) STRICT, WITHOUT ROWID;
DROP TABLE vocabulary;
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5 (
    name, ticker, description, caption, tags, picture,
    tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
INSERT INTO words (rowid, name, ticker, description, caption, tags, picture)
    SELECT r.id, r.name, r.ticker, coalesce(s.text ->> '$.description', ''),
        coalesce((SELECT group_concat(value, char(10)) FROM json_each(s.text, '$.caption')), ''),
        coalesce((SELECT group_concat(label, char(10)) FROM labels WHERE record = r.id AND kind = 'tag'), ''),
        coalesce(s.text ->> '$.picture_text', '')
    FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash;
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);

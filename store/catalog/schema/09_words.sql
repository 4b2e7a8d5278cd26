DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5 (
    name, ticker, description, caption, tags,
    tokenize = "unicode61 remove_diacritics 2", prefix = '2 3'
);
INSERT INTO words (rowid, name, ticker, description, caption, tags)
    SELECT r.id, r.name, r.ticker, coalesce(s.text ->> '$.description', ''),
        coalesce((SELECT group_concat(value, char(10)) FROM json_each(s.text, '$.caption')), ''),
        coalesce((SELECT group_concat(label, char(10)) FROM labels WHERE record = r.id AND kind = 'tag'), '')
    FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash;
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);

ALTER TABLE drafts RENAME TO drafts_of_all;
CREATE TABLE drafts (                   -- what is being typed, one for each coin and person
    address TEXT NOT NULL, fields TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (address, who)
) STRICT;
INSERT INTO drafts SELECT * FROM drafts_of_all;
DROP TABLE drafts_of_all;
CREATE TABLE sources (                  -- texts that a model wrote; without one, a person did
    decision TEXT NOT NULL,
    address TEXT NOT NULL,
    facet TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    edited INTEGER NOT NULL,            -- whether a person changed it before saving
    PRIMARY KEY (decision, address, facet)
) STRICT;

CREATE TABLE likenesses (               -- pictures that the model finds alike; each pair in both directions
    picture TEXT NOT NULL, other TEXT NOT NULL, sure REAL NOT NULL, PRIMARY KEY (picture, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE likened (                  -- pictures whose likenesses are all there, and by which model
    image_hash TEXT PRIMARY KEY, model TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived from pictures alone, by their hash.
CREATE TABLE picture_details (
    number INTEGER PRIMARY KEY,
    image_hash TEXT NOT NULL UNIQUE,
    details BLOB NOT NULL               -- thirteen bytes each; empty: none, or it cannot be read
) STRICT;

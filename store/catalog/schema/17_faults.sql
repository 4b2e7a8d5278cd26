-- Derived from pictures alone, by their hash.
CREATE TABLE picture_faults (           -- what is wrong with a picture; '' once it was looked at
    image_hash TEXT NOT NULL, fault TEXT NOT NULL, PRIMARY KEY (image_hash, fault)
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_faults_by_fault ON picture_faults (fault);

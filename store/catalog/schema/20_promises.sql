ALTER TABLE copilots ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;  -- coins that waited for it then
ALTER TABLE copilots ADD COLUMN apart REAL NOT NULL DEFAULT 0.5;     -- how well they are told from decided ones, to 1

-- In the very order of the lists: addresses ascend where times descend, and a later page only skips entries.
CREATE INDEX records_by_newest ON records (tier, created_at DESC, address);
DROP INDEX records_by_move;
CREATE INDEX records_by_move ON records (tier, moved_at DESC, address);

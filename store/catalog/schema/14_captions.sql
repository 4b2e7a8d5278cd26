-- Coins with and without a caption, newest first: few of a million may have one, or lack it.
CREATE INDEX records_by_caption ON records (tier, captioned, created_at DESC, address);

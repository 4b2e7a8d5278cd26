"""Families of coins: who is joined by one picture, by confirmed matches, by name and ticker, or by verdicts.

Whether two coins belong together follows from rows that are there, so that a family is asked for and never
stored. Pictures, spellings and coins are the nodes of one search, which takes as long as the family is large.
"""

from store.catalog.confusables import spelling

NEAR = 36  # differing bits of 256, of pictures that were laid over each other
ALIKE = 0.8  # how sure the model's matches are, at least

_KIN = f"""
WITH RECURSIVE kin (node) AS (
    SELECT 'r' || id FROM records WHERE address = ?
    UNION SELECT 'r' || record FROM spellings WHERE ticker_skeleton = ? AND ? <> ''
    UNION SELECT 'r' || record FROM spellings WHERE name_skeleton = ? AND ? <> ''
    UNION SELECT 'p' || r.image_hash FROM kin JOIN records r ON r.id = CAST(substr(node, 2) AS INTEGER)
        WHERE node GLOB 'r*'
    UNION SELECT 's' || s.name_skeleton || char(31) || s.ticker_skeleton FROM kin
        JOIN spellings s ON s.record = CAST(substr(node, 2) AS INTEGER)
        WHERE node GLOB 'r*' AND s.name_skeleton <> '' AND s.ticker_skeleton <> ''
    UNION SELECT 'r' || r.id FROM kin JOIN records r ON r.image_hash = substr(node, 2) WHERE node GLOB 'p*'
    UNION SELECT 'p' || l.other FROM kin JOIN lookalikes l ON l.picture = substr(node, 2)
        WHERE node GLOB 'p*' AND l.distance <= {NEAR}
    UNION SELECT 'p' || l.other FROM kin JOIN likenesses l ON l.picture = substr(node, 2)
        WHERE node GLOB 'p*' AND l.sure >= {ALIKE}
    UNION SELECT 'r' || s.record FROM kin
        JOIN spellings s ON s.name_skeleton = substr(node, 2, instr(node, char(31)) - 2)
        AND s.ticker_skeleton = substr(node, instr(node, char(31)) + 1) WHERE node GLOB 's*'
    UNION SELECT 'r' || o.id FROM kin JOIN records r ON r.id = CAST(substr(node, 2) AS INTEGER)
        JOIN verdicts v ON v.first = r.address JOIN records o ON o.address = v.second
        WHERE node GLOB 'r*' AND v.after IN ('copy of', 'copied by') AND v.id = (
            SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second)
    UNION SELECT 'r' || o.id FROM kin JOIN records r ON r.id = CAST(substr(node, 2) AS INTEGER)
        JOIN verdicts v ON v.second = r.address JOIN records o ON o.address = v.first
        WHERE node GLOB 'r*' AND v.after IN ('copy of', 'copied by') AND v.id = (
            SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second)
)
SELECT CAST(substr(node, 2) AS INTEGER) AS record FROM kin WHERE node GLOB 'r*' AND record NOT IN (
    SELECT o.id FROM verdicts v JOIN records o ON o.address IN (v.first, v.second)
    WHERE ? IN (v.first, v.second) AND o.address <> ? AND v.after = 'different' AND v.id = (
        SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second))
"""


def select(asked: str) -> tuple[str, list[str]]:
    """SQL for the row numbers of a family, in a column `record`, and its values.

    `asked` is the address of a coin, else a ticker or a name, however it is spelt; coins that people judged
    different from that coin are left out.
    """
    spelt = spelling(asked, asked.removeprefix("$"))
    return _KIN, [
        asked, spelt.ticker_skeleton, spelt.ticker, spelt.name_skeleton, spelt.name, asked, asked,
    ]  # fmt: skip

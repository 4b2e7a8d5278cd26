"""Which library records are one coin more than once: groups by picture, for lists that show each once."""

import sqlite3

NEAR = 27  # differing bits of 256: 0.8 sure (findings._PER_BIT); beyond it they stay apart

_PAIRS = """
SELECT a.address, b.address FROM records a JOIN records b ON b.image_hash = a.image_hash AND b.id > a.id
WHERE a.tier = 'library' AND b.tier = 'library'
UNION
SELECT a.address, b.address FROM lookalikes l JOIN records a ON a.image_hash = l.picture
JOIN records b ON b.image_hash = l.other AND b.id <> a.id
WHERE a.tier = 'library' AND b.tier = 'library' AND l.distance <= ?
UNION SELECT first, second FROM verdicts WHERE after IS NOT NULL AND after <> 'different'
EXCEPT SELECT first, second FROM verdicts v WHERE after = 'different' AND id = (
    SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second
)
EXCEPT SELECT second, first FROM verdicts v WHERE after = 'different' AND id = (
    SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second
)
"""


def groups(db: sqlite3.Connection) -> dict[str, int]:
    """The group of each record that has a copy; a pair that somebody called different is not joined."""
    leader: dict[str, str] = {}

    def find(address: str) -> str:
        while leader.setdefault(address, address) != address:
            address = leader[address] = leader[leader[address]]
        return address

    for one, other in db.execute(_PAIRS, [NEAR]):
        leader[find(one)] = find(other)
    number: dict[str, int] = {}
    return {address: number.setdefault(find(address), len(number)) for address in list(leader)}

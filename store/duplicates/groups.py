"""Groups of library records with the same picture, for lists that show each only once."""

import sqlite3
from collections import defaultdict

NEAR = 27  # differing bits of 256: 0.8 sure (findings._PER_BIT); beyond it they stay apart

_SHOWING = "SELECT address, image_hash FROM records WHERE tier = 'library' ORDER BY id"
_ALIKE = "SELECT picture, other FROM lookalikes WHERE distance <= ?"
_STANDING = """
SELECT first, second, after = 'different' FROM verdicts v WHERE after IS NOT NULL AND id = (
    SELECT max(id) FROM verdicts WHERE first = v.first AND second = v.second
)
"""


def groups(db: sqlite3.Connection) -> dict[str, int]:
    """The group of each record that has a copy; pairs that somebody judged different are not joined.

    Walks from record to record over those not visited yet, so that a picture that thousands share does not
    need a comparison of all pairs.
    """
    picture: dict[str, str] = dict(db.execute(_SHOWING))
    left: defaultdict[str, set[str]] = defaultdict(set)  # picture → records that are in no group yet
    for address, shown in picture.items():
        left[shown].add(address)
    near: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in db.execute(_ALIKE, [NEAR]):
        near[one].append(other)
    same: defaultdict[str, set[str]] = defaultdict(set)
    apart: defaultdict[str, set[str]] = defaultdict(set)
    for one, other, differs in db.execute(_STANDING):
        for first, second in (one, other), (other, one):
            (apart if differs else same)[first].add(second)

    grouped: dict[str, int] = {}
    for number, start in enumerate(picture):
        if start not in left[picture[start]]:
            continue
        left[picture[start]].remove(start)
        group = [start]
        for address in group:  # grows meanwhile
            shown = picture[address]
            for other in (shown, *near[shown]):
                reached = left[other] - apart[address]
                left[other] -= reached
                group += reached
            for called in same[address].intersection(picture):
                if called in left[picture[called]]:
                    left[picture[called]].remove(called)
                    group.append(called)
        if len(group) > 1:
            grouped.update(dict.fromkeys(group, number))
    return grouped

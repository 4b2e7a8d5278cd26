"""Records that show the same coin form one group, except where a verdict calls them different."""

import sqlite3
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from store.duplicates.groups import groups

_TABLES = """
CREATE TABLE records (id INTEGER PRIMARY KEY, address TEXT, tier TEXT, image_hash TEXT);
CREATE TABLE lookalikes (picture TEXT, other TEXT, distance INTEGER);
CREATE TABLE verdicts (id INTEGER PRIMARY KEY, first TEXT, second TEXT, after TEXT);
"""  # only the relevant columns, without foreign keys
_PICTURES = "pqrs"
_ADDRESSES = "abcdefgh"
_pairs = {name: st.sampled_from(list(combinations(name, 2))) for name in (_PICTURES, _ADDRESSES)}


@given(
    shown=st.lists(st.sampled_from(_PICTURES), min_size=8, max_size=8),
    alike=st.dictionaries(_pairs[_PICTURES], st.sampled_from([3, 27, 28])),
    message=st.lists(
        st.tuples(_pairs[_ADDRESSES], st.sampled_from(["different", "different", "same", None])), max_size=8
    ),
)
def test_groups_match_a_comparison_of_all_pairs(
    shown: list[str], alike: dict[tuple[str, str], int], message: list[tuple[tuple[str, str], str | None]]
) -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(_TABLES)
    db.executemany(
        "INSERT INTO records (address, tier, image_hash) VALUES (?, 'library', ?)",
        zip(_ADDRESSES, shown, strict=True),
    )
    for (one, other), distance in alike.items():
        db.executemany(
            "INSERT INTO lookalikes VALUES (?, ?, ?)", [(one, other, distance), (other, one, distance)]
        )
    db.executemany(
        "INSERT INTO verdicts (first, second, after) VALUES (?, ?, ?)",
        [(first, second, after) for (first, second), after in message],
    )
    stands = dict(message)  # the last verdict on a pair
    picture = dict(zip(_ADDRESSES, shown, strict=True))
    group = {address: {address} for address in _ADDRESSES}
    for one, other in combinations(_ADDRESSES, 2):
        of = tuple(sorted((picture[one], picture[other])))
        look_alike = of[0] == of[1] or alike.get((of[0], of[1]), 99) <= 27
        standing = stands.get((one, other))
        if standing == "same" or (standing is None and look_alike):
            joined = group[one] | group[other]
            group.update(dict.fromkeys(joined, joined))
    expected = {frozenset(members) for members in group.values() if len(members) > 1}
    found: dict[int, set[str]] = {}
    for address, number in groups(db).items():
        found.setdefault(number, set()).add(address)
    db.close()
    assert {frozenset(members) for members in found.values()} == expected


def test_two_thousand_records_of_one_picture_are_one_group() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(_TABLES)
    db.executemany(
        "INSERT INTO records (address, tier, image_hash) VALUES (?, 'library', 'p')",
        [(f"coin {number}",) for number in range(2_000)],
    )
    db.execute(
        "INSERT INTO verdicts (first, second, after) SELECT 'coin 1', address, 'different' FROM records "
        "WHERE address <> 'coin 1'"
    )
    db.execute("INSERT INTO verdicts (first, second, after) VALUES ('coin 2', 'coin 3', 'different')")
    found = groups(db)
    db.close()
    assert len(found) == 1_999
    assert set(found.values()) == {0}

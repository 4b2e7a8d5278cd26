"""The distance between two words."""

from store.catalog.spelling import distance


def test_distance_counts_insertions_deletions_substitutions_and_swaps() -> None:
    assert [distance("frog", other) for other in ("frog", "frg", "froog", "frag", "frgo", "dogs")] == [
        0, 1, 1, 1, 1, 3,
    ]  # fmt: skip

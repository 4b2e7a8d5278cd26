"""The week of Home, computed from the moves of the history."""

from pathlib import Path

from components.overview.flow import summed
from store.reading import audit
from store.runtime import open_library
from tests.browser.coins import COINS, FROG, PENDING
from tests.store.hashed import Hashed


def test_a_week_counts_the_way_of_coins_through_the_tiers(tmp_path: Path) -> None:
    with open_library(tmp_path, embedder=Hashed()) as library:
        library.add([coin.candidate() for coin in (*COINS, PENDING)])
        library.approve([coin.address for coin in COINS])
        library.promote([FROG.address])
        library.reject([PENDING.address])
        week = summed(audit.moves_by_day(library, since=0))
        counts = library.counts()
    assert week.came == {"pending": len(COINS) + 1, "approved": len(COINS), "library": 1, "trash": 1}
    assert {tier: change for tier, change in week.changes.items() if change} == {
        tier: count for tier, count in counts.items() if count
    }


def test_what_was_undone_is_subtracted() -> None:
    week = summed(
        [
            (1, None, "pending", 9),
            (1, "pending", "approved", 5),
            (2, "approved", "pending", 2),
            (2, "pending", "trash", 3),
            (2, "trash", "pending", 3),
            (2, "pending", "pending", 4),  # tags, for example
        ]
    )
    assert week.came == {"pending": 9, "approved": 3, "library": 0, "trash": 0}
    assert week.changes == {"pending": 6, "approved": 3, "trash": 0}

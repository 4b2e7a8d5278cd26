"""The monthly trend line of a tier, computed backwards from its history."""

from pathlib import Path

from components.overview.metrics import DAYS, line, tier_moves
from store.runtime import open_library
from tests.browser.coins import COINS, FROG, PENDING
from tests.store.hashed import Hashed


def test_the_trend_line_is_computed_back_from_the_current_count() -> None:
    days = line(10, {100: 4, 98: 6}, today=100)
    assert len(days) == DAYS + 1
    assert days[-1] == 10
    assert days[-2] == days[-3] == 6
    assert days[-4] == 0


def test_tier_moves_count_arrivals_and_departures(tmp_path: Path) -> None:
    with open_library(tmp_path, embedder=Hashed()) as library:
        library.add([coin.candidate() for coin in (*COINS, PENDING)])
        library.approve([coin.address for coin in COINS])
        library.promote([FROG.address])
        moves = tier_moves(library, since=0)
        counts = library.counts()
    assert {tier: sum(days.values()) for tier, days in moves.items()} == {
        tier: count for tier, count in counts.items() if count
    }


def test_tier_moves_are_correct_after_very_many_changes(tmp_path: Path) -> None:
    pending, approved = '{"tier": "pending"}', '{"tier": "approved"}'
    with open_library(tmp_path, embedder=Hashed()) as library:
        with library.catalog.writing() as db:
            for verb, before, after in (("import", None, pending), ("approve", pending, approved)):
                db.executemany(
                    "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
                    "VALUES ('one', ?, ?, 86400, 'ann', '', ?, ?)",
                    [(verb, f"local-{number}", before, after) for number in range(6_000)],
                )
        assert tier_moves(library, since=0) == {"pending": {1: 0}, "approved": {1: 6_000}}

"""The month's line of a tier, reckoned back from its history."""

from pathlib import Path

from components.at_a_glance import DAYS, line, tier_moves
from store.library import Library
from tests.browser.coins import COINS, FROG, PENDING
from tests.store.hashed import Hashed


def test_the_line_ends_at_what_is_there_now_and_begins_before_it_came() -> None:
    days = line(10, {100: 4, 98: 6}, today=100)
    assert len(days) == DAYS + 1
    assert days[-1] == 10
    assert days[-2] == days[-3] == 6
    assert days[-4] == 0


def test_moves_count_what_came_and_what_went(tmp_path: Path) -> None:
    with Library.open(tmp_path, embedder=Hashed()) as library:
        library.add([coin.candidate() for coin in (*COINS, PENDING)])
        library.approve([coin.address for coin in COINS])
        library.promote([FROG.address])
        moves = tier_moves(library, since=0)
        counts = library.counts()
    assert {tier: sum(days.values()) for tier, days in moves.items()} == {
        tier: count for tier, count in counts.items() if count
    }

"""Waves: coins of one family that arrive within an hour are found together, and settled as one decision."""

import time

import pytest

from store.errors import InvalidRecord
from store.library import Library
from store.rules import waves
from tests.store.conftest import address, coin
from tests.store.rules.conftest import ORIGINAL, copied

NOW = time.time()


def arrive(library: Library, *numbers: int, ago: float) -> None:
    """Copies of the first coin come in, so many seconds ago."""
    then = library.for_actor(library.catalog.actor.as_of(NOW - ago))
    then.add([copied(number, of=1, token_name=f"Other {number}", ticker=f"O{number}") for number in numbers])


@pytest.fixture
def flooded(library: Library) -> Library:
    """A coin approved yesterday, two copies of last week, twelve of the last hour, and a stranger."""
    library.add([coin(1, token_name="Dogecoin", ticker="DOGE"), coin(99, ticker="FAR")])
    library.approve([ORIGINAL])
    arrive(library, 50, 51, ago=7 * 86_400)
    for number in range(2, 14):
        arrive(library, number, ago=200.0 * number)
    library.duplicates.examine()
    return library


def test_copies_of_one_hour_are_one_wave_and_earlier_ones_are_not_in_it(flooded: Library) -> None:
    (wave,) = waves.find(flooded)
    assert (wave.of, wave.sentence) == (ORIGINAL, "12 coins like Dogecoin")
    assert wave.coins == tuple(address(number) for number in range(13, 1, -1))
    assert wave.since == pytest.approx(NOW - 2_600)


def test_a_family_that_came_at_two_times_is_two_waves_the_larger_first(flooded: Library) -> None:
    for number in range(20, 31):
        arrive(flooded, number, ago=86_400 + 200.0 * number)
    flooded.duplicates.examine()
    larger, smaller = waves.find(flooded)
    assert [larger.of, smaller.of] == [ORIGINAL, ORIGINAL]
    assert [len(larger.coins), len(smaller.coins)] == [12, 11]
    assert smaller.coins == tuple(address(number) for number in range(30, 19, -1))


def test_a_wave_is_rejected_and_comes_back_as_one_decision(flooded: Library) -> None:
    (wave,) = waves.find(flooded)
    job = waves.settle(flooded, wave, leave=[address(5)], actor="ann")
    assert flooded.jobs.wait(job.id, timeout=60)
    assert flooded.get(address(2)).tier == "trash"
    assert flooded.history(address=address(2), limit=1)[0].reason == "copycat"
    assert [flooded.get(address(number)).tier for number in (5, 50, 99)] == ["pending"] * 3
    assert waves.still_waiting(flooded, wave).coins == (address(5),)
    assert waves.find(flooded) == []
    flooded.undo(actor="ann")
    assert waves.find(flooded) == [wave]


def test_fewer_coins_or_coins_of_two_days_are_no_wave(library: Library) -> None:
    library.add([coin(1)])
    for number in range(2, 2 + waves.LEAST):
        arrive(library, number, ago=4_000.0 * number)
    library.duplicates.examine()
    assert waves.find(library) == []


def test_a_coin_judged_different_is_not_in_the_wave(flooded: Library) -> None:
    flooded.duplicates.judge(ORIGINAL, "different", [address(7)], actor="ann")
    (wave,) = waves.find(flooded)
    assert address(7) not in wave.coins
    assert len(wave.coins) == 11


def test_a_wave_without_a_coin_left_is_refused(flooded: Library) -> None:
    (wave,) = waves.find(flooded)
    with pytest.raises(InvalidRecord, match="no coin of the wave like Dogecoin is left"):
        waves.settle(flooded, wave, leave=wave.coins)

"""The shared password, and how often somebody may try it."""

import time

import pytest

from store.sessions import password
from store.sessions.password import Tries


@pytest.mark.slow
def test_a_password_is_recognised_and_stored_by_argon2id_with_its_own_salt() -> None:
    first, second = password.hashed("correct horse"), password.hashed("correct horse")
    assert first.startswith("$argon2id$")
    assert first != second
    assert password.matches(first, "correct horse")
    for wrong in ("correct hors", "correct horse ", "Correct horse", "", "x" * 10_000_000):
        assert not password.matches(first, wrong)
    for damaged in ("", "$argon2id$", first[:-4], "plain"):
        assert not password.matches(damaged, "correct horse")


@pytest.mark.slow
def test_how_near_a_wrong_password_is_does_not_show_in_the_time() -> None:
    stored = password.hashed("correct horse")

    def seconds(tried: str) -> float:
        took = []
        for _ in range(5):
            began = time.perf_counter()
            password.matches(stored, tried)
            took.append(time.perf_counter() - began)
        return min(took)

    near, far = seconds("correct hors_"), seconds("x")
    assert 0.3 < near / far < 3


def taken(tries: Tries, now: list[float], *, seconds: float, addresses: int = 1, **how: bool) -> int:
    """How many tries have their turn within so many seconds, if each address tries as soon as it may."""
    count, end, due = 0, now[0] + seconds, [now[0]] * addresses
    while min(due) < end:
        number = due.index(min(due))
        now[0] = due[number]
        wait = tries.turn(str(number), **how)
        count += wait <= password.LONGEST_WAIT
        due[number] = now[0] + max(wait, 0.001)
    return count


def test_five_wrong_passwords_cost_nothing_and_each_further_one_twice_as_much() -> None:
    now = [0.0]
    tries = Tries(clock=lambda: now[0])
    assert [tries.turn("a") for _ in range(5)] == [0.0] * 5
    waits = []
    for _ in range(6):
        waits.append(tries.turn("a"))
        now[0] += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 12.0, 12.0]
    assert tries.turn("b") == 0.0, "somebody else"
    now[0] += 3_600.0
    assert tries.turn("a") == 0.0


def test_guessing_gets_7_200_tries_a_day_from_one_address_and_86_400_from_all() -> None:
    now = [0.0]
    assert taken(Tries(clock=lambda: now[0]), now, seconds=86_400.0) <= 7_220
    now = [0.0]
    assert taken(Tries(clock=lambda: now[0]), now, seconds=600.0, addresses=100) <= 600 + 61 + 31


def test_a_try_that_would_wait_too_long_is_not_counted() -> None:
    now = [0.0]
    tries = Tries(clock=lambda: now[0])
    waits = [tries.turn("a") for _ in range(100)]
    assert max(wait for wait in waits if wait <= password.LONGEST_WAIT) == 27.0
    now[0] = 40.0
    assert tries.turn("a") == 0.0


def test_a_browser_from_which_somebody_logged_in_does_not_wait_for_strangers() -> None:
    tries = Tries(clock=lambda: 0.0)
    for number in range(100):
        tries.turn(str(number))
    assert tries.turn("one more") > password.LONGEST_WAIT
    assert tries.turn("a known browser", is_known=True) == 0.0


def test_who_knows_the_password_may_go_on() -> None:
    tries = Tries(clock=lambda: 0.0)
    for _ in range(20):
        assert tries.turn("a") == 0.0
        tries.succeeded("a")

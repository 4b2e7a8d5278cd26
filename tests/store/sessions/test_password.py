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


def test_five_tries_a_minute_from_one_address_and_sixty_from_all() -> None:
    now = [0.0]
    tries = Tries(clock=lambda: now[0])
    assert [tries.wait("a") for _ in range(5)] == [0.0] * 5
    assert tries.wait("a") == 60.0
    now[0] = 20.0
    assert tries.wait("a") == 40.0
    assert tries.wait("b") == 0.0, "somebody else"
    now[0] = 60.0
    assert tries.wait("a") == 0.0
    now[0] = 200.0
    assert [tries.wait(str(number)) for number in range(60)] == [0.0] * 60
    assert tries.wait("one more") == 60.0


def test_who_knows_the_password_may_go_on() -> None:
    tries = Tries(clock=lambda: 0.0)
    for _ in range(20):
        assert tries.wait("a") == 0.0
        tries.succeeded("a")

"""When requests to a failed server are retried."""

import pytest

from store.errors import ProviderRefuses
from store.jobs.circuit_breaker import CircuitBreaker


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def pause(breaker: CircuitBreaker) -> float:
    """The pause of a caller whose request, if it may send one, succeeds."""
    with breaker.attempt() as attempt:
        return attempt.pause


def fail(breaker: CircuitBreaker, *, retry_after: float | None = None) -> None:
    with breaker.attempt() as attempt:
        attempt.failed(retry_after=retry_after)


def refuse(breaker: CircuitBreaker) -> None:
    with breaker.attempt() as attempt:
        assert attempt.pause == 0.0
        raise ProviderRefuses("the key was revoked")


def test_after_a_failure_only_one_request_is_sent_and_the_waits_grow() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    assert [pause(breaker), pause(breaker)] == [0.0, 0.0]
    fail(breaker, retry_after=10)
    assert pause(breaker) == 10.0
    clock.now += 10
    with breaker.attempt() as attempt:
        assert attempt.pause == 0.0, "one asks"
        assert pause(breaker) > 0.0, "the others wait for what it hears"
        attempt.failed(retry_after=None)
    assert 2.0 <= pause(breaker) <= 2.5
    clock.now += 3
    assert [pause(breaker), pause(breaker)] == [0.0, 0.0]


def test_a_request_that_raises_lets_the_others_ask() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    fail(breaker)
    clock.now += 10
    with pytest.raises(ProviderRefuses):
        refuse(breaker)
    assert [pause(breaker), pause(breaker)] == [0.0, 0.0]


def test_simultaneous_failures_count_as_one() -> None:
    breaker = CircuitBreaker(clock=Clock())
    with breaker.attempt() as one, breaker.attempt() as another, breaker.attempt() as third:
        for attempt in (one, another, third):
            attempt.failed(retry_after=None)
    assert 0.0 < pause(breaker) <= 1.25


def test_a_server_that_never_answered_is_abandoned_after_six_failures() -> None:
    clock = Clock()
    unseen, seen = CircuitBreaker(clock=clock), CircuitBreaker(clock=clock)
    assert pause(seen) == 0.0
    for _ in range(6):
        assert not unseen.is_given_up
        fail(unseen)
        fail(seen)
        clock.now += 100
    assert unseen.is_given_up
    assert not seen.is_given_up
    clock.now += 6 * 3600
    assert seen.is_given_up

"""When requests to a failed server are retried."""

from store.jobs.circuit_breaker import CircuitBreaker


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_after_a_failure_only_one_request_is_sent_and_the_waits_grow() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock=clock)
    assert [breaker.wait(), breaker.wait()] == [0.0, 0.0]
    breaker.failed(retry_after=10)
    assert breaker.wait() == 10.0
    clock.now += 10
    assert breaker.wait() == 0.0, "one asks"
    assert breaker.wait() > 0.0, "the others wait for what it hears"
    breaker.failed(retry_after=None)
    assert 2.0 <= breaker.wait() <= 2.5
    clock.now += 3
    assert breaker.wait() == 0.0
    breaker.succeeded()
    assert [breaker.wait(), breaker.wait()] == [0.0, 0.0]


def test_simultaneous_failures_count_as_one() -> None:
    breaker = CircuitBreaker(clock=Clock())
    for _ in range(4):
        breaker.failed(retry_after=None)
    assert breaker.wait() <= 1.25


def test_a_server_that_never_answered_is_abandoned_after_six_failures() -> None:
    clock = Clock()
    unseen, seen = CircuitBreaker(clock=clock), CircuitBreaker(clock=clock)
    seen.succeeded()
    for _ in range(6):
        assert not unseen.is_given_up
        unseen.failed(retry_after=None)
        seen.failed(retry_after=None)
        clock.now += 100
    assert unseen.is_given_up
    assert not seen.is_given_up
    clock.now += 6 * 3600
    assert seen.is_given_up

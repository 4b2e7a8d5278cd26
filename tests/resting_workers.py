"""The background work on pictures, left out of tests that need none: it takes longer than most pages."""

from store.jobs.background_worker import Worker

COMPARING = "looking for copies"
_ON_PICTURES = {COMPARING, "embedding what is new", "reading pictures"}
_wake = Worker.wake


def wake_others(worker: Worker, *, after: float = 0.0) -> None:
    """Like `Worker.wake`, but workers that read, embed or compare pictures never begin."""
    if worker.name not in _ON_PICTURES:
        _wake(worker, after=after)


def wake_comparing(worker: Worker, *, after: float = 0.0) -> None:
    """Like `Worker.wake`, but of the workers on pictures only the one that compares them begins."""
    if worker.name not in _ON_PICTURES - {COMPARING}:
        _wake(worker, after=after)

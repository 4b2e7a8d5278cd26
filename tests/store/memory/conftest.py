"""Fixtures for the tests of the text memory: a model without weights, a clock, a memory in a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from store.chroma.follower import ChromaFollower
from store.memory.memory import Memory
from store.settings import settings
from tests.store.memory.bags import Bags


class Clock:
    """A clock that returns the time it is set to and does not advance."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def chroma() -> None:
    """Chroma is updated as in production."""


@pytest.fixture(autouse=True)
def _without_chroma(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not update Chroma in other tests: opening it takes longer than the rest of the test."""
    if "chroma" not in request.fixturenames:
        monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)


@pytest.fixture(autouse=True)
def _settings_of_one_test() -> Iterator[None]:
    """Read the settings again in the next test: they are kept for the process."""
    yield
    settings.cache_clear()


@pytest.fixture
def bags() -> Bags:
    return Bags()


@pytest.fixture
def clock() -> Clock:
    return Clock(1_769_853_600.25)  # 2026-01-31 10:00:00 UTC and a quarter of a second


@pytest.fixture
def reopen(tmp_path: Path, bags: Bags, clock: Clock) -> Iterator[Callable[[], Memory]]:
    """Close the memory and open it again, as after a restart."""
    opened: list[Memory] = []

    def again() -> Memory:
        if opened:
            opened.pop().close()
        opened.append(Memory.open(tmp_path / "res", embedder=bags, clock=clock))
        return opened[0]

    yield again
    if opened:
        opened[0].close()


@pytest.fixture
def memory(reopen: Callable[[], Memory]) -> Memory:
    return reopen()


@pytest.fixture
def memory_with_lore(memory: Memory) -> Memory:
    for number in range(6):
        memory.lore.add_lore("peaks" if number % 2 else "swamp", f"l{number}", f"Dragón tale {'x' * number}")
    return memory

"""Progress of a job, which the store writes and another thread reads; and work in batches."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Progress:
    """Plain figures instead of a callback, so that no foreign code runs inside an operation."""

    total: int = 0  # 0: not known yet
    done: int = 0
    what: str = ""
    answer: str = ""  # what a language model has written so far
    cancelled: bool = False

    def cancel(self) -> None:
        """Ask to stop before the next batch; finished work stays."""
        self.cancelled = True

    @property
    def fraction(self) -> float:
        """From 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def batches(items: Iterable[T], size: int, progress: Progress | None = None) -> Iterator[list[T]]:
    """The items in batches, each counted as done after it, until the end or until cancelled."""
    rest = iter(items)
    while not (progress and progress.cancelled) and (batch := list(islice(rest, size))):
        yield batch
        if progress:
            progress.done += len(batch)

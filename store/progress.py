"""Progress of a job: the store writes it, another thread reads it."""

from dataclasses import dataclass


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

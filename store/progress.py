"""How far long work has come: the store writes it, whoever waits reads it from another thread."""

from dataclasses import dataclass


@dataclass(slots=True)
class Progress:
    """Plain figures instead of a callback: nobody's code runs inside an operation."""

    total: int = 0  # 0: not known yet
    done: int = 0
    what: str = ""
    cancelled: bool = False

    def cancel(self) -> None:
        """Ask to stop before the next batch; what is done stays done."""
        self.cancelled = True

    @property
    def fraction(self) -> float:
        """0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

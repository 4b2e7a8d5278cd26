"""A job and its items as the catalog has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["waiting", "running", "paused", "interrupted", "done", "cancelled", "failed"]
ItemState = Literal["waiting", "done", "refused"]

OPEN: tuple[State, ...] = ("waiting", "running", "paused", "interrupted", "failed")  # something is left to do
FINISHED: tuple[State, ...] = ("done", "cancelled", "failed")
EPHEMERAL = ""  # the kind of work that no other run of the program could go on with


@dataclass(frozen=True, slots=True)
class Job:
    """A job at one moment; get it again for its progress."""

    id: int
    kind: str
    name: str  # what a person calls it
    actor: str
    decision: str  # what its changes of records have in common in the history, so that undo takes all back
    state: State
    options: Mapping[str, Any]
    note: Mapping[str, Any]  # what the work keeps for itself and for the page, such as its cost so far
    error: str  # why it failed, or what it waits for
    total: int  # items, or another unit of the work; 0 while it is unknown
    done: int
    refused: int
    made_at: float  # UNIX seconds
    ended_at: float  # 0 while it is not over
    worked: float  # seconds, pauses left out
    what: str = ""  # what it is doing at the moment
    answer: str = ""  # what a language model has written for it so far, while it runs
    rate: float = 0.0  # items a second over the last minute
    is_stopping: bool = False  # paused or cancelled, and still finishing what it has in hand
    result: Any = None  # of passing work, while this program runs

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in any way."""
        return self.state in FINISHED

    @property
    def is_ephemeral(self) -> bool:
        """Whether no later run of the program could continue it."""
        return self.kind == EPHEMERAL

    @property
    def is_under_way(self) -> bool:
        """Whether it is running, or will run by itself."""
        return self.state in ("waiting", "running") or self.is_stopping

    @property
    def is_stuck(self) -> bool:
        """Whether it waits for a disk that refuses, and will run by itself; `error` says why."""
        return self.state == "waiting" and bool(self.error)

    @property
    def can_resume(self) -> bool:
        """Whether `resume` can continue it."""
        return self.state in ("paused", "interrupted", "failed") and not self.is_ephemeral

    @property
    def left(self) -> int:
        """How many items are neither done nor refused."""
        return max(0, self.total - self.done - self.refused)

    @property
    def fraction(self) -> float | None:
        """Progress from 0 to 1; None if it is not known."""
        return min(1.0, (self.done + self.refused) / self.total) if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """Estimate at the present rate, in seconds; None without a rate."""
        return self.left / self.rate if self.rate > 0 and self.state == "running" else None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do, usually a record by its address."""

    job: int
    position: int
    key: str
    payload: Any  # what the work needs in addition to the key, as JSON
    state: ItemState = "waiting"
    reason: str = ""  # why it was refused
    ended_at: float = 0.0  # when it was done or refused, UNIX seconds

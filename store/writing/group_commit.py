"""Operations that arrive while another is carried out wait, and are then carried out together.

Each costs a dozen fsyncs and renames, for which it holds the lock; ten that share their fsyncs cost little
more than one. Who waits and gets the lock first works for all.
"""

import contextlib
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from store.operations import Operation
from store.writing.payload import Payload

_MOST = 64  # records of a group of several operations, since each waits for all


@dataclass(slots=True, eq=False)
class QueuedOperation:
    """One operation, and what became of it."""

    operation: Operation
    payload: Payload
    is_alone: bool = False  # together with others it failed, so it gets its own try
    refused: dict[str, str] | None = None  # records left alone, once it is carried out: address → reason
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether it was carried out, or failed."""
        return self.refused is not None or self.error is not None

    @property
    def addresses(self) -> set[str]:
        """The records that it changes, in small letters."""
        return {change.address.lower() for change in self.operation.changes}


class GroupCommit:
    """Hands the operations of all threads to `perform`, under the lock; no two of a group share a record."""

    def __init__(
        self,
        lock: Callable[[], AbstractContextManager[object]],
        perform: Callable[[list[QueuedOperation]], None],
    ) -> None:
        self._lock = lock
        self._perform = perform
        self._queue: deque[QueuedOperation] = deque()

    def carry_out(self, operation: Operation, payload: Payload) -> dict[str, str]:
        """Carry out the operation, perhaps with those of others; returns the records that are left alone.

        Raises what prevented it.
        """
        mine = QueuedOperation(operation, payload)
        self._queue.append(mine)
        try:
            with self._lock():
                while not mine.is_over:
                    self._perform_next()
        except BaseException:
            with contextlib.suppress(ValueError):  # interrupted before its turn: it must not be done later
                self._queue.remove(mine)
            raise
        if mine.error:
            raise mine.error
        assert mine.refused is not None
        return mine.refused

    def _perform_next(self) -> None:
        group = self._next_group()
        try:
            self._perform(group)
        except BaseException as error:
            if len(group) == 1 and isinstance(error, Exception):
                group[0].error = error
                return
            left = [one for one in group if not one.is_over]
            for one in left:  # what prevents one must not prevent the others
                one.is_alone = True
            self._queue.extendleft(reversed(left))
            if not isinstance(error, Exception):
                raise

    def _next_group(self) -> list[QueuedOperation]:
        """The operations that waited longest, up to the first that another of them must come before."""
        group = [self._queue.popleft()]
        taken = group[0].addresses
        while self._queue and not group[0].is_alone:
            following = self._queue.popleft()
            is_too_large = len(taken) + len(following.addresses) > _MOST
            if following.is_alone or is_too_large or not taken.isdisjoint(following.addresses):
                self._queue.appendleft(following)
                break
            group.append(following)
            taken |= following.addresses
        return group

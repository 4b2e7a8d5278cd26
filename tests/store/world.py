"""Fault injection at any step of the write path: a power cut or a failing disk."""

import errno
from pathlib import Path

from store.library import Library
from store.runtime import _writers


class PowerCut(BaseException):
    """A simulated power cut, which `except Exception` does not catch."""


class FaultInjector:
    """Let the disk work until armed; then fail the Nth step from there on."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, Path]] = []  # since it was armed
        self._at = 0
        self._error: BaseException | None = None
        self._lasts = False

    def cut_power(self, at: int) -> None:
        """Cut the power at this step (counted from 1); every later step fails as well."""
        self._arm(at, PowerCut(), lasts=True)

    def fail(self, at: int, error: OSError, *, lasts: bool) -> None:
        """Fail this step, or this and all later ones."""
        self._arm(at, error, lasts=lasts)

    def stop_failing(self) -> None:
        self._error = None

    @property
    def has_failed(self) -> bool:
        return bool(self._at) and len(self.steps) >= self._at

    def __call__(self, name: str, path: Path) -> None:
        self.steps.append((name, path))
        if self._error and (len(self.steps) == self._at or (self._lasts and len(self.steps) > self._at)):
            raise self._error

    def _arm(self, at: int, error: BaseException, *, lasts: bool) -> None:
        self.steps.clear()
        self._at, self._error, self._lasts = at, error, lasts


class FullDisk:
    """Refuse one kind of step, such as "write", while the disk is full."""

    def __init__(self, step: str, *, is_full: bool = True) -> None:
        self.is_full = is_full
        self._step = step

    def __call__(self, name: str, path: Path) -> None:
        if self.is_full and name == self._step:
            raise OSError(errno.ENOSPC, "No space left on device")


def abandon(library: Library) -> None:
    """Leave a library as a killed process would: nothing is finished and no marker removed."""
    _writers._open.pop(library.layout.root, None)
    follower = library._follower
    follower.worker.close()
    follower._close()
    library.catalog.close()
    library._lock.release()

"""Values for SQLite's statements: their marks, and the integers that it can store."""

from collections.abc import Sized
from typing import TypeGuard


def marks(values: Sized) -> str:
    """A question mark for each of these values, as in `IN (?, ?, ?)`."""
    return ", ".join("?" * len(values))


def is_integer(value: object) -> TypeGuard[int]:
    """Whether this is an integer that SQLite can store."""
    return type(value) is int and -(1 << 63) <= value < 1 << 63

"""A thread-safe cache of the last used values."""

import threading
from typing import TypeVar

from cachetools import LRUCache

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class LruCache(LRUCache[_Key, _Value]):
    """The last `maxsize` used values; `get` and `cache[key] = value` are thread-safe, unlike cachetools'."""

    def __init__(self, maxsize: int) -> None:
        super().__init__(maxsize)
        self._lock = threading.Lock()

    def get(self, key: _Key, default: _Value | None = None) -> _Value | None:  # type: ignore[override]
        """The value, or the default."""
        with self._lock:
            return super().get(key, default)

    def __setitem__(self, key: _Key, value: _Value) -> None:
        with self._lock:
            super().__setitem__(key, value)

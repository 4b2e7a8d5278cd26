"""What all sessions of a server share."""

import gc

import pytest

from components import resources


def test_memory_is_settled_once_and_again_when_litellm_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[bool] = []
    loaded = False
    monkeypatch.setattr(gc, "freeze", lambda: settled.append(loaded))
    monkeypatch.setattr(resources, "is_loaded", lambda: loaded)
    resources._settle.cache_clear()
    resources.settle_memory()
    resources.settle_memory()
    loaded = True
    resources.settle_memory()
    resources.settle_memory()
    resources._settle.cache_clear()
    assert settled == [False, True]

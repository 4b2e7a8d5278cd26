"""What all sessions of a server share."""

import gc

import pytest

from components.shell import resources


def test_memory_is_settled_once_and_again_when_litellm_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[bool] = []
    loaded = False
    monkeypatch.setattr(gc, "freeze", lambda: settled.append(loaded))
    monkeypatch.setattr(resources, "is_loaded", lambda: loaded)
    resources._settle.cache_clear()
    resources.freeze_imports()
    resources.freeze_imports()
    loaded = True
    resources.freeze_imports()
    resources.freeze_imports()
    resources._settle.cache_clear()
    assert settled == [False, True]

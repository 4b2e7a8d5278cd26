"""What all sessions of a server share."""

import gc

import pytest

from components.shell import resources


def test_imports_are_frozen_once_and_again_after_litellm_loads(monkeypatch: pytest.MonkeyPatch) -> None:
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

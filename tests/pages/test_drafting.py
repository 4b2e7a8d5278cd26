"""What drafting needs is at hand when its page is opened."""

from pathlib import Path

import pytest

from components import resources
from store.library import Library
from store.settings import settings


@pytest.mark.parametrize(("model", "read"), [("openai/gpt-4o-mini", 1), ("", 0)])
def test_prices_are_read_behind_the_model_where_a_language_model_is_configured(
    empty: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, read: int
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(settings(), "caption_model", model)
    monkeypatch.setattr(resources, "is_warm", lambda: asked.append(True))
    resources._warming(tmp_path, "hashed", empty).join()
    assert len(asked) == read

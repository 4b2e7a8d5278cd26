"""The AI drafts page: the price list and the cost so far."""

import json
import threading
from pathlib import Path

import pytest

from components.shell.session import resources
from store.library import Library
from store.settings import settings
from tests.pages.conftest import opened, words


@pytest.mark.parametrize(("model", "read"), [("openai/gpt-4o-mini", 1), ("", 0)])
def test_prices_are_read_in_the_background_if_a_language_model_is_configured(
    empty: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, read: int
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(settings(), "caption_model", model)
    monkeypatch.setattr(resources, "is_warm", lambda: asked.append(True))
    resources._warming(tmp_path, "hashed", empty).join()
    for thread in threading.enumerate():
        if thread.name == "memedex-lists":
            thread.join()
    assert len(asked) == read


def test_the_page_shows_the_cost_of_drafting(empty: Library) -> None:
    assert "No language model was asked for drafts yet" in words(opened("captions", view="AI drafts"))
    used = {"prompt_tokens": 1_000, "completion_tokens": 100}
    spent = {"20000": {"a/b": used | {"cost": 0.25}, "free": used}, "20001": {"a/b": used | {"cost": 0.5}}}
    with empty.catalog.writing() as db:
        db.execute(
            "INSERT INTO jobs (kind, name, who, decision, state, options, note, made_at) "
            "VALUES ('draft', 'Draft', 'ann', '', 'done', '{\"variants\": []}', ?, 0)",
            [json.dumps({"spent": spent})],
        )
    app = opened("captions", view="AI drafts")
    assert len(app.get("echarts_chart")) == 1
    assert "$0.7500 in all" in words(app)
    table = app.dataframe[0].value
    assert list(table["model"]) == ["a/b", "free"]
    assert list(table["prompt_tokens"]) == [2_000, 1_000]
    assert table["cost"][0] == 0.75
    assert table["cost"].isna()[1], "a model without a price is not free"

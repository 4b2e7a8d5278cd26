"""Captions drafted by a language model: asked over a real connection, shown as a draft, saved by a person."""

import json
from collections.abc import Iterator

import pytest

from store.library import Library
from store.settings import settings
from tests.browser.coins import UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, press, ran, words
from tests.store.language_model_server import GOOD, LanguageModelServer, fails, running, says

GOOD_FACETS = {facet: text for facet, text in GOOD.items() if facet != "tags"}


@pytest.fixture
def model(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    with running() as server:
        monkeypatch.setenv("MEMEDEX_CAPTION_MODEL", "openai/any-model")
        monkeypatch.setenv("MEMEDEX_CAPTION_API_BASE", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        settings.cache_clear()
        yield server


def test_a_draft_fills_what_is_empty_and_waits_for_a_person(
    model: LanguageModelServer, library: Library
) -> None:
    model.answers = [says(json.dumps(GOOD))]
    library.save_draft(UNCAPTIONED.address, {"entity": "My own words"})
    app = press(opened("captions", address=UNCAPTIONED.address), "Draft what is empty")
    finish_jobs()
    ran(app)
    draft = library.draft(UNCAPTIONED.address)
    assert draft
    assert draft["caption"] == {**GOOD_FACETS, "entity": "My own words"}
    assert draft["sources"]["context"]["model"] == "openai/any-model"
    assert "entity" not in draft["sources"], "these words are a person's"
    assert library.get(UNCAPTIONED.address).caption == {}, "nothing is stored before a person saves it"


def test_a_model_that_fails_says_so_and_loses_nothing(model: LanguageModelServer, library: Library) -> None:
    model.answers = [fails(401, "bad key")]
    library.save_draft(UNCAPTIONED.address, {"entity": "My own words"})
    app = press(opened("captions", address=UNCAPTIONED.address), "Draft what is empty")
    said = [toast.value for toast in app.toast]  # already, when the model refuses before the page is drawn
    finish_jobs()
    assert library.jobs.all()[0].state == "failed"
    said += [toast.value for toast in ran(app).toast]
    assert len([words for words in said if "failed" in words]) == 1
    assert library.draft(UNCAPTIONED.address) == {"entity": "My own words"}
    assert "MEMEDEX_CAPTION_MODEL" not in words(app)

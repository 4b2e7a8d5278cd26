"""The page Generate: the context of chosen coins, and the coin made from it."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from components.generate import context
from store.catalog.filters import Filter
from store.disk.images import normalise
from store.errors import CaptioningFailed
from store.generation import coin_generator
from store.library import Library
from store.settings import settings
from store.tasks import generate
from tests.browser.coins import COINS, FROG
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, words
from tests.store.conftest import picture


def test_the_context_contains_the_nearest_coins(library: Library) -> None:
    app = opened("search?view=Use as prompt", q=FROG.entity, gen_top="2")
    assert FROG.entity in app.code[0].value
    assert app.code[0].value.count("Example ") == 2
    assert "2 examples" in words(app)
    assert "Choose a language model" in [link.label for link in app.main.page_link]


def test_grouped_duplicates_count_once_in_the_context(library: Library) -> None:
    twin = replace(FROG, address="local-twin", name="Second Frog")
    library.add([twin.candidate()])
    library.approve([twin.address])
    assert library.promote([twin.address]).done
    asked = {"q": FROG.entity, "gen_top": "2"}
    assert opened("search?view=Use as prompt", **asked).code[0].value.count(FROG.entity) == 2
    app = opened("search?view=Use as prompt", **asked, fold="true")
    assert app.code[0].value.count(FROG.entity) == 1
    app.toggle(key="fold").set_value(False)
    assert rerun(app).code[0].value.count(FROG.entity) == 2


def test_chosen_results_can_be_reordered_and_removed(library: Library) -> None:
    first, second, third = (coin.address for coin in COINS[:3])
    app = opened("search?view=Use as prompt", q="frog", gen_pick=f"{first},{second},local-gone,{third}")
    assert "3 coins chosen" in words(app)
    assert "1 not here any more" in words(app)
    app.button(key=f"gen-earlier-{third}").click()
    rerun(app)
    app.button(key=f"gen-without-{first}").click()
    rerun(app)
    assert app.query_params["gen_pick"] == f"{third},{second}"
    assert app.code[0].value.index(COINS[2].entity) < app.code[0].value.index(COINS[1].entity)
    press(app, "The nearest instead")
    assert "gen_pick" not in app.query_params
    assert "None of the chosen coins" in words(
        opened("search?view=Use as prompt", q="frog", gen_pick="local-gone")
    )


@pytest.mark.slow
def test_no_page_ignores_an_unknown_filter(library: Library) -> None:
    for view in ("Use as prompt", "Map"):
        app = opened(f"search?view={view}", q="tagg:frog frog")
        assert "Unknown filter" in words(app).replace("\\", "")
        assert "selected" not in words(app)


def test_chosen_coins_that_left_the_library_are_reported(library: Library) -> None:
    first, second = (coin.address for coin in COINS[:2])
    library.degrade([first])
    library.delete([second])
    app = opened("search?view=Use as prompt", gen_pick=f"{first},{second}")
    assert "1 not here any more" in words(app)
    assert ":orange[Approved]" in words(app)
    assert (COINS[0].entity in app.code[0].value, COINS[1].entity in app.code[0].value) == (True, False)


def test_a_viewer_can_read_the_context_but_not_generate(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_VIEWERS", "tester")
    settings.cache_clear()
    monkeypatch.setattr(context, "is_warm", lambda: True)
    app = opened("search?view=Use as prompt", q=FROG.entity, gen_model="openai/any")
    assert FROG.entity in app.code[0].value
    assert "cl100k" not in words(app)
    assert "Only a curator" in words(app)


def test_a_token_budget_that_is_too_small_is_reported(library: Library) -> None:
    app = opened("search?view=Use as prompt", q=FROG.entity, gen_top="2", gen_budget="100")
    assert "No room for" in words(app)


@pytest.mark.parametrize("query", ["q=picture", "q=tag:nobody"])
def test_a_query_without_results_causes_no_error(library: Library, query: str) -> None:
    name, _, value = query.partition("=")
    assert not opened("search?view=Use as prompt", **{name: value}).code


def test_a_generated_coin_stays_on_the_page_until_it_is_saved_with_its_drawn_picture(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = {
        "name": "Rain Frog",
        "ticker": "RAIN",
        "entity": "a frog",
        "context": "patience",
        "tags": ["rain"],
    }
    monkeypatch.setenv("MEMEDEX_IMAGE_MODEL", "openai/any-image")
    settings.cache_clear()
    monkeypatch.setattr(coin_generator, "stream", lambda *_, **__: iter([json.dumps(message)]))
    monkeypatch.setattr(coin_generator, "draw", lambda coin: normalise(picture(9)))
    monkeypatch.setattr(context, "is_warm", lambda: True)
    press(opened("search?view=Use as prompt", q=FROG.entity, gen_model="openai/any"), "Generate")
    finish_jobs()
    app = opened("search?view=Use as prompt")
    assert "drawn by openai/any-image" in words(app).replace("\\", "")
    assert "Rain Frog · RAIN" in words(app)
    send(app, f"invented-save-{library.jobs.all()[0].id}")
    assert "Rain Frog · RAIN" not in words(opened("search?view=Use as prompt")), "it waits no longer"
    (saved,) = (one for one in library.find(Filter(tier="pending")) if one.name == "Rain Frog")
    assert library.picture(saved.address).read_bytes() == normalise(picture(9))
    assert saved.tags == ["rain"]
    assert saved.sidecar["generated"]["image_model"] == "openai/any-image"


def test_an_answer_without_a_coin_is_shown_and_can_be_discarded(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coin_generator, "stream", lambda *_, **__: iter(["I would ", "rather not."]))
    job = generate.start(library.jobs, "frog", [FROG.address], model="m", budget=None, pictures=False)
    assert library.jobs.wait(job.id, timeout=60)
    app = opened("search?view=Use as prompt")
    assert "No coin was made for “frog”" in words(app)
    assert "answered in words, not with a coin" in words(app)
    assert "I would rather not." in [element.value for element in app.text]
    send(app, f"invented-away-{job.id}")
    assert "No coin was made" not in words(opened("search?view=Use as prompt"))


@pytest.mark.parametrize("first", ["refused", "words"])
def test_retrying_an_answer_without_a_coin_replaces_it(
    library: Library, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    def answered(*_: object, **__: object) -> Iterator[str]:
        asked.append(first)
        if len(asked) > 1:
            message = {"name": "Rain Frog", "ticker": "RAIN", "entity": "a frog", "context": "patience"}
            return iter([json.dumps(message)])
        if first == "refused":
            raise CaptioningFailed("the provider is away")
        return iter(["I would rather not."])

    asked: list[str] = []
    monkeypatch.setattr(coin_generator, "stream", answered)
    job = generate.start(library.jobs, "frog", [FROG.address], model="m", budget=None, pictures=False)
    assert library.jobs.wait(job.id, timeout=60)
    send(opened("search?view=Use as prompt"), f"invented-again-{job.id}")
    finish_jobs()
    app = opened("search?view=Use as prompt")
    assert "Rain Frog · RAIN" in words(app)
    assert "No coin was made" not in words(app)
    assert len(asked) == 2

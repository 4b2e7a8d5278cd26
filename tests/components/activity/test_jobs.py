"""Jobs on the page: watched, paused, continued, retried; a viewer can only watch."""

import json
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from store.library import Library
from store.llm.client import import_litellm
from store.outcome import ImportReport, Refusal
from store.progress import Progress
from store.settings import settings
from store.tasks import generate
from tests.browser.coins import COINS, UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, sendable, shown, words
from tests.store.language_model_server import GOOD, LanguageModelServer, fails, running, says


@pytest.fixture
def model(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageModelServer]:
    with running() as server:
        monkeypatch.setenv("MEMEDEX_CAPTION_MODEL", "openai/gpt-4o-mini")
        monkeypatch.setenv("MEMEDEX_CAPTION_API_BASE", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        settings.cache_clear()
        server.answers = [says(json.dumps(GOOD))]
        import_litellm()  # before that, the page says that it is reading the price list
        yield server


def choices(app: AppTest) -> list[str]:
    [chooser] = [each for each in app.segmented_control if each.label == "Coins"]
    return list(chooser.options)


def links(app: AppTest) -> list[str]:
    return [link.label for link in app.main.get("page_link")]


def badges(app: AppTest) -> list[str]:
    return [element.value for element in app.markdown if "badge[" in str(element.value)]


def test_coins_without_captions_are_drafted_after_a_cost_estimate(
    model: LanguageModelServer, library: Library
) -> None:
    app = opened("captions", view="AI drafts")
    assert "1 request · about" in words(app)
    assert "about $0.000" in words(app)
    press(app, "Draft 1 coin")
    finish_jobs()
    assert [one.facet for one in library.suggestions.of(UNCAPTIONED.address)].count("entity") == 1
    page_text = words(opened("activity", history_what="Jobs")).replace("\\", "")
    assert "1 of 1 done" in page_text
    assert "$0.0002" in page_text, "what it has cost"


def test_coins_with_suggestions_are_counted_until_they_have_a_caption(
    model: LanguageModelServer, library: Library
) -> None:
    assert "Missing caption · 1" in choices(opened("captions", view="AI drafts"))
    press(opened("captions", view="AI drafts"), "Draft 1 coin")
    finish_jobs()
    app = opened("captions", view="AI drafts")
    assert "Missing caption · 0 of 1" in choices(app)
    assert "1 coin with suggestions to look at" in links(app)
    library.caption(UNCAPTIONED.address, caption={"entity": "An ape", "context": "Apes together"})
    app = opened("captions", view="AI drafts")
    assert "Missing caption · 0" in choices(app)
    assert "1 coin with suggestions to look at" not in links(app)


def test_a_job_with_only_refusals_is_not_marked_as_successful(library: Library) -> None:
    report = ImportReport(refused=[Refusal("a", "no picture"), Refusal("b", "no picture")])
    job = library.jobs.run("Import list.json", lambda _: report)
    finish_jobs()
    app = opened("activity", history_what="Jobs")
    assert [badge for badge in badges(app) if "refused" in badge]
    assert "nothing done · 2 refused" in words(app)
    (table,) = app.dataframe
    assert list(table.value["item"]) == ["a", "b"]
    assert list(table.value["reason"]) == ["no picture"] * 2
    app = opened("activity")
    app.session_state["memedex.watched_jobs"] = [job.id]
    [toast] = rerun(app).toast
    assert toast.value.replace("\\", "") == "Import list.json: nothing done, 2 refused"
    assert toast.icon == ":material/error:"


def test_a_coin_that_no_model_made_offers_no_budget_in_dollars(
    model: LanguageModelServer, library: Library
) -> None:
    model.answers = [fails(401, "bad key")]
    name = settings().caption_model
    job = generate.start(library.jobs, "frog", [COINS[0].address], model=name, budget=4000, pictures=False)
    finish_jobs()
    assert "did not accept the key" in words(opened("activity", history_what="Jobs"))
    assert f"list-resume-{job.id}" in sendable()
    assert f"budget-{job.id}" not in sendable()


def test_refused_items_show_a_reason_and_can_be_retried(model: LanguageModelServer, library: Library) -> None:
    model.answers = [fails(400, "the picture is too dark")]
    press(opened("captions", view="AI drafts"), "Draft 1 coin")
    finish_jobs()
    app = opened("activity", history_what="Jobs")
    (table,) = app.dataframe
    assert "too dark" in table.value["reason"][0]
    model.answers = [says(json.dumps(GOOD))]
    send(app, f"list-again-{library.jobs.all()[0].id}")
    finish_jobs()
    assert library.jobs.all()[0].done == 1


def test_a_failed_job_can_be_continued_but_not_by_a_viewer(
    model: LanguageModelServer, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answers = [fails(401, "bad key")]
    press(opened("captions", view="AI drafts"), "Draft 1 coin")
    finish_jobs()
    monkeypatch.setenv("MEMEDEX_VIEWERS", "tester")
    settings.cache_clear()
    watched = opened("activity", history_what="Jobs")
    assert "did not accept the key" in words(watched)
    assert not [form for form in sendable() if form.startswith("list-")]
    assert [button.label for button in opened("captions", view="AI drafts").button] == []
    monkeypatch.delenv("MEMEDEX_VIEWERS")
    settings.cache_clear()
    model.answers = [says(json.dumps(GOOD))]
    send(opened("activity", history_what="Jobs"), f"list-resume-{library.jobs.all()[0].id}")
    finish_jobs()
    assert library.jobs.all()[0].state == "done"


def test_an_edited_prompt_is_tried_side_by_side_with_another(
    model: LanguageModelServer, library: Library
) -> None:
    app = opened("captions", view="AI drafts")
    press(app, "Save", text="In five words: {name}", name="Short")
    assert app.selectbox(key="prompt-name").value == "short", "the new one is shown"
    assert library.prompts.get("short").text == "In five words: {name}"
    app.selectbox(key="trial-b-prompt").set_value("short")
    press(rerun(app), "Try both, side by side")
    finish_jobs()
    rerun(app)
    (job,) = library.jobs.all()
    assert (job.done, words(app).count(GOOD["entity"])) == (job.total, job.total)
    assert library.suggestions.of(UNCAPTIONED.address) == []


def test_without_a_language_model_the_page_says_how_to_configure_one(library: Library) -> None:
    app = opened("captions", view="AI drafts")
    assert "Choose a language model" in [link.label for link in app.main.page_link]


def test_only_coins_chosen_in_a_grid_are_drafted(model: LanguageModelServer, library: Library) -> None:
    app = opened()
    app.session_state["memedex.drafting.chosen"] = [coin.address for coin in COINS[:2]]
    app.switch_page("pages/captions.py")
    app.query_params["view"] = "AI drafts"
    press(rerun(app), "Draft 2 coins", budget=1.5)
    finish_jobs()
    assert library.jobs.all()[0].options["budget"] == 1.5
    assert set(library.suggestions.waiting()) == {coin.address for coin in COINS[:2]}


def test_a_job_says_how_many_coins_it_has_done_not_how_many_steps_it_took(library: Library) -> None:
    def load(progress: Progress) -> ImportReport:
        progress.total = progress.done = 613  # coins, and those of them that were promoted
        return ImportReport(done=[coin.address for coin in COINS])

    library.jobs.run("Load the demo library", load)
    finish_jobs()
    page_text = words(opened("activity", history_what="Jobs"))
    assert f"{len(COINS)} done" in page_text
    assert "613" not in page_text


def test_a_job_without_coins_leaves_no_room_for_pictures(library: Library) -> None:
    library.jobs.start("map", name="Compute the map", options={"space": "entity", "from_scratch": True})
    finish_jobs()
    assert library.jobs.all()[0].total
    assert "height:32px" not in shown(opened("activity", history_what="Jobs"))

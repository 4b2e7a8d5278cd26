"""The map, the evaluation and the way to the model, as pages."""

import pytest

from store import evaluation
from store.library import Library
from store.settings import settings
from tests.browser.coins import COINS, FROG, picture
from tests.pages.conftest import finish_jobs, opened, press, ran, words


def test_golden_queries_are_kept_asked_and_shown(library: Library) -> None:
    app = opened("evaluation")
    assert "no golden queries yet" in words(app)
    question, answers = (
        field for field in app.text_input if field.label.startswith(("Question", "Right answers"))
    )
    question.set_value(COINS[0].entity)
    answers.set_value(COINS[0].address)
    press(app, "Keep")
    assert [one.answers for one in library.golden()] == [(COINS[0].address,)]
    press(ran(app), "Ask them all")
    finish_jobs()
    ran(app)
    (kept,) = evaluation.kept(library)
    assert kept.queries == 1
    assert kept.rows[0].mrr.mean == 1
    assert app.dataframe[0].value["MRR"][0].startswith("1.00")
    press(app, "Forget it")
    assert library.golden() == []


def test_a_small_library_says_why_it_is_not_calibrated(library: Library) -> None:
    assert "needs 200 coins" in words(opened("evaluation"))


def test_the_context_is_that_of_the_nearest_and_says_what_it_costs(library: Library) -> None:
    app = opened("generate", gen_q=FROG.entity, gen_top="2")
    assert FROG.entity in app.code[0].value
    assert app.code[0].value.count("Example ") == 2
    assert "2 examples" in words(app)
    assert "No language model is configured" in words(app)


def test_a_budget_that_is_too_small_says_so(library: Library) -> None:
    app = opened("generate", gen_q=FROG.entity, gen_top="2", gen_budget="100")
    assert "No room for" in words(app)


@pytest.mark.parametrize("query", ["gen_q=picture", "gen_q=tag:nobody"])
def test_a_question_that_finds_nothing_is_no_fault_of_the_page(library: Library, query: str) -> None:
    name, _, value = query.partition("=")
    assert not opened("generate", **{name: value}).code


def test_the_map_of_a_viewer_has_no_button_that_changes_anything(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_VIEWERS", "tester")
    settings.cache_clear()
    app = opened("map", map_by="Neighbours")
    assert "Nobody has had the neighbours" in words(app)
    assert not library.jobs.all()
    assert "Arrange anew" not in [button.label for button in app.button]


def test_neighbours_are_arranged_when_somebody_looks_for_them(library: Library) -> None:
    app = opened("map", map_by="Neighbours")
    finish_jobs()
    ran(app)
    assert library.map_of("fused", "tsne") is not None
    assert "Arrange anew" in [button.label for button in app.button]


def test_a_picture_in_the_trends_folder_becomes_a_search(library: Library) -> None:
    folder = library.layout.memecoins / "trends"
    folder.mkdir()
    (folder / "today.png").write_bytes(picture("green"))
    (folder / "broken.png").write_bytes(b"no picture")
    app = opened("search")
    assert "what do we have like this?" in words(app)
    press(app, "Search")
    assert app.query_params["q"].startswith("picture:")

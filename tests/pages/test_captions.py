"""The three views of the captions page: write one, check all, replace in many."""

import pytest

from components.captions.replace import replacing
from store.captions.caption_text import ReplaceRequest, replacements
from store.catalog.filters import Filter
from store.library import Library
from store.progress import Progress
from store.settings import settings
from tests.browser.coins import CAT, FROG, UNCAPTIONED
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, words


def test_the_check_up_counts_captions_that_need_attention(library: Library) -> None:
    app = opened("captions", view="Check")
    kinds = app.segmented_control(key="caption-check")
    assert "Missing caption · 1" in kinds.options
    kinds.set_value("lacking")
    assert "cannot be promoted" in words(rerun(app))


def test_the_editor_steps_through_the_list_it_was_opened_from(library: Library) -> None:
    app = opened("captions", check="unwritten", address=FROG.address)
    coins = app.selectbox(key="caption-pick")
    assert coins.label == "Optional texts empty · 4"
    press(app, "Next")
    assert app.query_params["address"] != [FROG.address]
    press(app, "Back to the list")
    assert app.segmented_control(key="caption-check").value == "unwritten"


def test_the_editor_stays_on_a_coin_that_somebody_else_rejects(library: Library) -> None:
    app = opened("captions", address=UNCAPTIONED.address)
    library.reject([UNCAPTIONED.address])
    message = words(rerun(app))
    assert f"{UNCAPTIONED.name} is rejected now" in message
    assert not any(box.key == "caption-pick" for box in app.selectbox)
    press(app, "Back to the list")
    assert "Every approved coin is captioned" in words(app)


def test_a_replacement_changes_the_shown_texts_and_is_undone_in_one_step(library: Library) -> None:
    app = opened("captions", view="Find and replace")
    app.text_input(key="replace-find").set_value("a ")
    app.text_input(key="replace-put").set_value("one ")
    rerun(app)
    press(app, "Replace in 4 texts")
    finish_jobs()
    assert library.get(CAT.address).caption["entity"] == "One crying cat at one computer"
    send(rerun(app), "undo")
    assert library.get(CAT.address).caption["entity"] == CAT.entity


def test_a_replacement_is_limited_to_coins_chosen_in_a_grid(library: Library) -> None:
    app = opened("captions", view="Find and replace")
    app.session_state["memedex.replacing.chosen"] = [FROG.address, "local-gone"]
    app.text_input(key="replace-find").set_value("a ")
    assert "1 coin. One undo" in words(rerun(app))
    press(app, "Search all captions")
    assert "4 coins. One undo" in words(app)


def test_an_invalid_regex_is_reported(library: Library) -> None:
    app = opened("captions", view="Find and replace")
    app.toggle(key="replace-pattern").set_value(True)
    app.text_input(key="replace-find").set_value("(")
    assert "the regex is not valid" in words(rerun(app))


def test_a_replacement_refuses_texts_changed_in_the_meantime(library: Library) -> None:
    seen = replacements(library.find(Filter()), ReplaceRequest("frog", "toad"))
    library.caption(FROG.address, caption={"context": "Something else"})
    with pytest.raises(ValueError, match="changed since you looked"):
        replacing(library, seen, 1)(Progress())
    assert library.get(FROG.address).caption["entity"] == FROG.entity


def test_a_viewer_sees_the_preview_of_a_replacement_without_a_button(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = opened("captions", view="Find and replace")
    app.text_input(key="replace-find").set_value("frog")
    assert "One undo" in words(rerun(app))
    assert not [button for button in app.button if button.label.startswith("Replace")]
    assert opened("captions", address=UNCAPTIONED.address).title[0].value == "Captions"


def test_the_coin_list_accepts_filters_and_reports_unknown_ones(library: Library) -> None:
    app = opened("captions")
    app.text_input(key="caption-words").set_value("tagg:dog")
    assert "Unknown filter 'tagg'. Did you mean tag:?" in words(rerun(app)).replace("\\", "")
    app.text_input(key="caption-words").set_value("-tag:unheard-of")
    assert "Unknown filter" not in words(rerun(app))

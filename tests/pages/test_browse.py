"""The line above the grid."""

import pytest

from store.errors import InvalidRecord
from store.library import Library
from store.settings import settings
from tests.browser.coins import PENDING
from tests.pages.conftest import opened, press, ran, words
from tests.store.conftest import coin


def test_the_line_filters_as_the_controls_do_and_a_link_holds_it(library: Library) -> None:
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1)])
    assert "No pending coin passes" in words(opened("pending", pending_words="tag:dog tag:cat"))
    said = words(opened("pending", pending_words="-tag:dog dup:maybe"))
    assert "No pending coin passes" not in said
    assert "dup" in said
    assert "takes yes or no" in said


def test_tags_are_shown_with_their_counts_in_what_passes(library: Library) -> None:
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1)])
    said = words(opened("pending"))
    assert "dog · 2" in said
    assert "nsfw · 1" in said
    assert "nsfw ·" not in words(opened("pending", pending_words="-tag:nsfw"))
    assert library.get(PENDING.address).tier == "pending"


def test_a_filter_is_kept_under_a_name_opened_and_forgotten(library: Library) -> None:
    library.add([coin(0, tags=["dog", "nsfw"]), coin(1)])
    app = opened("pending", pending_words="tag:nsfw", pending_tags="dog")
    app.text_input(key="pending-filter-name").input("not safe")
    press(app, "Save filter")
    assert library.saved_filters() == {"not safe": "tag:dog tag:nsfw"}

    app = opened("pending")
    app.button(key="pending-saved-not safe").click()
    assert app.run().text_input(key="pending_words").value == "tag:dog tag:nsfw"
    app.button(key="pending-forget-not safe").click()
    ran(app)
    assert library.saved_filters() == {}


def test_a_viewer_opens_saved_filters_but_keeps_none(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.save_filter("dogs", "tag:dog")
    with pytest.raises(InvalidRecord, match="1 to 60"):
        library.save_filter(" ", "tag:dog")
    monkeypatch.setattr(settings(), "viewers", "tester")
    app = opened("pending", pending_words="tag:cat")
    assert [button.label for button in app.button] == ["dogs"]

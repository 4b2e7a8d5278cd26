"""The line above the grid."""

from store.library import Library
from tests.browser.coins import PENDING
from tests.pages.conftest import opened, words
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
    assert "nsfw" not in words(opened("pending", pending_words="-tag:nsfw")).replace("tag:nsfw", "")
    assert library.get(PENDING.address).tier == "pending"

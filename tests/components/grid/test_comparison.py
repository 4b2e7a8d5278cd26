"""The comparison of a coin with similar ones, as the page receives it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.grid.comparison import comparison
from store.library import Library
from store.runtime import open_library
from tests.components.grid.decisions import decide, entry
from tests.store.conftest import address, fresh_root
from tests.store.duplicates.copies import coin_with_drawing, drawing
from tests.store.hashed import Hashed

ORIGINAL, COPY = address(0), address(1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(fresh_root(tmp_path / "res"), embedder=Hashed()) as library:
        copy = coin_with_drawing(1, drawing(0).resize((90, 90)), token_name="Соin 0", tags=["cat"])
        library.add([coin_with_drawing(0), copy, coin_with_drawing(2, ticker="OTHER")])
        library.reject([ORIGINAL], reason="scam", actor="ann")
        library.duplicates.examine()
        yield library


def test_a_comparison_shows_the_other_coin_with_its_tier_and_history(library: Library) -> None:
    found = comparison(library, COPY)
    assert found
    [other] = found["others"]
    assert (other["address"], other["tier"], other["verdict"]) == (ORIGINAL, "trash", None)
    assert "rejected by ann: scam" in other["since"]
    assert set(other["findings"]) == {"near picture", "confusable name"}
    own_name, its_name = other["names"]
    assert [text for text, differs, note in own_name if differs and note] == ["С", "о"]
    assert [text for text, *_ in its_name] == ["C", "o", "in 0"]
    labels = [label for label, *_ in other["fields"]]
    assert "Tags" in labels
    assert other["picture"] == "" or other["picture"].startswith("/pictures/")


def test_a_verdict_is_stored_and_undone_and_an_unknown_one_refused(library: Library) -> None:
    judges = entry("judge", 1, others=[ORIGINAL])
    decide(library, {**judges, "reason": "copy of"})
    found = comparison(library, COPY)
    assert found
    assert found["others"][0]["verdict"] == "copy of"
    assert library.duplicates.suspicions([COPY]) == {}
    library.undo()
    assert COPY in library.duplicates.suspicions([COPY])
    [result] = decide(library, entry("judge", 1, others=[ORIGINAL], reason="stolen"))
    assert "no verdict" in result["refused"][0]["reason"]


def test_a_missing_coin_has_no_comparison(library: Library) -> None:
    assert comparison(library, "local-gone") is None

"""A coin beside others that look like it, as the page gets it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.grid.comparison import comparison
from components.grid.decision_log import BOOT, Ledger
from components.grid.logged_decision import entries_of
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address, furnished
from tests.store.duplicates.copies import drawing, drawn
from tests.store.hashed import Hashed

ORIGINAL, COPY = address(0), address(1)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with open_library(furnished(tmp_path / "res"), embedder=Hashed()) as library:
        copy = drawn(1, drawing(0).resize((90, 90)), token_name="Соin 0", tags=["cat"])
        library.add([drawn(0), copy, drawn(2, ticker="OTHER")])
        library.reject([ORIGINAL], reason="scam", actor="ann")
        library.duplicates.examine()
        yield library


def judged(verdict: str) -> dict[str, object]:
    entry = {"n": 1, "boot": BOOT, "verb": "judge", "addresses": [COPY], "seen": {}, "others": [ORIGINAL]}
    return {"client": "page", "entries": [{**entry, "reason": verdict}]}


def test_the_other_is_told_with_its_tier_and_what_became_of_it(library: Library) -> None:
    found = comparison(library, COPY)
    assert found
    [other] = found["others"]
    assert (other["address"], other["tier"], other["verdict"]) == (ORIGINAL, "trash", None)
    assert "rejected by ann: scam" in other["since"]
    assert {kind for kind, _ in other["findings"]} == {"near picture", "confusable name"}
    own_name, its_name = other["names"]
    assert [text for text, differs, note in own_name if differs and note] == ["С", "о"]
    assert [text for text, *_ in its_name] == ["C", "o", "in 0"]
    labels = [label for label, *_ in other["fields"]]
    assert "Tags" in labels
    assert other["picture"] == "" or other["picture"].startswith("/pictures/")


def test_a_verdict_of_the_page_stands_is_undone_and_a_strange_one_refused(library: Library) -> None:
    ledger = Ledger()
    for client, entries in entries_of(judged("copy of")).items():
        ledger.apply(library, client, entries, handlers={})
    found = comparison(library, COPY)
    assert found
    assert found["others"][0]["verdict"] == "copy of"
    assert library.duplicates.suspicions([COPY]) == {}
    library.undo()
    assert COPY in library.duplicates.suspicions([COPY])
    for client, entries in entries_of(judged("stolen")).items():
        ledger.apply(library, f"{client} 2", entries, handlers={})
    [result] = ledger.confirmed(["page 2"])["page 2"]["results"]
    assert "no verdict" in result["refused"][0]["reason"]


def test_a_coin_that_is_gone_is_compared_with_nothing(library: Library) -> None:
    assert comparison(library, "local-gone") is None

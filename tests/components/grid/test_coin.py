"""All of one coin, as its panel gets it: its fields, and the comparison with similar ones."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from components.grid.coin import comparison, detail
from components.shell.session import resources
from components.shell.session.tokens import token
from store.library import Library
from store.rules import second_opinions
from store.runtime import open_library
from tests.components.conftest import Client
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


def told(library: Library, monkeypatch: pytest.MonkeyPatch, coin: str) -> httpx.Response:
    monkeypatch.setattr(resources, "library_of_routes", lambda: library)
    return Client().post("/message/coin", content=json.dumps({"token": token(library), "address": coin}))


@pytest.mark.parametrize("unknown", ["unknown", ""])
def test_an_address_that_no_coin_has_is_refused_by_name(
    library: Library, monkeypatch: pytest.MonkeyPatch, unknown: str
) -> None:
    assert told(library, monkeypatch, unknown).status_code == 409


def test_a_link_to_a_coin_says_where_it_is_decided(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    coin = told(library, monkeypatch, ORIGINAL).json()
    assert coin["card"]["tier"] == "trash"
    assert coin["place"]["label"] == "Open among the rejected"
    assert coin["place"]["href"].startswith("library?tab=Rejected")
    assert "Rejected by ann: scam" in [event["what"] for event in coin["detail"]["history"]]


def test_a_comparison_shows_the_other_coin_with_its_tier_and_history(library: Library) -> None:
    found = comparison(library, library.get(COPY))
    [other] = found["others"]
    assert (other["address"], other["tier"], other["verdict"]) == (ORIGINAL, "trash", None)
    assert "rejected by ann: scam" in other["since"]
    assert set(other["findings"]) == {"nearly the same picture", "names look alike"}
    own_name, its_name = other["names"]
    assert [text for text, differs, note in own_name if differs and note] == ["С", "о"]
    assert [text for text, *_ in its_name] == ["C", "o", "in 0"]
    labels = [label for label, *_ in other["fields"]]
    assert "Tags" in labels
    assert other["picture"] == "" or other["picture"].startswith("/pictures/")


def test_a_verdict_is_stored_and_undone_and_an_unknown_one_refused(library: Library) -> None:
    judges = entry("judge", 1, others=[ORIGINAL])
    decide(library, {**judges, "reason": "copy of"})
    found = comparison(library, library.get(COPY))
    assert found["others"][0]["verdict"] == "copy of"
    assert library.duplicates.suspicions([COPY]) == {}
    library.undo()
    assert COPY in library.duplicates.suspicions([COPY])
    [result] = decide(library, entry("judge", 1, others=[ORIGINAL], reason="stolen"))
    assert "no verdict" in result["refused"][0]["reason"]


def test_the_panel_says_who_was_first_of_the_family(library: Library) -> None:
    told = detail(library, library.get(COPY))["family"]
    assert told["label"].startswith("First seen: Coin 0, 2023-11-14, rejected 20")
    assert told["label"].endswith(": scam; 1 other")
    assert told["href"] == f"library?tab=Family&family={COPY}"
    assert told["copy"] == "copy of Coin 0"
    assert told["edge"].startswith("picture changed, ")
    assert detail(library, library.get(ORIGINAL))["family"]["label"].startswith("This coin was first")
    assert detail(library, library.get(address(2)))["family"] is None
    assert told["gain"] == "In place of the others (0 on the family page) it would get tags dog"
    library.edit_tags([COPY], add=["frog"])
    assert detail(library, library.get(ORIGINAL))["family"]["gain"] == "", "no rejected coin is kept"
    library.restore([ORIGINAL])
    gained = detail(library, library.get(ORIGINAL))["family"]["gain"]
    assert gained == "In place of the others (0 on the family page) it would get tags cat, frog"


def test_who_is_asked_about_a_coin_again_is_not_told_what_was_decided(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.duplicates.judge(COPY, "copy of", [ORIGINAL], actor="ann")
    library.comment([ORIGINAL], "a scam, I reject it", actor="ann")
    second_opinions.set_share(library, 100, actor="ann")
    coin = told(library, monkeypatch, ORIGINAL)
    for word in ("ann", "scam", "rejected", "trash"):
        assert word not in coin.text.casefold()
    assert coin.json()["place"] == {"label": "Give a second opinion", "href": "review?view=Second+opinions"}
    copy = told(library, monkeypatch, COPY).json()["comparison"]["others"][0]
    assert (copy["address"], copy["tier"], copy["since"], copy["verdict"]) == (ORIGINAL, "pending", "", None)

    second_opinions.answer(library, [ORIGINAL], "approved")
    coin = told(library, monkeypatch, ORIGINAL).json()
    what = [event["what"] for event in coin["detail"]["history"]]
    assert what[0].startswith("Second opinion: approved by ")
    assert "Rejected by ann: scam" in what
    assert coin["comparison"]["others"][0]["verdict"] == "copied by"

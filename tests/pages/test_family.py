"""Library, Family: who was first, as a tree that can be sent as a link."""

from store.importing.candidate import Candidate
from store.library import Library
from tests.pages.conftest import opened, words
from tests.pages.test_browse import cards
from tests.store.conftest import address, coin
from tests.store.duplicates.copies import drawing, normalised_picture, recompressed
from tests.store.rules.conftest import copied


def test_a_family_has_an_address_that_can_be_sent(library: Library) -> None:
    library.add([coin(1, ticker="ONE"), *(copied(number, of=1, ticker=f"T{number}") for number in (2, 3))])
    library.duplicates.examine()
    shown = cards(opened("library", tab="Family", family=address(3)))
    assert [card["address"] for card in shown] == [address(number) for number in (1, 2, 3)]
    assert [card["branch"] for card in shown] == [
        {"depth": 0, "up": 0, "edge": ""},
        {"depth": 1, "up": 1, "edge": "same picture, 100 %"},
        {"depth": 1, "up": 2, "edge": "same picture, 100 %"},
    ]
    assert [card["mark"]["label"].split(" · ")[1] for card in shown] == ["in review"] * 3
    assert [card["address"] for card in cards(opened("library", tab="Family", family="$one"))] == [
        address(number) for number in (1, 2, 3)
    ]


def test_a_family_of_nothing_known_says_so(library: Library) -> None:
    said = words(opened("library", tab="Family", family="nothing like it"))
    assert "No coin has the address\\, ticker or name" in said
    assert "name a coin" in words(opened("library", tab="Family"))


def test_without_a_name_the_families_copied_most_are_offered(library: Library) -> None:
    pictures = (drawing(1), drawing(2), recompressed(drawing(1)))
    for number, picture in enumerate(pictures, 1):
        sidecar = coin(number, token_name=f"[Dog {number}](x)").sidecar
        library.add([Candidate("coin", sidecar, normalised_picture(picture))])
    library.duplicates.examine()
    page = opened("library", tab="Family")
    offered = page.button(key=f"family-{address(1)}")
    assert offered.label == "\\[Dog 1\\]\\(x\\) · 2 coins"
    offered.click().run()
    assert [card["address"] for card in cards(page)] == [address(1), address(3)]

"""A page with coins: what it permits itself, what it says of its art, and what it refuses."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html import unescape

import pytest

from store.catalog.filters import Filter
from store.errors import InvalidRecord, UnknownRecord
from store.library import Library
from store.showcase import MOST, asked, page


def inside(html: str, start: str) -> str:
    """What the element that starts so contains."""
    found = re.search(rf"<{start}[^>]*>(.*?)</", html, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture(scope="module")
def html(demo_library: Library) -> str:
    """A page of three demo coins."""
    return page(demo_library, demo_library.addresses(Filter(tier="library"))[:3]).decode()


def test_the_policy_permits_the_page_its_own_script_and_style_alone(html: str) -> None:
    found = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert found
    policy = dict(part.split(" ", 1) for part in unescape(found[1]).split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    for directive, element in (("script-src", 'script type="module"'), ("style-src", "style")):
        digest = sha256(inside(html, element).encode()).digest()
        assert policy[directive] == f"'sha256-{b64encode(digest).decode()}'"


def test_it_holds_pictures_captions_and_a_question_for_each_coin(html: str, demo_library: Library) -> None:
    data = json.loads(inside(html, 'script type="application/json"'))
    assert len(data["coins"]) == len(data["questions"]) == 3
    for coin in data["coins"]:
        record = demo_library.get(coin["address"])
        assert coin["picture"].startswith("data:image/webp;base64,")
        assert coin["captions"] == {facet: text for facet, text in record.caption.items() if text}
    assert {data["coins"][one["like"]]["name"] for one in data["questions"]} == {
        coin["name"] for coin in data["coins"]
    }


def test_coins_of_the_demo_bring_the_licences_of_their_art_and_others_none(
    html: str, library: Library, three_addresses: list[str]
) -> None:
    assert "OpenMoji" in json.loads(inside(html, 'script type="application/json"'))["credits"]
    library.promote(three_addresses)
    own = page(library, three_addresses).decode()
    assert json.loads(inside(own, 'script type="application/json"'))["credits"] == ""


def test_only_coins_of_the_library_can_be_ranked(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    (approved,) = captioned(1)
    with pytest.raises(InvalidRecord, match="not in the library, so nothing ranks it"):
        page(library, [approved])
    with pytest.raises(UnknownRecord):
        page(library, ["local-nowhere"])
    with pytest.raises(InvalidRecord, match=f"1 to {MOST} coins, not 0"):
        page(library, [])


def test_more_coins_than_a_mail_can_hold_are_refused(demo_library: Library) -> None:
    many = demo_library.addresses(Filter(tier="library"))[: MOST + 1]
    with pytest.raises(InvalidRecord, match=f"1 to {MOST} coins, not {MOST + 1}"):
        page(demo_library, many)


@pytest.mark.parametrize("line", ["", "tag:dog", "colour:red frog"])
def test_a_line_that_cannot_be_compared_is_no_question(library: Library, line: str) -> None:
    with pytest.raises(InvalidRecord):
        asked(library, line)

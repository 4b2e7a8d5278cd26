"""Addresses of earlier versions lead to the places that have what they showed, with their query."""

import re
from urllib.parse import parse_qsl, urlencode

import pytest

from components.shell.page.places import PLACES
from components.shell.server.former_addresses import MOVED, moved
from tests.components.conftest import Client


def query(address: str) -> dict[str, str]:
    return dict(parse_qsl(address.partition("?")[2]))


@pytest.mark.parametrize("before", MOVED)
def test_every_former_address_leads_to_a_place_and_keeps_the_rest_of_its_query(
    before: str, client: Client
) -> None:
    asked = before.replace("*", "frog")
    renamed = re.findall(r"{(\w+)}", MOVED[before])
    more = urlencode({"tour": "3", **dict.fromkeys(renamed, "frog")})
    address = f"/{asked}{'&' if '?' in asked else '?'}{more}"
    answer = client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == 307
    place, after = answer.headers["location"], MOVED[before]
    assert place.lstrip("/").partition("?")[0] in {
        one.script.removeprefix("pages/").removesuffix(".py") for one in PLACES.values()
    }
    assert query(place) == {**query(re.sub(r"{\w+}|[*]", "frog", after)), "tour": "3"}


@pytest.mark.parametrize("before", MOVED)
def test_no_redirect_leads_to_another(before: str) -> None:
    place = moved(*before.replace("*", "frog").partition("?")[::2])
    assert place is not None
    assert moved(*place.partition("?")[::2]) is None


def test_places_themselves_are_not_redirected() -> None:
    for path, asked in (
        ("library", ""),
        ("library", "tab=Rejected&trash_words=APE"),
        ("library", "promoted_words=frog"),
        ("captions", "address=local-demo-frog"),
        ("insights", "view=Reviewing"),
        ("review", "pending_words=frog"),
        ("memory", "view=Browse&kind=Memories&ask=frog"),
    ):
        assert moved(path, asked) is None


def test_the_parameters_of_a_former_view_are_renamed_or_left_out() -> None:
    moves = {
        "view=Prompt+preview&prompt=lamps&in=mempool_city&ask=fees": "memory?ask=lamps&world=mempool_city",
        "view=Prompt+preview&ask=fees": "memory?ask=fees",
        "view=Connections&coin=APE": "memory?view=Browse&about=APE",
        "ask=fees&section=4": "memory?heading=4&ask=fees",
    }
    assert {asked: moved("memory", asked) for asked in moves} == moves


def test_a_value_of_another_alphabet_arrives_as_it_was() -> None:
    assert moved("pending", "pending_words=%F0%9F%90%B8+%26") == "review?pending_words=%F0%9F%90%B8+%26"


def test_a_probe_of_health_is_answered_as_before(client: Client) -> None:
    assert client.get("/health").json()["status"] == "ok"

"""A sent log is parsed as it was recorded, and malformed ones are ignored."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.grid.logged_decision import LoggedDecision, entries_of


@pytest.mark.parametrize(
    "log",
    [
        None,
        [],
        "text",
        {"client": 3, "entries": []},
        {"client": "x" * 65, "entries": [{"n": 1, "verb": "approve", "addresses": []}]},
        {"client": "page", "entries": {"n": 1}},
        {"client": "page", "entries": [None, 7, {"n": "1", "verb": "approve", "addresses": []}]},
        {"client": "page", "entries": [{"n": 1, "verb": "approve", "addresses": [3]}]},
        {"client": "page", "entries": [{"n": 1, "verb": "approve", "addresses": "all"}], "others": [1]},
    ],
)
def test_malformed_logs_are_ignored(log: object) -> None:
    assert not any(entries_of(log).values())


LOGS = json.loads((Path(__file__).parents[2] / "shared" / "decision_log.json").read_text("utf-8"))


@pytest.mark.parametrize("case", LOGS, ids=lambda case: case["name"])
def test_a_sent_log_is_parsed_as_it_was_recorded(case: dict[str, Any]) -> None:
    """`js/log.test.js` checks that a page sends it like this."""
    lists: dict[str, Any] = {"others": [], "add": [], "remove": []}
    place = {"actor" if name == "who" else name: value for name, value in case["place"].items()}
    made_in = {"boot": case["boot"], **place}
    assert entries_of(case["sent"]) == {
        "page": [LoggedDecision(**(lists | made_in | read)) for read in case["read"]]
    }


ENTRY = {"n": 1, "verb": "approve", "addresses": ["a"]}


@pytest.mark.parametrize("client", [[], {}, None, 7, "x" * 65])
def test_a_client_without_a_usable_name_is_left_out(client: object) -> None:
    found = entries_of({"client": client, "entries": [ENTRY], "others": {"there": [ENTRY]}})
    assert list(found) == ["there"]


def test_what_an_earlier_page_left_comes_first() -> None:
    assert list(entries_of({"client": "here", "entries": [], "others": {"there": []}})) == ["there", "here"]

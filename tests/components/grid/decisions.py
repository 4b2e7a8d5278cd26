"""Decisions as a page sends them, and what they did."""

from typing import Any
from uuid import uuid4

from components.grid import decisions
from components.shell.server.messages import Sender
from store.catalog.filters import Filter
from store.library import Library
from tests.store.conftest import address

Entry = dict[str, Any]
Answer = dict[str, Any]


def entry(verb: str, *numbers: int, **more: Any) -> Entry:
    return {"id": uuid4().hex, "verb": verb, "addresses": [address(number) for number in numbers], **more}


def undo(of: Entry) -> Entry:
    return entry("undo", undoes=of["id"])


def decide(library: Library, *entries: Entry) -> list[Answer]:
    return [decisions.decide(library, each, sender=Sender("")) for each in entries]


def approved(library: Library) -> set[str]:
    return set(library.addresses(Filter(tier="approved")))


def verbs(library: Library) -> list[str]:
    """Of all decisions, the newest first."""
    return [decision.verb for decision in library.decisions()]

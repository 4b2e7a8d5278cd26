"""A library whose coins come in pairs with one picture, and rules about them."""

from typing import Any

import pytest

from store.catalog import advice
from store.importing.candidate import Candidate
from store.library import Library
from store.rules import running
from store.rules.rule import Rule, checked
from tests.store.conftest import CREATED_AT, address, coin, normal_picture

ORIGINAL, COPY, OTHER = address(1), address(2), address(3)


def copied(number: int, of: int, **more: Any) -> Candidate:
    """A coin with the picture of another."""
    return Candidate(f"coin {number}", coin(number, **more).sidecar, normal_picture(of))


def rule(name: str = "Copies", **values: Any) -> Rule:
    """A rule that rejects copies of older coins, changed by these values."""
    usual = {"do": "reject", "other": "older", "reason": "copycat", "level": "one click"}
    return checked({**usual, **values, "name": name})


def finished(library: Library, name: str, **given: Any) -> str:
    """Run the rule to its end; returns its decision."""
    job = running.start(library, name, **given)
    assert library.jobs.wait(job.id, timeout=60)
    return job.decision


def not_blind(*numbers: int) -> list[int]:
    return [number for number in numbers if not advice.is_blind(address(number))]


@pytest.fixture
def pair(library: Library) -> Library:
    """An original, a younger copy of its picture, and another coin, all in review and compared."""
    library.add([coin(1, holders=900), copied(2, of=1, holders="12"), coin(3)], actor="ann")
    library.duplicates.examine()
    assert library.get(COPY).created_at == CREATED_AT + 2
    return library

"""Decisions as a page sends them, and what they did."""

from typing import Any

from components.grid.decision_log import BOOT
from components.grid.logged_decision import LoggedDecision
from store.catalog.filters import Filter
from store.library import Library
from tests.store.conftest import address


def entry(n: int, verb: str, *numbers: int, boot: str = BOOT, **more: Any) -> LoggedDecision:
    seen = more.pop("seen", {})
    addresses = [address(number) for number in numbers]
    return LoggedDecision(n, verb, addresses, seen, more.pop("reason", ""), boot, **more)


def approved(library: Library) -> set[str]:
    return set(library.addresses(Filter(tier="approved")))

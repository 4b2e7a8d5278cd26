"""The last seven days: coins that were imported, approved, promoted and rejected."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import streamlit as st

from components.shell.page import local_time
from store import Library
from store.reading import audit
from store.records import TIERS, Tier
from store.settings import settings

DAYS = 7
_ORDER: tuple[Tier | None, ...] = (None, "pending", "approved", "library")  # the way of a coin, trash aside

Move = tuple[int, Tier | None, Tier | None, int]  # day since 1970, from and to a tier, number of coins


@dataclass(frozen=True, slots=True)
class Week:
    """How many coins went where: the change of each tier, and those that went on, without what was undone."""

    changes: dict[Tier, int]
    came: dict[Tier, int]


def read(library: Library) -> Week:
    """The last seven days in the reader's time zone, today included."""
    first = local_time.now().date() - timedelta(days=DAYS - 1)
    return _read(library, settings().root, library.generation, first, local_time.zone_name())


@st.cache_data(show_spinner=False, max_entries=4)
def _read(_library: Library, root: Path, generation: int, first: date, zone: str) -> Week:
    return summed(audit.moves_by_day(_library, since=local_time.midnight(first), zone=local_time.zone()))


def summed(moves: Iterable[Move]) -> Week:
    """The moves of a week, added up."""
    changes: dict[Tier, int] = {}
    came: dict[Tier, int] = dict.fromkeys(TIERS, 0)
    for _, gone, come, number in moves:
        if gone == come:
            continue
        for tier, change in ((gone, -number), (come, number)):
            if tier:
                changes[tier] = changes.get(tier, 0) + change
        step, sign = _step(gone, come)
        if step:
            came[step] += sign * number
    return Week(changes, {tier: max(0, number) for tier, number in came.items()})


def _step(gone: Tier | None, come: Tier | None) -> tuple[Tier | None, int]:
    """The tier that is entered for the first time, or, with -1, left backwards."""
    if come == "trash":
        return "trash", 1
    if gone == "trash":
        return "trash", -1
    if _ORDER.index(come) > _ORDER.index(gone):
        return come, 1
    return gone, -1

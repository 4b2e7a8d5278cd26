"""How a caption came to say what it says: every text it ever had, who wrote it, and with which model."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from store.history import Event, events
from store.records import CAPTION_FACETS, Facet, Record
from store.writing.operations import Source


@dataclass(frozen=True, slots=True)
class Written:
    """The part of a record that is written by hand; a facet that is absent is not written yet."""

    caption: dict[Facet, str]
    tags: list[str]


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of a caption or of its tags."""

    event: Event
    before: Written
    after: Written
    sources: Mapping[Facet, Source]  # of what it changed: which model wrote it; without one, the person alone


def of(db: sqlite3.Connection, address: str) -> list[Revision]:
    """Every revision of one record's caption and tags, newest first."""
    found = []
    before = Written({}, [])
    first: dict[tuple[Facet, str], Source | None] = {}  # who wrote a text first, wherever it stands again
    for event in reversed(events(db, address=address, limit=-1)):
        # What stood before is what was known last: a catalog made anew has no memory of its own of it.
        after = _written(db, event.after)
        if after != before:
            sources = _follow(first, before.caption, after.caption, _sources(db, event))
            found.append(Revision(event, before, after, sources))
        before = after
    return found[::-1]


def authors(revisions: Iterable[Revision], caption: Mapping[Facet, str]) -> dict[Facet, Revision]:
    """For each facet of the caption the revision that wrote its text, also if it was taken out and put back.

    Of what says nothing, the last revision that said so.
    """
    found: dict[Facet, Revision] = {}
    for revision in revisions:
        for facet, text in caption.items():
            is_news = revision.after.caption.get(facet) == text != revision.before.caption.get(facet)
            if is_news and (text or facet not in found):
                found[facet] = revision
    return found


def source_of(suggested: Source, *, suggestion: str, text: str) -> Source | None:
    """Who wrote a text that began as a model's suggestion; None if nothing of that is left in it."""
    if text == suggestion:
        return suggested
    return replace(suggested, edited=True) if _lives_on(suggestion, text) else None


def _follow(
    first: dict[tuple[Facet, str], Source | None],
    before: Mapping[Facet, str],
    after: Mapping[Facet, str],
    recorded: Mapping[Facet, Source],
) -> dict[Facet, Source]:
    """Which models wrote what a revision changed, whichever way it changed it."""
    sources: dict[Facet, Source] = {}
    for facet, text in after.items():
        old = before.get(facet, "")
        if facet in before and old == text:
            continue
        if (facet, text) not in first:
            source, known = recorded.get(facet), first.get((facet, old))
            first[facet, text] = source or (known and source_of(known, suggestion=old, text=text))
        if source := first[facet, text]:
            sources[facet] = source
    return sources


def _lives_on(old: str, new: str) -> bool:
    """Whether a tenth of the shorter text, in runs of eight characters, stands in the other."""
    size = min(8, len(old), len(new))
    if not size:
        return False
    one, other = ({text[at : at + size] for at in range(len(text) - size + 1)} for text in (old, new))
    return 10 * len(one & other) >= min(len(one), len(other))


def _written(db: sqlite3.Connection, state: object) -> Written:
    digest = getattr(state, "sidecar_hash", None)
    row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone() if digest else None
    if row is None:
        return Written({}, [])
    record = Record(json.loads(row["text"]), "pending")
    return Written(
        {facet: text for facet, text in record.caption.items() if isinstance(text, str)}, record.tags
    )


def _sources(db: sqlite3.Connection, event: Event) -> dict[Facet, Source]:
    rows = db.execute(
        "SELECT facet, model, prompt, edited FROM sources WHERE decision = ? AND address = ?",
        [event.decision, event.address],
    )
    return {
        row["facet"]: Source(row["model"], row["prompt"], bool(row["edited"]))
        for row in rows
        if row["facet"] in CAPTION_FACETS
    }

"""How a caption came to say what it says: every text it ever had, who wrote it, and with which model."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from store.history import Event, events
from store.operations import Source
from store.records import CAPTION_FACETS, Facet, Record


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
    sources: Mapping[Facet, Source]  # which model, by which prompt; without one, the person alone


def of(db: sqlite3.Connection, address: str) -> list[Revision]:
    """Every revision of one record's caption and tags, newest first."""
    found = []
    before = Written({}, [])
    for event in reversed(events(db, address=address, limit=-1)):
        # What stood before is what was known last: a catalog made anew has no memory of its own of it.
        after = _written(db, event.after)
        if after != before:
            found.append(Revision(event, before, after, _sources(db, event)))
        before = after
    return found[::-1]


def authors(revisions: Iterable[Revision], caption: Mapping[Facet, str]) -> dict[Facet, Revision]:
    """For each facet of the caption the revision that brought the text it has now."""
    found: dict[Facet, Revision] = {}
    settled: set[Facet] = set()
    for revision in revisions:
        for facet, text in caption.items():
            if facet in settled:
                continue
            if revision.after.caption.get(facet) != text:
                settled.add(facet)  # older revisions that say the same were written over in between
            elif revision.before.caption.get(facet) != text:
                found[facet] = revision
                settled.add(facet)
    return found


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

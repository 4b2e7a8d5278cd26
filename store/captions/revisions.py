"""The revisions of a caption: every text it had, who wrote it, and with which model."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from store.catalog.catalog import read_json
from store.catalog.history import Event, events
from store.operations import CaptionSource
from store.records import CAPTION_FACETS, Facet, Record


@dataclass(frozen=True, slots=True)
class WrittenCaption:
    """The part of a record that people write; a missing facet is not written yet."""

    caption: dict[Facet, str]
    tags: list[str]


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of a caption or of its tags."""

    event: Event
    before: WrittenCaption
    after: WrittenCaption
    # Of what it changed: which model wrote it; without one, the person alone.
    sources: Mapping[Facet, CaptionSource]


def of(db: sqlite3.Connection, address: str) -> list[Revision]:
    """Every revision of one record's caption and tags, newest first."""
    found = []
    before = WrittenCaption({}, [])
    first: dict[
        tuple[Facet, str], CaptionSource | None
    ] = {}  # who wrote a text first, also if it was restored later
    for event in reversed(events(db, address=address, limit=-1)):
        # The text before is the last known one: a rebuilt catalog does not have it.
        after = _written(db, event.after)
        if after != before:
            sources = _follow(first, before.caption, after.caption, _sources(db, event))
            found.append(Revision(event, before, after, sources))
        before = after
    return found[::-1]


def authors(revisions: Iterable[Revision], caption: Mapping[Facet, str]) -> dict[Facet, Revision]:
    """For each facet, the revision that wrote its text, or emptied it, restored since or not."""
    found: dict[Facet, Revision] = {}
    for revision in revisions:
        for facet, text in caption.items():
            is_news = revision.after.caption.get(facet) == text != revision.before.caption.get(facet)
            if is_news and (text or facet not in found):
                found[facet] = revision
    return found


def source_of(suggested: CaptionSource, *, suggestion: str, text: str) -> CaptionSource | None:
    """The model behind a text that began as its suggestion; None if nothing of the suggestion is left."""
    if text == suggestion:
        return suggested
    return replace(suggested, edited=True) if _lives_on(suggestion, text) else None


def _follow(
    first: dict[tuple[Facet, str], CaptionSource | None],
    before: Mapping[Facet, str],
    after: Mapping[Facet, str],
    recorded: Mapping[Facet, CaptionSource],
) -> dict[Facet, CaptionSource]:
    """The models that wrote what a revision changed, in either direction."""
    sources: dict[Facet, CaptionSource] = {}
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
    """Whether runs of eight characters that both texts share make up a tenth of the shorter one."""
    size = min(8, len(old), len(new))
    if not size:
        return False
    one, other = ({text[at : at + size] for at in range(len(text) - size + 1)} for text in (old, new))
    return 10 * len(one & other) >= min(len(one), len(other))


def _written(db: sqlite3.Connection, state: object) -> WrittenCaption:
    digest = getattr(state, "sidecar_hash", None)
    row = db.execute("SELECT text FROM sidecars WHERE hash = ?", [digest]).fetchone() if digest else None
    if row is None:
        return WrittenCaption({}, [])
    record = Record(read_json(row["text"], "an earlier text"), "pending")
    return WrittenCaption(
        {facet: text for facet, text in record.caption.items() if isinstance(text, str)}, record.tags
    )


def _sources(db: sqlite3.Connection, event: Event) -> dict[Facet, CaptionSource]:
    rows = db.execute(
        "SELECT facet, model, prompt, edited FROM sources WHERE decision = ? AND address = ?",
        [event.decision, event.address],
    )
    return {
        row["facet"]: CaptionSource(row["model"], row["prompt"], bool(row["edited"]))
        for row in rows
        if row["facet"] in CAPTION_FACETS
    }

"""A coin for the editor: what is stored, who wrote it, and unsaved drafts."""

import time
from collections.abc import Mapping
from typing import Any

from components.shell import format
from components.shell.server import pictures
from components.shell.session import presenter, resources, safe_mode
from store import CaptionSource, Library, Record
from store.captioning import Revision, authors
from store.embedding import reading
from store.records import CAPTION_FACETS, Facet

SHOWN = 100  # revisions


def content(library: Library, record: Record) -> dict[str, Any]:
    """Everything that the editor needs of one coin."""
    revisions = library.revisions(record.address)
    drafts = library.drafts.of(record.address)
    shown = safe_mode.shown(library, record)
    return {
        "address": record.address,
        "name": shown.name,
        "ticker": shown.ticker,
        "tier": record.tier,
        "description": shown.description,
        "picture": pictures.address(library, record.image_hash, size=pictures.LARGE),
        "revision": record.revision,
        "stored": {"caption": record.caption, "tags": record.tags},
        "changed": _who_when(revisions[0]) if revisions else None,
        "wrote": {facet: _by(by, facet) for facet, by in authors(revisions, record.caption).items()},
        "draft": next(
            (readable(each.fields, record) for each in drafts if each.actor == library.actor_name), None
        ),
        "suggestions": proposed(library, record.address),
        "others": [
            {"who": presenter.name(each.actor), "when": format.ago(each.created_at)}
            for each in drafts
            if each.actor != library.actor_name
        ],
    }


def proposed(library: Library, address: str) -> dict[str, Any]:
    """Open suggestions for a coin, newest first, and whether a model is being asked now.

    `at` orders answers (seconds of a monotonic clock), because a run of the page may deliver an old one late.
    """
    at = time.monotonic()
    asking = address in library.jobs.keys_under_way("draft")
    return {
        "at": at,
        "asking": asking,
        "open": [
            {
                "id": each.id,
                "facet": each.facet,
                "text": each.text,
                "model": each.model,
                "author": format.model(each.model),
                "prompt": each.prompt,
                "hint": each.hint,
                "when": format.ago(each.created_at),
            }
            for each in library.suggestions.of(address)
        ],
    }


def readable(fields: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """A draft in the editor's form; before catalog version 3 its fields were stored side by side."""
    if "base" in fields:
        return dict(fields)
    caption = {facet: fields.get(facet) or record.caption.get(facet) for facet in CAPTION_FACETS}
    tags = [tag for tag in str(fields.get("tags") or "").split(",") if tag] or record.tags
    base = {"revision": record.revision, "caption": record.caption, "tags": record.tags}
    return {"caption": caption, "tags": tags, "base": base, "sources": {}, "client": "", "n": 0}


def measured(library: Library, texts: Mapping[Facet, str]) -> dict[str, Any]:
    """How the model reads these texts; empty while it is not ready, so that the page does not wait for it."""
    if resources.status(library).model_status != "ready":
        return {}
    embedder = library.embedder
    found = {facet: reading(text, embedder) for facet, text in texts.items() if text.strip()}
    return {
        facet: {"tokens": read.tokens, "limit": read.limit, "windows": read.windows, "first": read.first}
        for facet, read in found.items()
    }


def neighbours_of(library: Library, address: str, facet: Facet, text: str) -> dict[str, Any]:
    """The records closest to a text in a facet, and how well it fits its own picture."""
    found = library.text_neighbours(address, facet, text)
    return {
        "neighbours": [_neighbour(library, other, facet, cosine) for other, cosine in found.neighbours],
        "compared": found.compared,
        "agreement": found.agreement,
        "place": found.rank,
        "pictures": found.pictures,
    }


def history_of(library: Library, address: str) -> list[dict[str, Any]]:
    """The revisions of a coin's caption, newest first, each with its changes."""
    return [
        {
            "id": revision.event.id,
            **_who_when(revision),
            "verb": format.done(revision.event.verb),
            "undone": revision.event.is_undone,
            "before": {"caption": revision.before.caption, "tags": revision.before.tags},
            "after": {"caption": revision.after.caption, "tags": revision.after.tags},
            "sources": {facet: _written_by(source) for facet, source in revision.sources.items()},
        }
        for revision in library.revisions(address)[:SHOWN]
    ]


def _neighbour(library: Library, address: str, facet: Facet, cosine: float) -> dict[str, Any]:
    record = safe_mode.shown(library, library.get(address))
    return {
        "address": address,
        "name": record.name,
        "ticker": record.ticker,
        "picture": pictures.address(library, record.image_hash),
        "text": record.caption.get(facet, "")[:400],
        "cosine": cosine,
    }


def _who_when(revision: Revision) -> dict[str, str]:
    return {"who": presenter.name(revision.event.actor), "when": format.ago(revision.event.created_at)}


def _by(revision: Revision, facet: Facet) -> dict[str, Any]:
    source = revision.sources.get(facet)
    return {**_who_when(revision), **(_written_by(source) if source else {})}


def _written_by(source: CaptionSource) -> dict[str, Any]:
    return {"author": format.model(source.model), "prompt": source.prompt, "edited": source.edited}

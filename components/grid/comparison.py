"""Compare a coin with every other that may be its copy or its original."""

from collections.abc import Iterable
from typing import Any

from components.grid.fields import created, shown_fields
from components.shell import format
from components.shell.server import pictures
from components.shell.session import presenter, safe_mode
from store import DuplicateFinding, Reader, Record, Suspect
from store.catalog import confusables
from store.errors import UnknownRecord

_COMPARED = 24  # others for one coin; a common ticker has hundreds


def comparison(library: Reader, address: str) -> dict[str, Any] | None:
    """The coin and its suspects, those without a verdict first; None if the coin no longer exists."""
    try:
        own = library.get(address)
    except UnknownRecord:
        return None
    suspects = sorted(library.duplicates.of(address), key=lambda suspect: suspect.judgement is not None)
    return {
        "address": address,
        "others": [
            side for suspect in suspects[:_COMPARED] if (side := _side(library, own, suspect)) is not None
        ],
        "count": len(suspects),
    }


def twins(library: Reader, address: str) -> list[dict[str, Any]]:
    """The same in short, for the large view."""
    found = comparison(library, address)
    keys = ("address", "name", "tier", "place", "picture", "findings", "verdict", "letters")
    return [{key: other[key] for key in keys} for other in found["others"]] if found else []


def _side(library: Reader, own: Record, suspect: Suspect) -> dict[str, Any] | None:
    try:
        other = library.get(suspect.other)
    except UnknownRecord:  # gone since
        return None
    own, other = safe_mode.shown(library, own), safe_mode.shown(library, other)
    names, tickers = (
        confusables.compared_names(own.name, other.name),
        confusables.compared_names(own.ticker, other.ticker),
    )
    judgement = suspect.judgement
    return {
        "address": other.address,
        "name": other.name,
        "names": [_pieces(side) for side in names],
        "tickers": [_pieces(side) for side in tickers],
        "tier": other.tier,
        "place": format.TIERS[other.tier],
        "since": _since(library, other),
        "picture": pictures.address(library, other.image_hash),
        "large": pictures.address(library, other.image_hash, size=pictures.LARGE),
        "findings": [finding.kind for finding in suspect.findings],
        "figure": _figure(suspect.findings[0]),
        "letters": suspect.has_other_letters,
        "verdict": judgement.verdict if judgement else None,
        "judged_by": _by(judgement.actor, judgement.created_at) if judgement else "",
        "fields": _differing(library, own, other),
    }


def _figure(strongest: DuplicateFinding) -> float | None:
    """How likely such pictures are copies, where that is measured; words say the rest."""
    return strongest.confidence if strongest.is_measured else None


def _since(library: Reader, record: Record) -> str:
    """How it came to its tier: "rejected by ann: copycat"."""
    for event in library.history(address=record.address, limit=1):
        reason = f": {event.reason}" if event.reason else ""
        return f"{format.done(event.verb)} by {_by(event.actor, event.created_at, reason)}"
    return ""


def _by(actor: str, at: float, reason: str = "") -> str:
    return f"{presenter.name(actor)}{reason}, {format.ago(at)}"


def _differing(library: Reader, own: Record, other: Record) -> list[tuple[str, str, str]]:
    """Every field that differs, with both values."""
    mine, theirs = _fields(library, own), _fields(library, other)
    return [
        (label, mine.get(label, ""), theirs.get(label, ""))
        for label in dict.fromkeys([*mine, *theirs])
        if mine.get(label, "") != theirs.get(label, "")
    ]


def _fields(library: Reader, record: Record) -> dict[str, str]:
    return {
        "Address": record.address,
        "Age": created(record),
        "Description": record.description,
        "Tags": ", ".join(record.tags),
        **{facet.capitalize(): text for facet, text in record.caption.items()},
        "Text in the picture": ""
        if record.name == safe_mode.HIDDEN
        else library.picture_texts.of(record.address).text,
        **dict(shown_fields(record)),
    }


def _pieces(side: Iterable[confusables.Piece]) -> list[tuple[str, bool, str]]:
    return [(piece.text, piece.differs, piece.note) for piece in side]

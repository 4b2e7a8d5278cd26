"""All of one coin: what its panel shows, and the coins that it may be a copy of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from components.grid.cards import SHARED, card, created, figure, strongest, tier_mark
from components.grid.fields import shown_fields
from components.shell import format
from components.shell.page import places
from components.shell.server import pictures
from components.shell.server.messages import Kind, Sender
from components.shell.session import presenter, safe_mode
from store import Library, Reader, Record, Suspect
from store.catalog import confusables
from store.errors import UnknownRecord
from store.records import UNFIT, Tier, is_made_up
from store.rules import copilot, families, keeping, second_opinions

_COMPARED = 24  # others for one coin; a common ticker has hundreds
_PLACES: Mapping[Tier, str] = {
    "pending": "Open in Review",
    "approved": "Open in Approved",
    "library": "Open in Library",
    "trash": "Open among the rejected",
}
# In place of what would tell a person who is asked about a coin again what was decided.
_BLIND = {
    "family": None,
    "copilot": None,
    "history": [{"what": "You are asked about this coin: its past shows after your answer", "when": ""}],
}


@dataclass(frozen=True, slots=True)
class CoinQuestion:
    """The address of a coin."""

    address: Annotated[str, Field(max_length=1_000)]


def answer(library: Library, question: CoinQuestion, _: Sender) -> object:
    """The coin's card, where it can be decided, its details, and similar coins.

    Raises UnknownRecord and InvalidRecord.
    """
    record = library.get(question.address)
    if asked := second_opinions.asked(library, among=[record.address]).get(record.address):
        record = second_opinions.as_decided(library, asked)
        place, link, mark = "Give a second opinion", places.SECOND_OPINIONS, None
    else:
        link = places.coin(record.address, record.tier)
        place, mark = _PLACES[record.tier], tier_mark(record)
    return {
        "card": card(library, record, unfit=library.unfit.pictures(), mark=mark),
        "place": {"label": place, "href": places.address(link)},
        "detail": detail(library, record) | (_BLIND if asked else {}),
        "comparison": comparison(library, record),
    }


KIND = Kind("coin", CoinQuestion, answer)


def explorer(record: Record) -> dict[str, str] | None:
    """The token's page in a block explorer; None for an address that no chain knows."""
    if is_made_up(record.address) or record.sidecar.get("fictional"):
        return None
    if record.address.startswith("0x"):
        return {"label": "Etherscan", "href": f"https://etherscan.io/token/{record.address}"}
    return {"label": "Solscan", "href": f"https://solscan.io/token/{record.address}"}


def _text(library: Reader, record: Record) -> dict[str, str]:
    """The text in the picture, and who says so."""
    found = library.picture_texts.of(record.address)
    if found.source == "person":
        note = "Written by a person"
    elif found.source == "program":
        note = "Read by a program" if found.text else "No text was found."
    else:
        missing = library.picture_texts.missing_reader
        note = f"Not read: {missing}" if missing else "Not read yet"
    return {"text": found.text, "source": found.source, "read": found.read, "note": note}


def detail(library: Reader, record: Record) -> dict[str, Any]:
    """Everything that is known of the coin."""
    shown, reasons = safe_mode.shown(library, record), library.unfit.of(record.address)
    if shown is not record and "word" in reasons:
        reasons["word"] = "a word of the list"  # the reason itself quotes it
    return {
        "description": shown.description,
        "tags": record.tags,
        "caption": shown.caption,
        "text": _text(library, record) if shown is record else None,
        "unfit": ", ".join(reasons.values()),
        "saysUnfit": UNFIT in record.sidecar,
        "fields": shown_fields(shown),
        "explorer": explorer(record),
        "family": _family(library, record),
        "copilot": _copilot(library, record, is_shown=shown is record),
        "comments": [{"text": one["text"], "by": _by(one["who"], one["at"])} for one in shown.comments]
        if shown is record
        else [],
        "mentions": {
            "label": "What lore and memory say of it",
            "href": places.address(places.memory_of(record.address)),
        },
        "history": [
            {
                "what": f"{format.done(event.verb).capitalize()} by {presenter.name(event.actor)}"
                + (f": {event.reason}" if event.reason and event.verb != "comment" else "")
                + (" (undone)" if event.is_undone else ""),
                "when": datetime.fromtimestamp(event.created_at, UTC).strftime("%Y-%m-%d %H:%M"),
            }
            for event in library.history(address=record.address, limit=20)
        ],
    }


def _family(library: Reader, record: Record) -> dict[str, str] | None:
    """What the coin is a copy of and who was first of its family; None if no other belongs to it."""
    found = families.family(library, record.address)
    if found.count == 1:
        return None
    first = found.first
    own = next(member for member in found.members if member.address == record.address)
    said = (
        "This coin was first" if first.address == record.address else f"First seen: {_name(library, first)}"
    )
    day = format.moment(first.created_at)
    others = library.records([one.address for one in found.members if one is not own])
    gain = keeping.gain_in_words(record, others) if record.tier != "trash" else ""
    return {
        "copy": f"copy of {_name(library, found.of(own))}" if own.of else "",
        "edge": own.edge,
        "gain": f"In place of the others (0 on the family page) it would get {gain}" if gain else "",
        "label": f"{said}, {day}, {first.standing}; {format.counted(found.count - 1, 'other')}",
        "href": places.address(places.family(record.address)),
    }


def _copilot(library: Reader, record: Record, *, is_shown: bool) -> dict[str, Any] | None:
    """What the co-pilot says of the coin and why; without words of one that safe mode hides."""
    why = copilot.beside(library, record)
    if isinstance(why, str):
        return {"said": why, "tone": "", "signals": [], "nearest": []} if why else None
    there = {one.address: one for one in library.records([one.address for one in why.nearest])}
    return {
        "said": why.sentence.capitalize(),
        "tone": "good" if why.said == "approved" else "bad",
        "signals": why.signals if is_shown else (),
        "nearest": [
            {
                "name": safe_mode.shown(library, other).name,
                "picture": pictures.address(library, other.image_hash),
                "label": f"{one.was} by {_by(one.actor, one.at)}",
                "href": places.address(places.coin(other.address, other.tier)),
            }
            for one in why.nearest
            if (other := there.get(one.address))
        ],
    }


def _name(library: Reader, one: families.Member) -> str:
    return safe_mode.shown_name(library, one.address, one.name)


def comparison(library: Reader, own: Record) -> dict[str, Any]:
    """The coin's suspects, those without a verdict first; no verdict on one that is asked about blind."""
    suspects = library.duplicates.of(own.address)
    asked = second_opinions.asked(library, among=[own.address, *(suspect.other for suspect in suspects)])
    if asked:
        suspects = [
            suspect
            if asked.keys().isdisjoint((own.address, suspect.other))
            else replace(suspect, judgement=None)
            for suspect in suspects
        ]
    suspects = sorted(suspects, key=lambda suspect: suspect.judgement is not None)
    sides = (_side(library, own, suspect, asked.get(suspect.other)) for suspect in suspects[:_COMPARED])
    return {"others": [side for side in sides if side is not None], "count": len(suspects)}


def _side(
    library: Reader, own: Record, suspect: Suspect, asked: second_opinions.Decided | None
) -> dict[str, Any] | None:
    try:
        other = second_opinions.as_decided(library, asked) if asked else library.get(suspect.other)
    except UnknownRecord:  # gone since
        return None
    own, other = safe_mode.shown(library, own), safe_mode.shown(library, other)
    names, tickers = (
        confusables.compared_names(own.name, other.name),
        confusables.compared_names(own.ticker, other.ticker),
    )
    judgement, kinds = suspect.judgement, {finding.kind for finding in suspect.findings}
    return {
        "address": other.address,
        "name": other.name,
        "names": [_pieces(side) for side in names],
        "tickers": [_pieces(side) for side in tickers],
        "tier": other.tier,
        "place": format.TIERS[other.tier],
        "since": "" if asked else _since(library, other),
        "picture": pictures.address(library, other.image_hash),
        "large": pictures.address(library, other.image_hash, size=pictures.LARGE),
        "findings": [shared for kind, (_, shared, _) in SHARED.items() if kind in kinds],
        "figure": figure(strongest(suspect)),
        "letters": suspect.has_other_letters,
        "verdict": judgement.verdict if judgement else None,
        "judged_by": _by(judgement.actor, judgement.created_at) if judgement else "",
        "fields": _differing(library, own, other),
    }


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
    mine, theirs = _compared_fields(library, own), _compared_fields(library, other)
    return [
        (label, mine.get(label, ""), theirs.get(label, ""))
        for label in dict.fromkeys([*mine, *theirs])
        if mine.get(label, "") != theirs.get(label, "")
    ]


def _compared_fields(library: Reader, record: Record) -> dict[str, str]:
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

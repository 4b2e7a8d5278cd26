"""Who was first: a family of coins as a tree, whose edges say what was done; and what to tell of one coin.

family    the coins joined with one (`store/catalog/families.py`), each below the earlier coin most like it
most_copied  families to begin with
table     a family for programs
check     what the library knows of an address, a ticker, a name or a picture, in sentences
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.catalog import confusables, families
from store.catalog.filters import REJECTED_FOR
from store.duplicates import findings
from store.duplicates.findings import Suspect
from store.errors import UnknownRecord
from store.lru import LruCache
from store.reading.reader import Reader
from store.records import Record, Tier

MOST = 60  # coins of a tree, the oldest; the rest is counted below those
_NO_EDGE = ("by way of others",)  # of a coin that no earlier one is like
_FOUND = 10  # coins that a check tells of
_DONE = {
    "exact picture": "same picture",
    "near picture": "picture changed",
    "mirrored": "mirrored",
    "similar embedding": "redrawn",
    "same name": "same name",
    "same ticker": "same ticker",
}
_DRAWN = {_DONE["near picture"], _DONE["mirrored"], _DONE["similar embedding"]}


_NEAREST = """
SELECT picture, other, max(sure) FROM (
    SELECT picture, other, 1 - distance / 256.0 AS sure FROM lookalikes
    UNION ALL SELECT picture, other, sure FROM likenesses
) WHERE picture IN (SELECT value FROM json_each(?)) AND other IN (SELECT value FROM json_each(?))
GROUP BY picture
"""
_MOST_COPIED = f"""
SELECT (SELECT address FROM records WHERE image_hash = picture ORDER BY created_at, address LIMIT 1) AS coin
FROM (SELECT picture, count(*) AS copies FROM lookalikes WHERE distance <= {families.NEAR} GROUP BY picture)
WHERE coin IS NOT NULL ORDER BY copies DESC, picture LIMIT 100
"""
_SIDE = 8  # fields of a picture along each side
# Of 255, what the fields differ by on average: a hue turned by 127° 10 and more, crops up to 6.8.
_OTHER = 7.5

_swatches: LruCache[str, NDArray[np.float32]] = LruCache(4_096)  # by the picture's hash: 512 bytes each


@dataclass(frozen=True, slots=True)
class Member:
    """One coin of a family, and how it came from another."""

    address: str
    name: str
    ticker: str
    tier: Tier
    created_at: float  # UNIX seconds
    approved_at: float | None  # when it first was, if it is
    rejected_at: float | None  # … likewise
    reason: str  # of the rejection
    of: str  # the address of the coin above it; "" for the first
    done: tuple[str, ...]  # what was done to that one
    sure: float  # that it is a copy of it, 0 to 1

    @property
    def edge(self) -> str:
        """How it came from the coin above it: "mirrored, 97 %"; "" for the first."""
        return ", ".join([*self.done, *([_percent(self.sure)] if self.sure else [])]) if self.of else ""

    @property
    def standing(self) -> str:
        """What became of it, in words."""
        if self.tier == "trash":
            when = f" {day(self.rejected_at)}" if self.rejected_at else ""
            return f"rejected{when}" + (f": {self.reason}" if self.reason else "")
        if self.tier == "pending":
            return "in review"
        return "approved" + (f" {day(self.approved_at)}" if self.approved_at else "")


@dataclass(frozen=True, slots=True)
class Branch:
    """A coin's place in the tree."""

    member: Member
    depth: int  # 0 for the first coin
    up: int  # lines from it to the coin above it; 0 for the first


@dataclass(frozen=True, slots=True)
class Family:
    """The first coin, then each other below an earlier one, oldest first."""

    members: tuple[Member, ...]
    count: int  # of all of them
    folded: Mapping[str, int] = field(default_factory=dict)  # the coins left out below each, by its address

    @property
    def first(self) -> Member:
        """The coin that was there first."""
        return self.members[0]

    def of(self, member: Member) -> Member:
        """The coin that a member came from."""
        return next(one for one in self.members if one.address == member.of)

    @property
    def tree(self) -> list[Branch]:
        """The members line by line: each is followed by those that came from it, oldest first."""
        below: dict[str, list[Member]] = {}
        for member in self.members[1:]:
            below.setdefault(member.of, []).append(member)
        lines: list[Branch] = []
        waiting = [(self.first, 0, 0)]
        while waiting:
            member, depth, line = waiting.pop()
            lines.append(Branch(member, depth, len(lines) - line))
            number = len(lines) - 1
            waiting += [(one, depth + 1, number) for one in reversed(below.get(member.address, []))]
        return lines


@dataclass(frozen=True, slots=True)
class Told:
    """What the library knows of one coin that was asked for."""

    member: Member
    original: str  # the name of the coin that it is a copy of; "" for none
    copies: int  # of it, if it is the first of its family
    how: str = ""  # how the picture that was asked for is like this coin's; "" if the coin itself was
    is_examined: bool = True  # no: it was not compared with the others yet

    @property
    def sentence(self) -> str:
        """Such as "copy of Dogecoin (mirrored, 97 %), rejected 2026-11-02: copycat"."""
        one = self.member
        if self.original:
            said = f"copy of {self.original} ({one.edge})"
        elif self.copies:
            said = f"first of its family, {self.copies:,} like it"
        else:
            said = "no coin like it" if self.is_examined else "not compared with the others yet"
        told = f"{said}, {one.standing}"
        return f"like {one.name} ({self.how}): {told}" if self.how else told


def family(reader: Reader, asked: str) -> Family:
    """The family of a coin by its address, or of a ticker or name. Raises UnknownRecord for none."""
    reader.catalog.actor.check_login()
    with reader.catalog.one_moment() as db:
        named = db.execute("SELECT address FROM records WHERE folded = ?", [asked.strip().lower()]).fetchone()
        address = named[0] if named else asked.strip()
        rows = _rows(db, address)
        if not rows:
            raise UnknownRecord(f"no coin has the address, ticker or name {asked!r}")
        shown = rows[:MOST]
        if named and all(row["address"] != address for row in shown):
            shown += [row for row in rows if row["address"] == address]
        place = _places(shown)
        members = [_kin(db, row, place, rows[0]["address"]) for row in shown]
        folded = Counter(_nearest(db, [row for row in rows[MOST:] if row["address"] not in place], shown))
    pictures = {row["address"]: row["image_hash"] for row in shown}
    return Family(tuple(_with_colours(reader, one, pictures) for one in members), len(rows), folded)


def most_copied(reader: Reader, *, most: int) -> list[tuple[Record, int]]:
    """The first coin of each of the families whose pictures were copied most, and their numbers of coins."""
    reader.catalog.actor.check_login()
    found: dict[str, int] = {}
    seen: set[str] = set()
    with reader.catalog.one_moment() as db:
        for (address,) in db.execute(_MOST_COPIED).fetchall():
            if address not in seen and len(found) < most:
                relatives = [row["address"] for row in _rows(db, address)]
                found[relatives[0]] = len(relatives)
                seen.update(relatives)
    return [(record, found[record.address]) for record in reader.records(found)]


def _nearest(
    db: sqlite3.Connection, rest: Sequence[sqlite3.Row], shown: Sequence[sqlite3.Row]
) -> Iterator[str]:
    """Of each other coin the shown one whose picture is nearest to its own; the first where none is."""
    owner = {row["image_hash"]: row["address"] for row in reversed(shown)}  # the oldest of one picture
    pictures = [json.dumps([*{row["image_hash"] for row in rows}]) for rows in (rest, shown)]
    near = {row[0]: row[1] for row in db.execute(_NEAREST, pictures)} if rest else {}
    for row in rest:
        picture = row["image_hash"]
        yield owner.get(picture) or owner.get(near.get(picture, ""), shown[0]["address"])


def _with_colours(reader: Reader, one: Member, pictures: Mapping[str, str]) -> Member:
    """The member, with whether its picture has other colours than that of the coin above it."""
    if one.of not in pictures or not _DRAWN.intersection(one.done):
        return one
    own, above = ((pictures[address], reader.picture(address)) for address in (one.address, one.of))
    if not are_recoloured(own, above, mirrored="mirrored" in one.done):
        return one
    return replace(one, done=("recoloured", *(said for said in one.done if said != _DONE["near picture"])))


def _kin(db: sqlite3.Connection, row: sqlite3.Row, place: dict[str, int], first: str) -> Member:
    """A member with the coin above it, which for one that no earlier coin is like is the first."""
    member = _member(db, row, _above(db, row["address"], place))
    return member if member.of or row["address"] == first else replace(member, of=first, done=_NO_EDGE)


def _rows(db: sqlite3.Connection, address: str) -> list[sqlite3.Row]:
    """The coins of a family, oldest first."""
    kin, of = families.select(address)
    query = (
        f"SELECT r.* FROM records r WHERE r.id IN (SELECT record FROM ({kin})) ORDER BY created_at, address"
    )
    return db.execute(query, of).fetchall()


def _places(rows: Sequence[sqlite3.Row]) -> dict[str, int]:
    return {row["address"]: number for number, row in enumerate(rows)}


def _above(db: sqlite3.Connection, address: str, place: dict[str, int]) -> Suspect | None:
    """The earlier coin that this one is most likely a copy of; None where none is alike."""
    before = {one for one, number in place.items() if number < place[address]}
    verdicts = findings.standing_verdicts(db, address)
    for other, given in verdicts.items():
        if given.verdict == "copy of" and other in before:
            alike = findings.suspects(db, address, among=[other])
            return alike[0] if alike else Suspect(address, other, "", "", "trash", (), False, given)
    apart = {other for other, given in verdicts.items() if given.verdict == "different"}
    earlier = findings.suspects(db, address, among=before - apart)
    return max(earlier, key=lambda one: (one.confidence, -place[one.other]), default=None)


def _member(db: sqlite3.Connection, row: sqlite3.Row, above: Suspect | None) -> Member:
    approved, rejected = db.execute(
        "SELECT min(at) FILTER (WHERE after ->> 'tier' IN ('approved', 'library')), "
        "max(at) FILTER (WHERE after ->> 'tier' = 'trash' AND before ->> 'tier' IS NOT 'trash') "
        "FROM history WHERE address = ?",
        [row["address"]],
    ).fetchone()
    reason = db.execute(f"SELECT {REJECTED_FOR} FROM records r WHERE r.id = ?", [row["id"]]).fetchone()[0]
    is_judged = above is not None and above.judgement is not None and above.judgement.verdict == "copy of"
    return Member(
        row["address"], row["name"], row["ticker"], row["tier"], row["created_at"],
        approved if row["tier"] in ("approved", "library") else None,
        rejected if row["tier"] == "trash" else None,
        (reason or "") if row["tier"] == "trash" else "",
        above.other if above else "",
        _what_was_done(row["name"], above) if above else (),
        1.0 if is_judged else above.confidence if above else 0.0,
    )  # fmt: skip


def _what_was_done(name: str, above: Suspect) -> tuple[str, ...]:
    kinds = {one.kind for one in above.findings}
    if kinds & {"exact picture", "near picture", "mirrored"}:
        kinds.discard("similar embedding")  # the same said twice
    said = [text for kind, text in _DONE.items() if kind in kinds]
    if above.has_other_letters:
        said.append("other lettering")
    if any(one.kind == "confusable name" for one in above.findings):
        pieces = confusables.compared_names(name, above.name)[0]
        letters = dict.fromkeys(piece.note.replace("read as", "for") for piece in pieces if piece.note)
        said += [*letters][:3] or ["name spelt alike"]
    elif any(one.kind == "confusable ticker" for one in above.findings):
        said.append("ticker spelt alike")
    if above.judgement and above.judgement.verdict == "copy of":
        said.append(f"so judged by {above.judgement.actor}")
    return tuple(said) or ("alike",)


def table(found: Family) -> list[dict[str, Any]]:
    """The members line by line as in the tree, for programs."""
    return [{**_plain(one.member), "depth": one.depth} for one in found.tree]


def _plain(one: Member) -> dict[str, Any]:
    return {
        "token_address": one.address,
        "token_name": one.name,
        "ticker": one.ticker,
        "tier": one.tier,
        "copy_of": one.of or None,
        "done": list(one.done),
        "sure": one.sure if one.of else None,
        "created_at": one.created_at,
        "approved_at": one.approved_at,
        "rejected_at": one.rejected_at,
        "reason": one.reason,
    }


def check(reader: Reader, asked: str) -> list[Told]:
    """What the library knows of an address, a ticker or a name, however it is spelt; best match first."""
    with reader.catalog.one_moment() as db:
        return [_told(reader, db, address) for address in _called(db, asked.strip())]


def tell(reader: Reader, address: str) -> Told:
    """What the library knows of one of its coins. Raises UnknownRecord."""
    reader.get(address)
    with reader.catalog.one_moment() as db:
        return _told(reader, db, address)


def check_picture(reader: Reader, content: bytes) -> list[Told]:
    """What the library knows of coins with a picture like this, nearest first. Raises BadPicture."""
    prints = reader.duplicates.like_picture(content)
    with reader.catalog.one_moment() as db:
        return _like_picture(reader, db, prints)[:_FOUND]


def _told(reader: Reader, db: sqlite3.Connection, address: str, *, how: str = "") -> Told:
    rows = _rows(db, address)
    place = _places(rows)
    pictures = {row["address"]: row["image_hash"] for row in rows}
    own = _with_colours(reader, _member(db, rows[place[address]], _above(db, address, place)), pictures)
    original = next((row["name"] for row in rows if row["address"] == own.of), "")
    waits = db.execute("SELECT 1 FROM unexamined WHERE record = ?", [rows[place[address]]["id"]]).fetchone()
    copies = len(rows) - 1 if place[address] == 0 else 0
    return Told(own, original, copies, how, is_examined=waits is None)


def _like_picture(
    reader: Reader, db: sqlite3.Connection, prints: Sequence[tuple[str, findings.Kind, float]]
) -> list[Told]:
    """Coins with this picture, or one like it, nearest first."""
    told: list[Told] = []
    for picture, kind, sure in prints[:_FOUND]:
        how = f"{_DONE[kind]}, {_percent(sure)}"
        rows = db.execute(
            "SELECT address FROM records WHERE image_hash = ? ORDER BY created_at LIMIT ?", [picture, _FOUND]
        )
        told += [_told(reader, db, row[0], how=how) for row in rows.fetchall()]
    return told


def _called(db: sqlite3.Connection, asked: str) -> list[str]:
    """Coins of this address, or that read as this ticker or name: exact ones first, then oldest."""
    by_address = db.execute("SELECT address FROM records WHERE folded = ?", [asked.lower()]).fetchall()
    if by_address:
        return [row[0] for row in by_address]
    spelt = confusables.spelling(asked, asked.removeprefix("$"))
    rows = db.execute(
        "SELECT r.address FROM spellings s JOIN records r ON r.id = s.record "
        "WHERE (s.ticker_skeleton = :ts AND :t <> '') OR (s.name_skeleton = :ns AND :n <> '') "
        "ORDER BY s.ticker = :t OR s.name = :n DESC, r.tier = 'trash', r.created_at LIMIT :most",
        {
            "ts": spelt.ticker_skeleton, "t": spelt.ticker, "ns": spelt.name_skeleton, "n": spelt.name,
            "most": _FOUND,
        },
    )  # fmt: skip
    return [row[0] for row in rows]


def as_json(told: Told) -> dict[str, Any]:
    """What is told, for programs."""
    return {
        **_plain(told.member),
        "sentence": told.sentence,
        "copies": told.copies,
        "picture": told.how or None,
    }


def day(at: float | None) -> str:
    """The day (UTC) of a moment in UNIX seconds."""
    return datetime.fromtimestamp(at or 0, UTC).strftime("%Y-%m-%d")


def _percent(sure: float) -> str:
    return f"{100 * sure:.0f} %"


def are_recoloured(one: tuple[str, Path], other: tuple[str, Path], *, mirrored: bool) -> bool:
    """Whether two pictures of one drawing, by hash and file, differ in colour more than brightness."""
    try:
        own, theirs = _swatch(*one), _swatch(*other)
    except OSError:
        return False
    return float(np.abs(own - (theirs[:, ::-1] if mirrored else theirs)).mean()) > _OTHER


def _swatch(image_hash: str, path: Path) -> NDArray[np.float32]:
    """(8, 8, 2): the two colour differences (Cb, Cr) of each field."""
    from PIL import Image  # a tenth of a second

    found = _swatches.get(image_hash)
    if found is None:
        with Image.open(path) as image:
            image.draft("RGB", (8 * _SIDE, 8 * _SIDE))
            small = image.convert("YCbCr").resize((_SIDE, _SIDE), Image.Resampling.BOX)
        found = _swatches[image_hash] = np.asarray(small, np.float32)[..., 1:]
    return found

"""A page in one file: pictures, captions, sliders, and the similarities that rank them in the browser.

It ranks by the same numbers and sums as the library, so by any weights the coins have the library's order.
There is a question for each coin, "more like this", besides the one that was asked. The page loads nothing:
its policy permits its own script and style by their hashes, and pictures as data.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from store.catalog.filters import Filter
from store.disk.layout import RESOURCES
from store.disk.thumbnails import SIZES, thumbnail
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.reading.query_binding import exact_matches, parts_of, picture
from store.records import CAPTION_FACETS, FACETS, Facet, Record
from store.search import in_browser
from store.search.query import Part, Query
from store.search.query_syntax import read
from store.showcase.scripts import script, style
from store.vectors.weights import PRESETS, checked_weights

if TYPE_CHECKING:
    from store.reading.reader import Reader

MOST = 100  # coins; fifty take about 3 MB
_EXACT = 5  # coins that a line names
_SIZE = SIZES[-1]  # px of a picture's longer side

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
<main id="page" class="memedex-grid"></main>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</html>
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as a line, and the query that it became; pinned coins come first with any weights."""

    line: str
    query: Query
    pinned: tuple[str, ...] = ()


def asked(reader: "Reader", line: str) -> Asked:
    """The question of a line as the search page takes it, of the library's coins.

    Raises InvalidRecord if it cannot be compared with anything.
    """
    question = read(line, base=Filter(tier="library"))
    parts, faults = parts_of(reader, question, pictures=partial(picture, reader))
    faults = [*question.faults, *faults]
    if faults or not parts:
        raise InvalidRecord("; ".join(faults) or "a page is ranked by a text, a picture or an example")
    named = exact_matches(reader, question, line, limit=_EXACT)
    pinned = tuple(record.address for record in named)
    return Asked(line, Query(parts, filter=question.filter, fused=True), pinned)


def page(reader: "Reader", addresses: Sequence[str], *, asked: Asked | None = None) -> bytes:
    """These coins of the library as one HTML file, first by what was asked, else by the first of them.

    Raises InvalidRecord for more than MOST coins, for none, and for one that is not in the library.
    """
    records = [reader.get(address) for address in dict.fromkeys(addresses)]
    if not 0 < len(records) <= MOST:
        raise InvalidRecord(f"a page holds 1 to {MOST} coins, not {len(records):,}")
    for record in records:
        if record.tier != "library":
            raise InvalidRecord(f"{record.name} is not in the library, so nothing ranks it")
    first = records[0].address
    records.sort(key=lambda record: record.address)  # the library's order of equal scores
    rows = [record.address for record in records]
    questions = [_question(reader, rows, asked)] if asked else []
    examples = sorted(range(len(rows)), key=lambda at: (rows[at] != first, records[at].name.casefold()))
    questions += [_like(reader, rows, at, records[at]) for at in examples]
    number = f"{len(rows)} coin{'s' * (len(rows) > 1)}"
    data = {
        "about": f"{number} of a Memedex library, saved on {datetime.now(UTC):%-d %B %Y}. Move a slider to "
        "rank them by other facets; the coloured line below a picture shows what each facet gives.",
        "credits": _credits(rows),
        "coins": [_coin(reader, record, row) for row, record in enumerate(records)],
        "questions": questions,
        "presets": [(name, checked_weights(weights), name) for name, weights in PRESETS.items()],
    }
    title = f"{asked.line if asked else number} · Memedex"
    code, look = script(), style()
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(look)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    # JSON may name "<" by its number: no text of a coin can end the element that holds it.
    inside = json.dumps(data).replace("<", "\\u003c")
    return _PAGE.format(policy=policy, title=escape(title), style=look, data=inside, script=code).encode()


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _coin(reader: "Reader", record: Record, row: int) -> dict[str, Any]:
    return {
        "row": row,
        "address": record.address,
        "name": record.name,
        "ticker": record.ticker,
        "created_at": record.created_at,
        "tags": record.tags,
        "picture": _picture(reader, record),
        "captions": {facet: record.caption[facet] for facet in CAPTION_FACETS if record.caption.get(facet)},
    }


def _picture(reader: "Reader", record: Record) -> str:
    """The picture as a data URL; "" without one that can be read."""
    if not record.image_hash:
        return ""
    try:
        path = thumbnail(reader.layout, reader.picture(record.address), record.image_hash, size=_SIZE)
        return f"data:image/webp;base64,{b64encode(path.read_bytes()).decode()}"
    except (BadPicture, UnknownRecord, OSError):
        return ""


def _question(reader: "Reader", rows: Sequence[str], asked: Asked) -> dict[str, Any]:
    weights = asked.query.sliders
    pinned = [rows.index(address) for address in asked.pinned if address in rows]
    return _ranked(reader, rows, asked.line, asked.query, weights) | {"pinned": pinned}


def _like(reader: "Reader", rows: Sequence[str], at: int, record: Record) -> dict[str, Any]:
    """The question for coins like one of them, which is no result itself."""
    query = Query((Part(like=record.address),))
    name = f"likeness to {record.name}" + (f" ({record.ticker})" if record.ticker else "")
    return _ranked(reader, rows, name, query, query.sliders, without=at) | {"like": at}


def _ranked(
    reader: "Reader",
    rows: Sequence[str],
    name: str,
    query: Query,
    weights: Mapping[Facet, float],
    *,
    without: int | None = None,
) -> dict[str, Any]:
    results = reader.search(replace(query, top=1))
    row_of = {results.addresses[row]: row for row in results.answer.rows_of(rows)}
    columns = in_browser.columns(results, np.array([row_of.get(address, 0) for address in rows], np.intp))
    # A search on a server compares its candidates alone; a coin without any facet is no result.
    absent = [at for at, address in enumerate(rows) if address not in row_of or at == without]
    for name_of, column in columns.items():
        column[absent] = np.nan if name_of in FACETS else 0
    return {
        "name": name,
        "like": None,
        **in_browser.figures(results),
        "scale": results.scale._asdict(),
        "pinned": [],
        "weights": {facet: weights.get(facet, 0.0) for facet in FACETS},
        "usual": Query(query.parts).sliders,
        "columns": {
            facet: b64encode(column.astype("<f4").tobytes()).decode() for facet, column in columns.items()
        },
    }


def _credits(addresses: Sequence[str]) -> str:
    """The licences of the demo's art, if one of these coins has some; they ask to be passed on with it."""
    return _licences() if not _coins_of_the_demo().isdisjoint(addresses) else ""


@cache
def _coins_of_the_demo() -> frozenset[str]:
    coins = json.loads((RESOURCES / "demo" / "manifest.json").read_text("utf-8"))["coins"]
    return frozenset(coin["token_address"] for coin in coins)


@cache
def _licences() -> str:
    return (RESOURCES / "demo" / "ATTRIBUTION.md").read_text("utf-8")

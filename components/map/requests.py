"""The map's data: points, colours, cards, pictures; sent as messages, so that no page is run for them."""

import base64
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from PIL import Image, ImageDraw
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from components.map.points import PointTable, drawn_table
from components.shell.server import pictures
from components.shell.server.messages import Kind, Sender
from components.shell.session import safe_mode
from store import Library, Reader
from store.disk import thumbnails
from store.errors import BadPicture

_PICTURES = 120  # cards sent at once

_Rows = list[Annotated[int, Field(strict=True)]]
_COLUMNS = 8
_SIDE = thumbnails.TINY  # pixels
MOST_PICTURES = _COLUMNS * _COLUMNS  # pictures of one sheet
_QUALITY = 82
_ROUND = 0.16  # radius of a corner, of the side


@dataclass(frozen=True, slots=True)
class PointsRequest:
    """The version and colouring that a map has of a sheet, and the rows whose cards it lacks."""

    sheet: str
    version: Annotated[int, Field(strict=True, ge=0)] = 0
    colouring: str = ""
    cards: _Rows = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SpritesRequest:
    """The rows of a sheet whose small pictures a map lacks, and those that were clicked."""

    sheet: str
    rows: _Rows
    clicked: _Rows = field(default_factory=list)


def answer_points(library: Library, request: PointsRequest, _: Sender) -> object:
    """The points that changed since this version, the colours if they are others, and cards of these rows."""
    sheet = drawn_table(request.sheet)
    if sheet is None:
        return PlainTextResponse("not drawn here", 404)
    missing: dict[str, Any] = {"cards": _cards(library, sheet, request.cards[:_PICTURES])}
    if request.version < sheet.version:
        missing["version"] = sheet.version  # before the points: what comes meanwhile is sent again
        rows, points, times = sheet.since(request.version)
        missing["rows"] = text(rows.tobytes())
        missing["points"] = text(points.tobytes())
        missing["times"] = text(times.tobytes())
    if request.colouring != sheet.colouring:
        missing["colouring"], missing["colours"] = sheet.colouring, text(sheet.colours)
    return missing


def answer_sprites(library: Library, request: SpritesRequest, sender: Sender) -> Response:
    """The pictures of up to 64 rows as one WebP of eight columns; clicked ones are never blurred."""
    sheet = drawn_table(request.sheet)
    if sheet is None:
        return PlainTextResponse("not drawn here", 404)
    wanted, clicked = (_addresses(sheet, rows) for rows in (request.rows[:MOST_PICTURES], request.clicked))
    is_safe = safe_mode.is_on(sender.cookies)
    return Response(
        sheet_picture(library, wanted, is_safe=is_safe, clicked=set(clicked)),
        media_type="image/webp",
        headers={"Cache-Control": "no-store"},
    )


KINDS = (
    Kind("map-points", PointsRequest, answer_points),
    Kind("map-sprites", SpritesRequest, answer_sprites),
)


def text(content: bytes) -> str:
    """Bytes, such as numbers in the byte order of all machines of today, in base64."""
    return base64.b64encode(content).decode()


def _addresses(sheet: PointTable, rows: Sequence[int]) -> list[str]:
    """The coin of each row, "" where there is none."""
    return [sheet.addresses[row] if sheet.standing(row) else "" for row in rows]


def _cards(library: Reader, drawn: PointTable, rows: Sequence[int]) -> dict[str, dict[str, Any]]:
    """What is shown of these points, by their number."""
    shown = {drawn.addresses[row]: row for row in rows if drawn.standing(row)}
    return {
        str(shown[record.address]): {
            "name": record.name,
            "ticker": record.ticker,
            "captions": [text for text in record.caption.values() if text.strip()],
            "tags": record.tags,
            "picture": pictures.address(library, record.image_hash),
        }
        for record in (safe_mode.shown(library, one) for one in library.records(list(shown)))
    }


def sheet_picture(
    library: Library, addresses: Sequence[str], *, is_safe: bool, clicked: Collection[str] = ()
) -> bytes:
    """A WebP with the pictures of these coins in rows of eight, transparent where there is none.

    In safe mode, those that are unfit for the screen are blurred, except coins that the user clicked.
    """
    hidden = library.unfit.pictures() if is_safe else frozenset()
    lines = max(1, -(-len(addresses) // _COLUMNS))
    sheet = Image.new("RGBA", (_COLUMNS * _SIDE, lines * _SIDE))
    hashes = {record.address: record.image_hash for record in library.records(filter(None, addresses))}
    for number, address in enumerate(addresses):
        image_hash = hashes.get(address, "")
        picture = _picture(library, image_hash, is_blurred=image_hash in hidden and address not in clicked)
        if picture is not None:
            sheet.paste(picture, (number % _COLUMNS * _SIDE, number // _COLUMNS * _SIDE), _corners())
    content = io.BytesIO()
    sheet.save(content, "WEBP", quality=_QUALITY, method=1)  # method 4 takes three times as long
    return content.getvalue()


def _picture(library: Library, image_hash: str, *, is_blurred: bool) -> Image.Image | None:
    path = library.picture_by_hash(image_hash) if image_hash else None
    if path is None:
        return None
    try:
        small = thumbnails.thumbnail(library.layout, path, image_hash, size=_SIDE)
        with Image.open(io.BytesIO(safe_mode.blurred(small)) if is_blurred else small) as image:
            own = image.convert("RGBA")
    except (BadPicture, OSError):  # the point keeps its dot
        return None
    ground = Image.new("RGBA", (_SIDE, _SIDE), "white" if own.size != (_SIDE, _SIDE) else (0, 0, 0, 0))
    ground.paste(own, ((_SIDE - own.width) // 2, (_SIDE - own.height) // 2), own)
    return ground


@cache
def _corners() -> Image.Image:
    mask = Image.new("L", (_SIDE * 4, _SIDE * 4))
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, _SIDE * 4 - 1, _SIDE * 4 - 1), radius=round(_SIDE * 4 * _ROUND), fill=255
    )
    return mask.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)

"""POST /map: what a map's browser lacks: points, colours, cards, pictures; no run of the page."""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.map import sprites
from components.map.points import PointTable, drawn_table
from components.shell import pictures, safe_mode
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.library import Library
from store.reading.reader import Reader

_PICTURES = 120  # cards sent at once


def address() -> str:
    """Where pages send it."""
    return f"{base_path()}/map/points"


def sprites_address() -> str:
    """Where pages ask for small pictures."""
    return f"{base_path()}/map/sprites"


def routes() -> list[Route]:
    """The route, for the app."""
    return [
        Route(address(), serve, methods=["POST"]),
        Route(sprites_address(), serve_sprites, methods=["POST"]),
    ]


async def serve(request: Request) -> Response:
    """What is missing; only for pages of this library, which have its token."""
    return await answered(request, answer)


async def serve_sprites(request: Request) -> Response:
    """One picture with the small pictures of many points, in the same way."""
    return await answered(request, partial(answer_sprites, is_safe=safe_mode.is_on(request.cookies)))


def answer_sprites(library: Library, data: Mapping[str, Any], *, is_safe: bool) -> Response:
    """The pictures of up to 64 rows as one WebP of eight columns; clicked ones are never blurred.

    Asked by `{"sheet": name, "rows": [rows], "clicked": [rows]}`.
    """
    sheet = drawn_table(str(data.get("sheet")))
    if sheet is None:
        return PlainTextResponse("not drawn here", 404)
    wanted, clicked = (_addresses(sheet, data.get(name)) for name in ("rows", "clicked"))
    return Response(
        sprites.drawn(library, wanted[: sprites.MOST], is_safe=is_safe, clicked=set(clicked)),
        media_type="image/webp",
        headers={"Cache-Control": "no-store"},
    )


def _addresses(sheet: PointTable, rows: object) -> list[str]:
    """The coin of each row, "" where there is none."""
    return [
        sheet.addresses[row] if type(row) is int and sheet.standing(row) else ""
        for row in (rows if isinstance(rows, list) else [])
    ]


def answer(library: Library, data: Mapping[str, Any]) -> Response:
    """The points that changed since this version, the colours if they are others, and cards of these rows.

    Asked by `{"sheet": name, "version": 3, "colouring": name, "cards": [rows]}`.
    """
    sheet = drawn_table(str(data.get("sheet")))
    if sheet is None:
        return PlainTextResponse("not drawn here", 404)
    missing: dict[str, Any] = {"cards": _cards(library, sheet, data.get("cards"))}
    version = data.get("version")
    if type(version) is int and version < sheet.version:
        missing["version"] = sheet.version  # before the points: what comes meanwhile is sent again
        rows, points, times = sheet.since(version)
        missing["rows"] = text(rows.tobytes())
        missing["points"] = text(points.tobytes())
        missing["times"] = text(times.tobytes())
    if isinstance(data.get("colouring"), str) and data["colouring"] != sheet.colouring:
        missing["colouring"], missing["colours"] = sheet.colouring, text(sheet.colours)
    return JSONResponse(missing, headers={"Cache-Control": "no-store"})


def text(content: bytes) -> str:
    """Bytes, such as numbers in the byte order of all machines of today, in base64."""
    return base64.b64encode(content).decode()


def _cards(library: Reader, drawn: PointTable, data: object) -> dict[str, dict[str, Any]]:
    """What is shown of these points, by their number."""
    rows = data[:_PICTURES] if isinstance(data, list) else []
    shown = {drawn.addresses[row]: row for row in rows if type(row) is int and drawn.standing(row)}
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

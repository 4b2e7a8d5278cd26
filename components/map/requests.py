"""POST /map: what a map's browser lacks of its sheet: points, colours, pictures; no run of the page."""

import base64
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.map.points import Sheet, drawn_sheet
from components.shell import pictures
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.library import Library
from store.reading.reader import Reader

_PICTURES = 120  # cards sent at once


def address() -> str:
    """Where pages send it."""
    return f"{base_path()}/map/points"


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(address(), serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """What is missing; only for pages of this library, which have its token."""
    return await answered(request, answer)


def answer(library: Library, data: Mapping[str, Any]) -> Response:
    """The points that changed since this version, the colours if they are others, and cards of these rows.

    Asked by `{"sheet": name, "version": 3, "colouring": name, "cards": [rows]}`.
    """
    sheet = drawn_sheet(str(data.get("sheet")))
    if sheet is None:
        return PlainTextResponse("not drawn here", 404)
    missing: dict[str, Any] = {"cards": _cards(library, sheet, data.get("cards"))}
    version = data.get("version")
    if type(version) is int and version < sheet.version:
        missing["version"] = sheet.version  # before the points: what comes meanwhile is sent again
        rows, points = sheet.since(version)
        missing["rows"] = text(rows.tobytes())
        missing["points"] = text(points.tobytes())
    if isinstance(data.get("colouring"), str) and data["colouring"] != sheet.colouring:
        missing["colouring"], missing["colours"] = sheet.colouring, text(sheet.colours)
    return JSONResponse(missing, headers={"Cache-Control": "no-store"})


def text(content: bytes) -> str:
    """Bytes, such as numbers in the byte order of all machines of today, in base64."""
    return base64.b64encode(content).decode()


def _cards(library: Reader, drawn: Sheet, data: object) -> dict[str, dict[str, str]]:
    """Name and picture of these points, by their number."""
    rows = data[:_PICTURES] if isinstance(data, list) else []
    shown = {drawn.addresses[row]: row for row in rows if type(row) is int and drawn.standing(row)}
    return {
        str(shown[record.address]): {
            "name": record.name,
            "ticker": record.ticker,
            "picture": pictures.address(library, record.image_hash),
        }
        for record in library.records(list(shown))
    }

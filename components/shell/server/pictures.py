"""Serve pictures under signed URLs, resized, cached by the browser for good."""

import hmac
import re
from functools import lru_cache
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.shell.addresses import base_path
from components.shell.session import login, logins, resources, safe_mode
from store import Reader
from store.disk import thumbnails
from store.errors import BadPicture

TINY, GRID, LARGE = thumbnails.SIZES
_NAME = re.compile(r"([0-9a-f]{64})-(\d{2,4})-([0-9a-f]{32})\.webp")
# The name holds the picture's hash: what it stands for can never change, so nobody need ask again.
_FOREVER = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def address(
    library: Reader, image_hash: str, *, size: int = GRID, unfit: frozenset[str] | None = None
) -> str:
    """The URL of the picture with this hash; nobody can construct another's.

    It says whether the picture is unfit, so that a flag set later gives it another URL: no cache shows it.
    `unfit`: what `library.unfit.pictures()` just answered, where many are asked for.
    """
    if not image_hash:
        return ""
    name = f"{image_hash}-{size}-{_signature(library.secret, image_hash, size=size)}.webp"
    mark = (
        f"?{safe_mode.MARK}=1" if image_hash in (library.unfit.pictures() if unfit is None else unfit) else ""
    )
    return f"{base_path()}/pictures/{name}{mark}"


def routes() -> list[Route]:
    """The route that serves them, for the app."""
    return [Route(f"{base_path()}/pictures/{{name}}", serve, methods=["GET"])]


def serve(request: Request) -> Response:
    """Serve one picture; not `async`, so that Starlette runs it in a thread that may wait for the disk."""
    match = _NAME.fullmatch(request.path_params["name"])
    if not match:
        return _not_found()
    image_hash, size, signature = match[1], int(match[2]), match[3]
    if login.is_required() and not login.is_permitted(logins.of_request(request)):
        return PlainTextResponse("log in to see this", 401, headers={"Cache-Control": "no-store"})
    library = resources.library_of_routes()
    if not hmac.compare_digest(_signature(library.secret, image_hash, size=size), signature):
        return _not_found()
    picture = library.picture_by_hash(image_hash) or library.samples.path(image_hash)
    if picture is None:
        return _not_found()
    hides = safe_mode.MARK in request.query_params and safe_mode.SHOWN not in request.query_params
    try:
        path = thumbnails.thumbnail(library.layout, picture, image_hash, size=size)
    except BadPicture:
        return _not_found()
    except OSError:  # a full or read-only disk: the picture itself does as well
        if picture.exists() and not (hides and safe_mode.is_on(request.cookies)):
            return FileResponse(picture, media_type="image/jpeg", headers=_FOREVER)
        return _not_found()  # moved away this very moment: the page shows an empty frame
    if hides:
        content = safe_mode.blurred(path) if safe_mode.is_on(request.cookies) else path.read_bytes()
        return Response(content, media_type="image/webp", headers={**_FOREVER, "Cache-Control": "no-store"})
    return FileResponse(path, media_type="image/webp", headers=_FOREVER)


@lru_cache(maxsize=16_384)
def _signature(secret: bytes, image_hash: str, *, size: int) -> str:
    return hmac.new(secret, f"picture {image_hash} {size} {thumbnails.LOOK}".encode(), sha256).hexdigest()[
        :32
    ]


def _not_found() -> Response:
    return PlainTextResponse("no such picture", 404, headers={"Cache-Control": "no-store"})

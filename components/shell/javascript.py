"""Components with a script of their own, and their JavaScript: ES modules, served as one.

The URL contains a hash of it, so a browser may cache it for good, and an open page gets a new one with its
next run after an update.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components.shell.addresses import base_path
from store.showcase import bundled

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_COMPONENTS = Path(__file__).resolve().parent.parent
_FILES = ("modules.js", "again.js")
_FOREVER = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def mounted(name: str, html: str = "", *, script: str, style: str = "") -> "ComponentRenderer":
    """A component of Streamlit's: markup, and script and style by their paths below `components`."""
    css = (_COMPONENTS / style).read_text("utf-8") if style else None
    return st.components.v2.component(f"memedex.{name}", html=html or None, css=css, js=component(script))


def component(path: str) -> str:
    """The script of a component whose code is the default export of this module, named from `components`."""
    first, again = addresses()
    # Streamlit runs this from a blob, which has no address that "/" could begin at. A document may never ask
    # again for a module that it could not fetch: where a connection broke, all get another address.
    return f"""const load = (address) => import(new URL(address, document.baseURI).href);
const {{ moduleAt }} = await load("{first}").catch(() => load("{again}"));
export default moduleAt("{path}").default;
"""


def addresses() -> list[str]:
    """Where the modules are, and where they are once more if they could not be fetched there."""
    return [f"{_folder()}/{file}" for file in _FILES]


def routes() -> list[Route]:
    """The route that serves the modules to everybody; they contain nothing of a library."""
    return [Route(f"{_folder()}/{{file:path}}", serve, methods=["GET"])]


async def serve(request: Request) -> Response:
    """Serve the modules; no other file can be named."""
    if request.path_params["file"] not in _FILES:
        return PlainTextResponse("not found", 404, headers={"Cache-Control": "no-store"})
    return Response(bundle(), media_type="text/javascript", headers=_FOREVER)


@cache
def bundle() -> bytes:
    """Every module below `components`, as first read by this process."""
    found = sorted(_COMPONENTS.rglob("*.js"))
    return bundled(
        {path.relative_to(_COMPONENTS).as_posix(): path.read_text("utf-8") for path in found}
    ).encode()


def _folder() -> str:
    return f"{base_path()}/javascript/{sha256(bundle()).hexdigest()[:16]}"

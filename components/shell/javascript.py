"""The components' JavaScript: ES modules, served as they are.

The URL contains a hash of all modules together, so a browser may cache them for good, and an open page gets
new ones with its next run after an update.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from components.shell.base_path import base_path

_COMPONENTS = Path(__file__).resolve().parent.parent
_AGAIN = "again/"
_FOREVER = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def component(main: Path) -> str:
    """The script of a component whose code is this module's default export."""
    path = main.resolve().relative_to(_COMPONENTS).as_posix()
    # Streamlit runs this from a blob, which has no address that "/" could begin at. A document may never ask
    # again for a module that it could not fetch: where a connection broke, all get another address.
    return f"""const load = (address) => import(new URL(address, document.baseURI).href);
const {{ default: show }} = await load("{_folder()}/{path}").catch(() => load("{_folder()}/{_AGAIN}{path}"));
export default show;
"""


def routes() -> list[Route]:
    """The route that serves the modules to everybody; they contain nothing of a library."""
    return [Route(f"{_folder()}/{{path:path}}", serve, methods=["GET"])]


async def serve(request: Request) -> Response:
    """Serve one module; no other file can be named."""
    module = modules().get(request.path_params["path"].removeprefix(_AGAIN))
    if module is None:
        return PlainTextResponse("not found", 404, headers={"Cache-Control": "no-store"})
    return Response(module, media_type="text/javascript", headers=_FOREVER)


@cache
def modules() -> dict[str, bytes]:
    """Every module by its path below `components`, as first read by this process."""
    found = sorted(_COMPONENTS.rglob("*.js"))
    return {path.relative_to(_COMPONENTS).as_posix(): path.read_bytes() for path in found}


def _folder() -> str:
    return f"{base_path()}/javascript/{_version()}"


@cache
def _version() -> str:
    digest = sha256()
    for path, module in modules().items():
        digest.update(f"{path} {len(module)}\n".encode() + module)
    return digest.hexdigest()[:16]

"""Addresses of earlier versions, redirected to the places that have what they showed."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Match, Route
from starlette.types import Scope

from components.shell.addresses import base_path

_MEMORY = {
    "view=Test retrieval": "memory",
    "view=Prompt preview": "memory?ask={prompt}&world={in}&session={of}",
    "view=Connections": "memory?view=Browse&about={coin}",
    "view=Pending memories": "memory?view=Review",
    "view=Contexts": "settings?section=Past prompts",
    "view=Status": "settings?section=System status",
    "section=*": "memory?heading=*",
}

# An address that has the parameters of the left side leads to the right side; the rest of its query follows.
# `*` is any value, the same on both sides; `{name}` is the value of this parameter, if the address has it.
MOVED: Mapping[str, str] = {
    "pending": "review",
    "rejected": "library?tab=Rejected",
    "library?library_words=*": "library?tab=All&library_words=*",
    "library?library_sort=*": "library?tab=All&library_sort=*",
    "library?library_page=*": "library?tab=All&library_page=*",
    "library?library_per=*": "library?tab=All&library_per=*",
    "library?filter=*": "library?tab=All&filter=*",
    "captions?captions_view=Write": "captions",
    "captions?captions_view=Check up": "captions?view=Check",
    "captions?captions_view=Replace": "captions?view=Find and replace",
    "suspicious": "captions?view=Check&captions_kind=fit",
    "drafting": "captions?view=AI drafts",
    **{f"{path}?{before}": after for path in ("lore", "memory") for before, after in _MEMORY.items()},
    "lore": "memory",
    "insights?insights_view=Content": "insights",
    "insights?insights_view=*": "insights?view=*",
    "search?as=map": "search?view=Map",
    "map": "search?view=Map&q={map_q}",
    "generate": "search?view=Use as prompt&q={gen_q}&fold={gen_fold}",
    "evaluation": "insights?view=Search quality",
    "history": "activity",
    "jobs": "activity?history_what=Jobs",
    "exchange": "settings?section=Import and export",
    "tags": "settings?section=Tags",
    "health": "settings?section=System status",
}
_VIEWS = {"view", "tab", "section"}


def moved(path: str, query: str) -> str | None:
    """The address that has what this one showed, both below the app's path; None if it has not moved."""
    given = parse_qsl(query, keep_blank_values=True)
    names = dict(given)
    for before, after in MOVED.items():
        old_path, condition = _parts(before)
        new_path, added = _parts(after)
        if path != old_path or not all(
            names.get(name) == value or (value == "*" and name in names) for name, value in condition.items()
        ):
            continue
        if path == new_path and _VIEWS & added.keys() & (names.keys() - condition.keys()):
            continue  # it names its view, as addresses of this version do
        same = next((names[name] for name, value in condition.items() if value == "*"), "")
        renamed = {name: value[1:-1] for name, value in added.items() if value.startswith("{")}
        put = {name: same if value == "*" else value for name, value in added.items() if name not in renamed}
        put |= {name: names[before] for name, before in renamed.items() if before in names}
        gone = {*condition, *put, *renamed.values()}
        kept = [(name, value) for name, value in given if name not in gone]
        asked = urlencode([*put.items(), *kept])
        return f"{new_path}?{asked}" if asked else new_path
    return None


def _parts(address: str) -> tuple[str, dict[str, str]]:
    path, _, query = address.partition("?")
    return path, dict(parse_qsl(query))


class _FormerPage(Route):
    """For browsers alone: a probe of /health does not ask for HTML."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if is_page and _target(scope) is not None:
            return super().matches(scope)
        return Match.NONE, {}


def routes() -> list[Route]:
    """The redirects, for the app."""
    paths = dict.fromkeys(_parts(before)[0] for before in MOVED)
    return [_FormerPage(f"{base_path()}/{path}", _redirect, methods=["GET", "HEAD"]) for path in paths]


async def _redirect(request: Request) -> RedirectResponse:
    return RedirectResponse(f"{base_path()}/{_target(request.scope)}", 307)


def _target(scope: Scope) -> str | None:
    path = scope["path"].removeprefix(base_path()).strip("/")
    return moved(path, scope["query_string"].decode("latin-1"))

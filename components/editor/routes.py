"""What the editor asks for beside the page's own runs, so that typing waits for none of them.

A draft kept, a caption committed, neighbours looked up: each is one POST that names its person by the page's
token. A run of the page would take the focus away, end with the connection, and queue behind the last one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components import pictures, resources
from components.editor import content
from components.posted import answered
from store import drafting
from store.captions import nearest
from store.captions.revisions import source_of
from store.errors import InvalidRecord, MemedexError, ReadOnly
from store.library import Library
from store.records import CAPTION_FACETS
from store.writing.operations import Source

_HINT = 500  # characters
_KEPT_TAGS = 2_000  # more than can be saved: what was pasted is kept until its person has chosen


def routes() -> list[Route]:
    """The route of the editor, for the app."""
    return [Route(f"{pictures.base_path()}/editor/{{verb}}", serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """One answer; only for pages of this library, which know its token."""
    verb = request.path_params["verb"]
    return await answered(request, lambda library, asked: _answer(library, verb, asked))


def _answer(library: Library, verb: str, asked: Mapping[str, Any]) -> Response:
    if verb not in _VERBS:
        return PlainTextResponse("no such thing", 404)
    try:
        answer = _VERBS[verb](library, asked)
    except MemedexError as error:
        answer = {"failed": str(error)}
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})


def _keep(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what is being typed; what is newer, or from another window unseen, is not written over."""
    address, fields = _address(asked), _draft(asked.get("draft"))
    before = library.drafts.own(address)
    if before and before.get("client") == fields["client"]:
        if int(before.get("n", 0)) >= fields["n"]:
            return {"kept": before["n"]}
    elif before and asked.get("knows") != before.get("client", ""):
        return {"elsewhere": content.readable(before, library.get(address))}
    library.get(address)  # a draft of nothing would never be found again
    library.drafts.save(address, fields)
    return {"kept": fields["n"]}


def _own(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What this person's draft is by now, whichever window wrote it."""
    address = _address(asked)
    fields = library.drafts.own(address)
    return {"draft": content.readable(fields, library.get(address)) if fields else None}


def _discard(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    address = _address(asked)
    library.drafts.discard(address)
    return {"content": content.content(library, library.get(address))}


def _commit(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Write the caption, unless the record was changed since: then both are for a person to compare."""
    address, fields = _address(asked), _draft(asked.get("draft"))
    revision = int(fields["base"]["revision"])
    outcome = library.caption(
        address,
        caption=fields["caption"],
        tags=fields["tags"],
        revision=revision,
        sources={
            facet: wrote
            for facet, source in fields["sources"].items()
            if (
                wrote := source_of(
                    Source(source["model"], source["prompt"]),
                    suggestion=source["text"],
                    text=fields["caption"][facet],
                )
            )
        },
    )
    now = library.get(address)
    if outcome.refused and now.revision != revision:
        return {"conflict": content.content(library, now)}
    if outcome.refused:
        return {"failed": outcome.refused[0].reason}
    if taken := _ids(asked):
        library.suggestions.settle(taken, "taken")
    return {"saved": content.content(library, now)}


def _measure(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    texts = asked.get("texts")
    given = texts if isinstance(texts, dict) else {}
    return content.measured(library, {f: str(given[f]) for f in CAPTION_FACETS if given.get(f)})


def _look(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    facet, text = asked.get("facet"), str(asked.get("text") or "")
    if facet not in CAPTION_FACETS:
        raise InvalidRecord("there is no such facet")
    if resources.status(library).model_status != "ready":
        return {"waits": True}
    return content.looked(library, _address(asked), facet, text) if text.strip() else {}


def _history(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    return {"revisions": content.told(library, _address(asked))}


def _suggest(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the language model about one facet, or all; the answer waits among the suggestions."""
    if not library.can_write:
        raise ReadOnly(f"{library.who} may look at this library, not change it")
    address, facet = _address(asked), asked.get("facet")
    plan = drafting.plan_drafting(
        library,
        [address],
        only=facet if facet in CAPTION_FACETS else None,
        hint=str(asked.get("hint") or "")[:_HINT],
    )
    job = drafting.start(library, plan, who=library.who)
    return {"job": job.id, **content.proposed(library, address)}


def _nearest(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the embedding model alone can propose."""
    if not library.can_write:
        raise ReadOnly(f"{library.who} may look at this library, not change it")
    address = _address(asked)
    found = nearest.suggest(library, address, who=library.who)
    why = "" if found else "The library holds no coin yet whose picture could be near to this one."
    return {"why": why, **content.proposed(library, address)}


def _suggestions(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a coin; and why there are none of a job that failed."""
    job = library.jobs.get(int(asked.get("job") or 0))
    failed = ""
    if job and not job.is_under_way:
        refused = library.jobs.items(job.id, state="refused", limit=1)
        failed = refused[0].reason if refused else job.error
    return {"why": failed, **content.proposed(library, _address(asked))}


def _refuse(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    library.suggestions.settle(_ids(asked), "refused")
    return content.proposed(library, _address(asked))


def _ids(asked: Mapping[str, Any]) -> list[int]:
    given = asked.get("ids")
    return [each for each in given if isinstance(each, int)] if isinstance(given, list) else []


def _address(asked: Mapping[str, Any]) -> str:
    return str(asked.get("address") or "")


def _draft(given: object) -> dict[str, Any]:
    """A draft as it may be kept: what is not of its form is refused, whoever sent it."""
    try:
        assert isinstance(given, dict)
        caption = {facet: _text(given["caption"].get(facet)) for facet in CAPTION_FACETS}
        base = given["base"]
        stored = {f: str(text) for f, text in base["caption"].items() if f in CAPTION_FACETS}
        sources = {
            facet: {
                "model": str(source["model"])[:200],
                "prompt": str(source.get("prompt", ""))[:200],
                "text": str(source.get("text", "")),
            }
            for facet, source in given.get("sources", {}).items()
            if caption.get(facet)
        }
        return {
            "caption": caption,
            "tags": [str(tag) for tag in given["tags"]][:_KEPT_TAGS],
            "base": {
                "revision": int(base["revision"]),
                "caption": stored,
                "tags": [str(tag) for tag in base["tags"]],
            },
            "sources": sources,
            "client": str(given["client"])[:64],
            "n": int(given["n"]),
        }
    except (AssertionError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRecord("that is not a draft; reload the page") from error


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_VERBS: dict[str, Callable[[Library, Mapping[str, Any]], dict[str, Any]]] = {
    "keep": _keep,
    "own": _own,
    "discard": _discard,
    "commit": _commit,
    "measure": _measure,
    "look": _look,
    "history": _history,
    "suggest": _suggest,
    "nearest": _nearest,
    "suggestions": _suggestions,
    "refuse": _refuse,
}

"""The editor's requests beside the page's runs, so that typing never waits for one.

Saving a draft, committing a caption, finding neighbours: each is one POST with the page's token. A run of the
page would take the focus away, end with the connection, and queue behind the previous run.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeGuard

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from components.editor import content
from components.shell import job_bar, resources
from components.shell.base_path import base_path
from components.shell.signed_post import answered
from store.captioning import suggestions
from store.captions.revisions import source_of
from store.disk.sqlite_values import is_integer
from store.errors import InvalidRecord, MemedexError, ReadOnly
from store.library import Library
from store.operations import CaptionSource
from store.records import CAPTION_FACETS
from store.tasks import draft, move

_HINT = 500  # characters
_NO_DRAFT = "that is not a draft; reload the page"
_KEPT_TAGS = 2_000  # more than can be saved: what was pasted is kept until its person has chosen


def routes() -> list[Route]:
    """The editor's route, for the app."""
    return [Route(f"{base_path()}/editor/{{verb}}", serve, methods=["POST"])]


async def serve(request: Request) -> Response:
    """Answer one request; only for pages of this library, which have its token."""
    verb = request.path_params["verb"]
    return await answered(request, lambda library, message: _answer(library, verb, message))


def _answer(library: Library, verb: str, message: Mapping[str, Any]) -> Response:
    if verb not in _VERBS:
        return PlainTextResponse("unknown request", 404)
    try:
        answer = _VERBS[verb](library, message)
    except MemedexError as error:
        answer = {"failed": str(error)}
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})


def _keep(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """Save a draft.

    A newer one, or one from another window that this one has not seen, is not overwritten.
    """
    address, fields = _address(message), _draft(message.get("draft"))
    record = library.get(address)  # a draft of nothing would never be found again
    stays = library.drafts.save(address, fields, replaces=partial(_replaces, message, fields))
    if stays and stays.get("client") != fields["client"]:
        return {"elsewhere": content.readable(stays, record)}
    return {"kept": (stays or fields)["n"]}


def _replaces(message: Mapping[str, Any], own: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the window of `own`, its `client` and `n`, has seen all of the stored draft."""
    if before.get("client") == own["client"]:
        return int(before.get("n", 0)) < int(own["n"])
    seen = message.get("seen")
    is_all_seen = seen is None or (isinstance(seen, int) and int(before.get("n", 0)) <= seen)
    return is_all_seen and message.get("knows") == before.get("client", "")


def _own(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """This person's current draft, from any window."""
    address = _address(message)
    fields = library.drafts.own(address)
    return {"draft": content.readable(fields, library.get(address)) if fields else None}


def _discard(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """Delete this person's draft, unless another window wrote what this one has not seen."""
    address = _address(message)
    record = library.get(address)
    own = _window(message.get("draft"))
    stays = library.drafts.discard(address, replaces=partial(_replaces, message, own))
    if stays and stays.get("client") != own["client"]:
        return {"elsewhere": content.readable(stays, record)}
    return {"content": content.content(library, record)}


def _commit(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """Save the caption, unless the record changed meanwhile: then a person compares both."""
    address, fields = _address(message), _draft(message.get("draft"))
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
                    CaptionSource(source["model"], source["prompt"]),
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
    if taken := _ids(message):
        library.suggestions.resolve(taken, "taken")
    return {"saved": content.content(library, now)}


def _promote(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    if job := move.start_promotion(library, _address(message)):
        job_bar.watch_for(str(message["session"]), job)
    return {}


def _measure(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    texts = message.get("texts")
    given = texts if isinstance(texts, dict) else {}
    return content.measured(library, {f: str(given[f]) for f in CAPTION_FACETS if given.get(f)})


def _look(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    facet, text = message.get("facet"), str(message.get("text") or "")
    if facet not in CAPTION_FACETS:
        raise InvalidRecord("there is no such facet")
    if resources.status(library).model_status != "ready":
        return {"waits": True}
    return content.neighbours_of(library, _address(message), facet, text) if text.strip() else {}


def _history(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    return {"revisions": content.history_of(library, _address(message))}


def _suggest(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the language model about one facet, or all; the answer becomes a suggestion."""
    if not library.can_write:
        raise ReadOnly(f"{library.actor_name} may look at this library, not change it")
    address, facet = _address(message), message.get("facet")
    plan = draft.plan_drafting(
        library,
        [address],
        only=facet if facet in CAPTION_FACETS else None,
        hint=str(message.get("hint") or "")[:_HINT],
    )
    known = content.proposed(library, address)  # before: what fails after the start would be asked for twice
    job = draft.start(library, plan, actor=library.actor_name)
    return {"job": job.id, **known}


def _nearest(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """Suggestions that need only the embedding model."""
    if not library.can_write:
        raise ReadOnly(f"{library.actor_name} may look at this library, not change it")
    address = _address(message)
    found = suggestions.suggest_nearest(library, address, actor=library.actor_name)
    why = "" if found else "The library holds no coin yet whose picture could be near to this one."
    return {"why": why, **content.proposed(library, address)}


def _suggestions(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    """The suggestions for a coin; and why a job that failed has none."""
    number = message.get("job")
    job = library.jobs.get(number) if _is_id(number) else None
    failed = ""
    if job and not job.is_under_way:
        refused = library.jobs.items(job.id, state="refused", limit=1)
        failed = refused[0].reason if refused else job.error
    return {"why": failed, **content.proposed(library, _address(message))}


def _refuse(library: Library, message: Mapping[str, Any]) -> dict[str, Any]:
    library.suggestions.resolve(_ids(message), "refused")
    return content.proposed(library, _address(message))


def _ids(message: Mapping[str, Any]) -> list[int]:
    given = message.get("ids")
    return [each for each in given if _is_id(each)] if isinstance(given, list) else []


def _is_id(given: object) -> TypeGuard[int]:
    """Whether this may be the number of a row."""
    return is_integer(given) and given > 0


def _address(message: Mapping[str, Any]) -> str:
    return str(message.get("address") or "")


def _draft(given: object) -> dict[str, Any]:
    """A valid draft. Raises InvalidRecord for anything of another form."""
    try:
        if not isinstance(given, dict):
            raise TypeError("a draft is an object")
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
            **_window(given),
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidRecord(_NO_DRAFT) from error


def _window(draft: Any) -> dict[str, Any]:
    """The window that a draft is from, and its number there. Raises InvalidRecord if they are not named."""
    try:
        return {"client": str(draft["client"])[:64], "n": int(draft["n"])}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidRecord(_NO_DRAFT) from error


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_VERBS: dict[str, Callable[[Library, Mapping[str, Any]], dict[str, Any]]] = {
    "keep": _keep,
    "own": _own,
    "discard": _discard,
    "commit": _commit,
    "promote": _promote,
    "measure": _measure,
    "look": _look,
    "history": _history,
    "suggest": _suggest,
    "nearest": _nearest,
    "suggestions": _suggestions,
    "refuse": _refuse,
}

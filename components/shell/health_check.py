"""GET /health: whether the server works, for a probe; numbers and states alone, so that everybody may ask."""

import shutil
from math import isfinite
from typing import Any, Literal

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from components.shell import error_page, pictures
from components.shell.base_path import base_path
from store import __version__
from store.catalog import snapshots
from store.catalog.replication import LATE
from store.jobs import Job, background_worker
from store.library import Library
from store.reading.reader import Status

Health = Literal["ok", "degraded", "failing"]


class _ProbeRoute(Route):
    """Not for browsers that want a page: System status has the same address."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            return Match.NONE, {}
        return super().matches(scope)


def routes() -> list[Route]:
    """The route, for the app."""
    return [_ProbeRoute(f"{base_path()}/health", answer, methods=["GET"])]


async def answer(_: Request) -> Response:
    """The state as JSON: 200 if the library can be used, else 503."""
    state = await run_in_threadpool(_state)
    status = 503 if state["status"] == "failing" else 200
    return JSONResponse(state, status, headers={"Cache-Control": "no-store"})


def _state() -> dict[str, Any]:
    try:
        return read(pictures.library_of_routes())
    except Exception as error:  # noqa: BLE001  with any error the server does not work
        return {"status": "failing", "version": __version__, "error": error_page.log_error(error)}


def read(library: Library) -> dict[str, Any]:
    """The state of this library.

    `failing` while a decision cannot be finished; `degraded` while Chroma, the model, a file, a job or a
    background task fails, there is no room for a week of daily copies, or a replica is late.
    """
    found = library.status()
    jobs = count_jobs(library.jobs.open())
    is_away = found.model_status.startswith("unavailable")
    is_degraded = bool(
        found.chroma_fault or found.faults or found.unreadable or is_away or background_worker.faults()
    )
    behind = found.seconds_behind
    is_degraded |= bool(snapshots.shortage(library.layout.catalog)) if behind is None else behind > LATE
    status: Health = "failing" if found.stuck else "degraded" if is_degraded or jobs["failed"] else "ok"
    return {
        "status": status,
        "version": __version__,
        "writes": found.can_write,
        **({} if behind is None else {"seconds_behind": round(behind, 1) if isfinite(behind) else None}),
        "model": "unavailable" if is_away else "ready" if found.model_status == "ready" else "not loaded",
        "chroma": _chroma(found),
        "chroma_behind": found.chroma_behind,
        "jobs": jobs,
        "disk_free_bytes": shutil.disk_usage(library.layout.root).free,
    }


def _chroma(found: Status) -> Literal["off", "failed", "behind", "current"]:
    if found.chroma_place == "off":
        return "off"
    return "failed" if found.chroma_fault else "behind" if found.chroma_behind else "current"


def count_jobs(jobs: list[Job]) -> dict[str, int]:
    """How many unfinished jobs there are in each state."""
    states = ("waiting", "running", "paused", "interrupted", "failed")
    return {state: sum(job.state == state for job in jobs) for state in states}

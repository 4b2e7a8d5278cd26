"""GET /health: whether the server works, for a probe; and GET /metrics, for Prometheus.

The first tells numbers and states alone, so that everybody may ask. The format of the second:
https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import hmac
import shutil
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Literal

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit import runtime

from components.shell.addresses import base_path
from components.shell.server import error_page
from components.shell.session import login, logins, resources
from store import Job, Library, Status, __version__
from store.catalog import replication
from store.jobs import background_worker
from store.reading import audit
from store.settings import settings

Health = Literal["ok", "degraded", "failing"]


def routes() -> list[Route]:
    """The routes, for the app."""
    return [
        Route(f"{base_path()}/health", answer_probe, methods=["GET"]),
        Route(f"{base_path()}/metrics", answer_scraper, methods=["GET"]),
    ]


async def answer_probe(_: Request) -> Response:
    """The state as JSON: 200 if the library can be used, else 503."""
    state = await run_in_threadpool(_state)
    status = 503 if state["status"] == "failing" else 200
    return JSONResponse(state, status, headers={"Cache-Control": "no-store"})


def _state() -> dict[str, Any]:
    try:
        return read(resources.library_of_routes())
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
    is_degraded |= bool(library.copies_shortage()) if behind is None else behind > replication.LATE
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


_EXPENSIVE = "cache_memory_bytes"  # of Streamlit: it walks through every session's state
_own = CollectorRegistry()
search_seconds = Histogram(
    "memedex_search_seconds",
    "How long a question took, without moved sliders, which pages rank themselves.",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    registry=_own,
)


async def answer_scraper(request: Request) -> Response:
    """The figures; where a login is required, only with one or with MEMEDEX_METRICS_TOKEN."""
    if login.is_required() and not (_has_token(request) or login.is_permitted(logins.of_request(request))):
        return PlainTextResponse("log in, or send MEMEDEX_METRICS_TOKEN as a bearer token", 401)
    text, status = await run_in_threadpool(_text)
    return Response(text, status, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})


def _has_token(request: Request) -> bool:
    sent, token = request.headers.get("authorization", ""), settings().metrics_token
    return bool(token) and hmac.compare_digest(sent.encode(), f"Bearer {token}".encode())


def _text() -> tuple[bytes, int]:
    try:
        registry = CollectorRegistry()
        registry.register(_LibraryFigures(resources.library_of_routes()))
        return generate_latest(registry) + generate_latest(_own) + _of_streamlit(), 200
    except Exception as error:  # noqa: BLE001  the scraper gets a number, the log all of it
        return f"error {error_page.log_error(error)}: its cause stands in the server's log".encode(), 503


class _LibraryFigures(Collector):
    """The library's figures at the moment of the request."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def collect(self) -> Iterator[Metric]:
        library, status = self._library, self._library.status()
        yield _gauges("memedex_info", "The program's version.", "version", {__version__: 1})
        yield _gauges("memedex_coins", "Coins of each tier.", "tier", library.counts())
        decisions = CounterMetricFamily("memedex_decisions", "Decisions ever made.", labels=["verb"])
        for verb, number in audit.count_by_verb(library).items():
            decisions.add_metric([verb], number)
        yield decisions
        yield GaugeMetricFamily(
            "memedex_chroma_behind", "Records that Chroma waits for.", value=status.chroma_behind
        )
        yield GaugeMetricFamily(
            "memedex_chroma_failed", "1 while Chroma cannot be written.", value=bool(status.chroma_fault)
        )
        yield GaugeMetricFamily(
            "memedex_stuck", "1 while a decision cannot be finished.", value=bool(status.stuck)
        )
        yield _gauges("memedex_jobs", "Unfinished jobs.", "state", count_jobs(library.jobs.open()))
        free = shutil.disk_usage(library.layout.root).free
        yield GaugeMetricFamily("memedex_disk_free_bytes", "Free space for the library.", value=free)


def _gauges(name: str, meaning: str, label: str, values: Mapping[Any, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def _of_streamlit() -> bytes:
    """Streamlit's sessions; without the memory of its caches, which /_stcore/metrics has."""
    if not runtime.exists():
        return b""
    statistics = runtime.get_instance().stats_mgr
    names = [name for name in statistics.registered_families() if name != _EXPENSIVE]
    lines = [stat.to_metric_str() for family in statistics.get_stats(names).values() for stat in family]
    return "".join(f"{line}\n" for line in lines).encode()

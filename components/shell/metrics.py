"""GET /metrics: figures of the library and of Streamlit's sessions in Prometheus' text format.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import hmac
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit import runtime

from components.shell import error_page, login, logins, pictures
from components.shell.base_path import base_path
from components.shell.health_check import count_jobs
from store import __version__
from store.library import Library
from store.reading import audit
from store.settings import settings

_EXPENSIVE = "cache_memory_bytes"  # of Streamlit: it walks through every session's state
_own = CollectorRegistry()
search_seconds = Histogram(
    "memedex_search_seconds",
    "How long a question took, without moved sliders, which pages rank themselves.",
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    registry=_own,
)


def routes() -> list[Route]:
    """The route, for the app."""
    return [Route(f"{base_path()}/metrics", answer, methods=["GET"])]


async def answer(request: Request) -> Response:
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
        registry.register(_LibraryFigures(pictures.library_of_routes()))
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

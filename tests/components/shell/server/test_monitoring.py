"""GET /health and GET /metrics: what a probe and Prometheus learn, and what nobody does."""

import shutil
from dataclasses import replace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from components.shell.server import monitoring
from components.shell.session import login, resources
from store.catalog import snapshots
from store.errors import CatalogDamaged
from store.jobs import background_worker
from store.jobs.background_worker import WorkerFault
from store.library import Library
from store.reading.reader import Status
from store.settings import settings
from tests.components.conftest import COINS, Client
from tests.store.conftest import address


def _with(monkeypatch: pytest.MonkeyPatch, library: Library, **changes: object) -> None:
    found = replace(library.status(), **changes)  # type: ignore[arg-type]
    monkeypatch.setattr(type(library), "status", lambda self: found)


def test_a_library_that_works_is_ok(client: Client, library: Library) -> None:
    answer = client.get("/health")
    assert answer.status_code == 200
    state = answer.json()
    assert (state["status"], state["writes"]) == ("ok", True)
    assert state["jobs"] == {"waiting": 0, "running": 0, "paused": 0, "interrupted": 0, "failed": 0}
    assert state["disk_free_bytes"] > 0


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"chroma_fault": "no space in /secret"}, "degraded", 200),
        ({"model_status": "unavailable: no weights in /secret"}, "degraded", 200),
        ({"faults": ("/secret/frog.json: no JSON",)}, "degraded", 200),
        ({"unreadable": ("/secret/frog.jpg: broken",)}, "degraded", 200),
        ({"stuck": "/secret cannot be written"}, "failing", 503),
    ],
    ids=["Chroma", "model", "file", "picture", "decision"],
)
def test_what_fails_is_said_without_names(
    client: Client,
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    status: str,
    code: int,
) -> None:
    assert set(changes) <= set(Status.__slots__)
    _with(monkeypatch, library, **changes)
    answer = client.get("/health")
    assert (answer.json()["status"], answer.status_code) == (status, code)
    assert "secret" not in answer.text


def test_a_library_whose_background_task_fails_is_degraded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = WorkerFault("copies", "no space in /secret", 3, 0.0, 0.0)
    monkeypatch.setattr(background_worker, "faults", lambda: [failing])
    answer = client.get("/health")
    assert (answer.json()["status"], answer.status_code) == ("degraded", 200)
    assert "secret" not in answer.text


def test_a_library_without_room_for_its_daily_copies_is_degraded(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/health").json()["status"] == "ok"
    snapshots.make(library.catalog.path, "daily")
    usage = shutil.disk_usage(library.layout.root)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    answer = client.get("/health")
    assert (answer.json()["status"], answer.status_code) == ("degraded", 200)
    _with(monkeypatch, library, seconds_behind=0.0)
    assert client.get("/health").json()["status"] == "ok", "a replica is a copy itself"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "current"),
        ({"chroma_behind": 2}, "behind"),
        ({"chroma_fault": "no space"}, "failed"),
        ({"chroma_place": "off"}, "off"),
    ],
    ids=["current", "behind", "failed", "off"],
)
def test_health_reports_chroma_lag_and_off(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], said: str
) -> None:
    _with(monkeypatch, library, **changes)
    state = client.get("/health").json()
    assert (state["chroma"], state["chroma_behind"]) == (said, changes.get("chroma_behind", 0))


def test_a_library_that_cannot_be_opened_is_failing(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged() -> Library:
        raise CatalogDamaged("/secret/catalog.sqlite3 is damaged")

    monkeypatch.setattr(resources, "library_of_routes", damaged)
    answer = client.get("/health")
    assert (answer.json()["status"], answer.status_code) == ("failing", 503)
    assert "secret" not in answer.text
    assert f"error {answer.json()['error']}" in caplog.text


def _figures(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_figures_are_those_of_the_library(client: Client, library: Library) -> None:
    library.approve([address(0), address(1)])
    library.reject([address(2)])
    before = _figures(client.get("/metrics").text)["memedex_search_seconds_count",]
    monitoring.search_seconds.observe(0.02)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    figures = _figures(answer.text)
    assert figures["memedex_coins", "pending"] == COINS - 3
    assert figures["memedex_coins", "approved"] == 2
    assert figures["memedex_decisions_total", "approve"] == 1
    assert figures["memedex_decisions_total", "reject"] == 1
    assert figures["memedex_jobs", "failed"] == 0
    assert figures["memedex_chroma_failed",] == figures["memedex_stuck",] == 0
    assert figures["memedex_search_seconds_count",] == before + 1
    assert figures["memedex_disk_free_bytes",] > 0


def test_where_a_login_is_required_a_scraper_needs_the_token(
    client: Client, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "is_required", lambda: True)
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401
    monkeypatch.setattr(settings(), "metrics_token", "of-the-scraper")
    assert client.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 401
    assert client.get("/metrics", headers={"Authorization": "Bearer of-the-scraper"}).status_code == 200

"""GET /metrics: the library's figures as Prometheus reads them, and who may read them."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from components.shell import login, metrics
from store.library import Library
from store.settings import settings
from tests.components.conftest import COINS, Client
from tests.store.conftest import address


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
    metrics.search_seconds.observe(0.02)
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

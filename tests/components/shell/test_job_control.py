"""Pausing and stopping jobs from a page's script: by those who may, and once for each key."""

import json
from typing import Any

import httpx
import pytest

from components.shell import job_control, tokens
from store.jobs import Jobs
from store.library import Library
from store.settings import settings
from tests.components.conftest import Client

Reached = list[tuple[str, int]]


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Reached:
    """What was asked of the library's jobs."""
    job_control._done.clear()
    calls: Reached = []
    for name in ("pause", "cancel"):
        monkeypatch.setattr(Jobs, name, lambda _, number, name=name: calls.append((name, number)))
    return calls


def sent(client: Client, library: Library, **request: Any) -> httpx.Response:
    page = {"token": tokens.signed(library, actor="ann@x.org"), "job": 7, "verb": "pause", "key": "once"}
    return client.post("/job", content=json.dumps({**page, **request}))


def test_a_request_that_is_sent_again_does_nothing_more(
    client: Client, library: Library, reached: Reached
) -> None:
    for _ in range(3):
        assert sent(client, library).status_code == 200
    assert reached == [("pause", 7)]
    assert sent(client, library, verb="stop", key="another").status_code == 200
    assert reached == [("pause", 7), ("cancel", 7)]


def test_only_a_page_of_this_library_directs_its_jobs(
    client: Client, library: Library, reached: Reached
) -> None:
    for forged in (None, "", "x.y"):
        assert sent(client, library, token=forged).status_code == 403
    assert reached == []


def test_a_viewer_directs_no_job(
    client: Client, library: Library, reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings(), "viewers", "ann@x.org")
    assert sent(client, library).status_code == 403
    assert reached == []


@pytest.mark.parametrize(
    "mistake",
    [
        {"job": "7"},
        {"job": True},
        {"job": 1 << 63},
        {"verb": "delete"},
        {"verb": None},
        {"verb": []},
        {"key": ""},
        {"key": "k" * 65},
    ],
)
def test_what_is_no_request_is_refused(
    client: Client, library: Library, reached: Reached, mistake: dict[str, Any]
) -> None:
    assert sent(client, library, **mistake).status_code == 400
    assert reached == []


def test_a_job_that_is_not_there_is_named(client: Client, library: Library) -> None:
    answer = sent(client, library, job=4711, key="nowhere")
    assert answer.status_code == 409
    assert "no job 4711" in answer.text

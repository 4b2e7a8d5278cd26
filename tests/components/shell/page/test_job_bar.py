"""Pausing and stopping jobs from a page's script; sent again, either changes nothing more."""

import json
from typing import Any

import httpx
import pytest

from components.shell.session import tokens
from store.jobs import Job
from store.jobs.job_rows import JobRepository
from store.library import Library
from tests.components.conftest import Client


@pytest.fixture
def job(library: Library) -> int:
    """A job that waits, because nobody has told the runner of it."""
    rows = JobRepository(library.catalog)
    return rows.add("move", "Approve", ["nowhere"], {"verb": "approve"}, actor="ann@x.org")


def sent(client: Client, library: Library, *, actor: str = "ann@x.org", **order: Any) -> httpx.Response:
    page = {"token": tokens.signed(library, actor=actor), "verb": "pause"}
    return client.post("/message/job", content=json.dumps({**page, **order}))


def stored(library: Library, number: int) -> Job:
    found = library.jobs.get(number)
    assert found
    return found


def test_a_job_that_is_paused_again_stays_as_it_is(client: Client, library: Library, job: int) -> None:
    assert sent(client, library, job=job).json() == {}
    paused = stored(library, job)
    assert paused.state == "paused"
    assert sent(client, library, job=job, actor="bob@x.org").json() == {}
    assert stored(library, job) == paused


def test_a_job_that_has_ended_stays_as_it_is(client: Client, library: Library, job: int) -> None:
    assert sent(client, library, job=job, verb="stop").json() == {}
    ended = stored(library, job)
    assert (ended.state, ended.note["ended_by"]) == ("cancelled", "ann@x.org")
    for verb in ("stop", "pause"):
        assert sent(client, library, job=job, verb=verb, actor="bob@x.org").json() == {}
        assert stored(library, job) == ended


@pytest.mark.parametrize(
    ("mistake", "field"),
    [
        ({"job": "7"}, "job"),
        ({"job": True}, "job"),
        ({"job": 0}, "job"),
        ({"job": 1 << 63}, "job"),
        ({}, "job"),
        ({"job": 7, "verb": "delete"}, "verb"),
        ({"job": 7, "verb": []}, "verb"),
    ],
)
def test_what_is_no_order_is_refused(
    client: Client, library: Library, mistake: dict[str, Any], field: str
) -> None:
    answer = sent(client, library, **mistake)
    assert (answer.status_code, answer.text.split(":")[0]) == (400, field)


def test_a_job_that_is_not_there_is_named(client: Client, library: Library) -> None:
    answer = sent(client, library, job=4711)
    assert answer.status_code == 409
    assert "no job 4711" in answer.text

"""Logos of a token list are fetched as a job, which is limited and can be resumed."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from store.catalog.filters import Filter
from store.disk.files import Disk
from store.importing import candidates
from store.importing.candidate import RemoteLogo
from store.jobs import circuit_breaker
from store.library import Library
from store.runtime import open_library
from store.settings import settings
from store.tasks import fetch_logos
from tests.store.conftest import address, picture
from tests.store.fetching.logo_server import Server, respond_in_turn, respond_with, serving
from tests.store.hashed import Hashed
from tests.store.world import FullDisk


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def remote_logos(tmp_path: Path, server: Server) -> list[RemoteLogo]:
    """A token list of six coins with logos on the server."""
    tokens = [
        {
            "chainId": 1,
            "address": address(number),
            "symbol": f"C{number}",
            "name": f"Coin {number}",
            "decimals": 9,
            "logoURI": server.url(f"/{number}.png"),
        }
        for number in range(6)
    ]
    for number in range(6):
        server.answers[f"/{number}.png"] = respond_with(picture(number))
    path = tmp_path / "tokenlist.json"
    path.write_text(json.dumps({"name": "A list", "tokens": tokens}))
    return [found for found in candidates([path]) if isinstance(found, RemoteLogo)]


@pytest.fixture
def allow_private_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Allow requests to this machine, and retry without long waits."""
    monkeypatch.setenv("MEMEDEX_FETCH_PRIVATE", "1")
    monkeypatch.setattr(circuit_breaker, "_FIRST", 0.01)
    settings.cache_clear()
    yield
    settings.cache_clear()


pytestmark = pytest.mark.usefixtures("without_chroma")


def fetched(library: Library, remote_logos: list[RemoteLogo]) -> Any:
    job = fetch_logos.start(library, remote_logos, name="Logos")
    assert library.jobs.wait(job.id, timeout=60)
    return library.jobs.get(job.id)


def test_an_import_alone_makes_no_requests(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    report = library.add(remote_logos)
    assert [refusal.item for refusal in report.refused] == [logo.item for logo in remote_logos]
    assert "lies on the network" in report.refused[0].reason
    assert not server.requests


def test_logos_on_this_machine_are_refused_unless_a_setting_allows_them(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    job = fetched(library, remote_logos)
    assert (job.done, job.refused) == (0, 6)
    assert "MEMEDEX_FETCH_PRIVATE" in library.jobs.items(job.id, state="refused")[0].reason
    assert not server.requests


@pytest.mark.usefixtures("allow_private_hosts")
def test_fetched_logos_are_imported_and_failures_are_reported(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    server.answers["/1.png"] = respond_with(b"<html>", kind="text/html")
    server.answers["/2.png"] = respond_with(b"no picture at all")
    server.answers["/3.png"] = respond_in_turn(respond_with(b"", status=503), respond_with(picture(3)))
    server.answers["/4.png"] = respond_with(b"", status=429, Retry_After="3600")
    job = fetched(library, remote_logos)
    assert set(library.addresses(Filter(tier="pending"))) == {address(number) for number in (0, 3, 5)}
    reasons = {item.key: item.reason for item in library.jobs.items(job.id, state="refused")}
    assert reasons.keys() == {address(number) for number in (1, 2, 4)}
    assert "60 min" in reasons[address(4)]
    assert server.most_at_once <= fetch_logos.OF_ONE_HOST
    library.undo()
    assert library.counts()["pending"] == 0, "what was fetched in one go is taken back in one go"


@pytest.mark.usefixtures("allow_private_hosts")
def test_a_second_run_requests_only_missing_logos(
    library: Library, server: Server, remote_logos: list[RemoteLogo]
) -> None:
    server.answers["/2.png"] = respond_with(b"", status=500)
    job = fetched(library, remote_logos)
    assert (job.done, job.refused) == (5, 1), library.jobs.items(job.id, state="refused")
    assert server.requests["/2.png"] == fetch_logos.TRIES
    server.answers["/2.png"] = respond_with(picture(2))
    assert fetched(library, remote_logos).total == 1
    assert library.counts()["pending"] == 6
    assert server.requests["/0.png"] == 1
    assert fetch_logos.start(library, remote_logos, name="Logos") is None


@pytest.mark.usefixtures("allow_private_hosts")
def test_an_interrupted_fetch_continues_after_a_restart(
    library: Library, server: Server, remote_logos: list[RemoteLogo], root: Path
) -> None:
    gate = threading.Event()
    for number in range(1, 6):
        plain = respond_with(picture(number))
        server.answers[f"/{number}.png"] = lambda request, plain=plain: (gate.wait(60), plain(request))
    job = fetch_logos.start(library, remote_logos, name="Logos")
    library.jobs.pause(job.id)
    gate.set()
    assert library.jobs.wait(job.id, timeout=60)
    library.close()
    again = open_library(root)
    left = again.jobs.get(job.id)
    assert left.can_resume or left.is_over
    again.jobs.resume(job.id)
    assert again.jobs.wait(job.id, timeout=60)
    assert again.counts()["pending"] == 6
    assert all(server.requests[f"/{number}.png"] == 1 for number in range(6))
    again.close()


@pytest.mark.usefixtures("allow_private_hosts")
@pytest.mark.parametrize(
    ("step", "state", "why"),
    [
        ("rename", "waiting", "is decided but waits"),
        ("write", "failed", "nothing was changed: No space left"),
    ],
)
def test_a_fetch_that_meets_a_full_disk_fails_or_waits_and_can_be_resumed(
    root: Path, remote_logos: list[RemoteLogo], step: str, state: str, why: str
) -> None:
    disk = FullDisk(step)
    with open_library(root, embedder=Hashed(), disk=Disk(before=disk)) as library:
        job = fetched(library, remote_logos)
        assert (job.state, job.done, job.refused) == (state, 0, 0)
        assert why in job.error
        disk.is_full = False
        library.jobs.resume(job.id)
        assert library.jobs.wait(job.id, timeout=60)
        job = library.jobs.get(job.id)
        assert (job.state, job.done, job.refused) == ("done", 6, 0)
        assert library.counts()["pending"] == 6

"""Overview: the start of an empty library, and its inbox."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from components.exchange import import_coins
from store import demo
from store.jobs import Jobs
from store.library import Library
from store.progress import Progress
from store.rules.rule import Rule
from store.settings import settings
from tests.pages.conftest import finish_jobs, is_locked, opened, press, sendable, words


@pytest.fixture
def may_end() -> Iterator[threading.Event]:
    """Jobs of these tests wait for this."""
    event = threading.Event()
    yield event
    event.set()


def test_an_empty_library_offers_no_import_while_one_is_under_way(
    empty: Library, may_end: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(_: Library, *, progress: Progress) -> None:
        progress.total = 9  # known before the first coin is stored
        assert may_end.wait(60)

    monkeypatch.setattr(demo, "load_with_memory", load)
    app = press(opened(""), "Load the demo library")
    assert "The coins appear here" in words(app)
    assert "This library is empty" not in words(app)
    assert "This library is empty" not in words(opened(""))
    may_end.set()
    finish_jobs()


def test_an_empty_library_offers_its_imports_during_other_jobs(
    empty: Library, may_end: threading.Event
) -> None:
    empty.jobs.run("Load the demo memory", lambda _: may_end.wait(60))
    assert "This library is empty" in words(opened(""))
    assert "import-path" in sendable()
    assert is_locked("demo")
    may_end.set()
    finish_jobs()


@pytest.mark.parametrize(
    ("kind", "systems", "brings_coins"),
    [
        ("adopt", ["captioned-pictures"], True),
        ("adopt", ["chroma-texts"], False),
        ("adopt", ["token-list", "chroma-texts"], True),
        ("logos", [], True),
        ("map", [], False),
    ],
)
def test_jobs_that_bring_coins(
    empty: Library, monkeypatch: pytest.MonkeyPatch, kind: str, systems: list[str], brings_coins: bool
) -> None:
    job = empty.jobs.run("", lambda _: None)
    finish_jobs()
    job = replace(job, kind=kind, options={"systems": systems}, total=9, state="running")
    monkeypatch.setattr(Jobs, "under_way", lambda _: [job])
    assert import_coins.is_under_way(empty) is brings_coins


def test_an_inbox_with_the_name_of_nobody_does_not_exist(
    empty: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEDEX_INBOX", "~nobody-of-this-name/in")
    settings.cache_clear()
    assert "This folder does not exist" in words(opened(""))


def test_a_rule_that_broke_its_promise_is_named_with_why(library: Library) -> None:
    why = "it agreed with 50.0% of 4 decisions and promised 90%"
    library.rules.save("Fish", Rule("Fish", "hold", when="name:fish", told=why))
    said = words(opened()).replace("\\", "")
    assert f"**Rule Fish** is only shown now: {why}" in said

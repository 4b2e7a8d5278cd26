"""A library that is closed does not wait for what its background workers are in the middle of."""

import logging
import threading
from pathlib import Path

import pytest

from store.catalog.catalog import Catalog
from store.disk.lock import WriterLock
from store.errors import NotWritten
from store.library import Library
from store.progress import Progress
from store.runtime import LibraryRuntime, open_library, open_reader
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.waiting import eventually

_ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

pytestmark = pytest.mark.usefixtures("without_chroma")


def ask_without_end(catalog: Catalog, asked: threading.Event) -> None:
    with catalog.reading() as db:
        db.create_function("asked", 0, lambda: asked.set() or 0)
        db.execute(f"SELECT asked() + ({_ENDLESS} WHERE asked() + i > 0)").fetchone()


def test_closing_ends_a_question_that_a_worker_waits_for(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    library = open_library(quick_root, embedder=Hashed())
    assert isinstance(library, LibraryRuntime)
    asked = threading.Event()
    monkeypatch.setattr(
        type(library.duplicates), "examine", lambda *_, **__: ask_without_end(library.catalog, asked)
    )
    library.add([coin(0)])
    library.work_in_background()
    assert asked.wait(60)
    with caplog.at_level(logging.WARNING):
        library.close()
    assert caplog.text == ""
    with open_library(quick_root, embedder=Hashed()) as again:
        assert again.get(address(0)).tier == "pending"


def test_closing_tells_all_workers_before_it_waits_for_one(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_library(quick_root, embedder=Hashed())
    began, told = threading.Barrier(3), []

    def until_all_are_told(progress: Progress) -> int:
        began.wait(60)
        assert eventually(lambda: progress.cancelled)
        told.append(progress)
        others.wait(60)  # none ends before the other one was told
        return 0

    others = threading.Barrier(2)
    monkeypatch.setattr(
        type(library.duplicates), "examine", lambda _, *, progress: until_all_are_told(progress)
    )
    monkeypatch.setattr(Catalog, "keep_snapshot", lambda _, __, *, progress: until_all_are_told(progress))
    library.work_in_background()
    began.wait(60)
    library.close()
    assert len(told) == 2


def test_closing_does_not_wait_without_end_for_a_worker_that_waits_for_a_network(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = open_library(quick_root, embedder=Hashed())
    began, answered = threading.Event(), threading.Event()

    def ask_the_network(*_: object, **__: object) -> None:
        began.set()
        answered.wait(60)

    monkeypatch.setattr("store.runtime._TIMEOUT", 0.1)
    monkeypatch.setattr(type(library.duplicates), "examine", ask_the_network)
    library.work_in_background()
    assert began.wait(60)
    library.close()
    assert not answered.is_set()
    assert WriterLock(library.layout.lock).is_free()
    answered.set()


def test_a_reader_that_cannot_be_brought_up_to_date_is_closed(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_library(quick_root, embedder=Hashed()).close()
    closed = []

    def refuse(*_: object, **__: object) -> None:
        raise NotWritten("the disk says no")

    monkeypatch.setattr(Library, "close", lambda reader: closed.append(reader))
    monkeypatch.setattr("store.runtime.is_stale", lambda *_: True)
    monkeypatch.setattr("store.runtime.bring_up_to_date", refuse)
    with pytest.raises(NotWritten):
        open_reader(quick_root, embedder=Hashed())
    (reader,) = closed
    monkeypatch.undo()
    reader.close()

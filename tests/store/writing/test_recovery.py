"""A library opens without its model, its catalog, on a read-only disk, or with stray files."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray

from store.catalog.filters import Filter
from store.errors import NotWritten, ReadOnly
from store.library import Library
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from store.writing.reconcile import OUTSIDE
from tests.store.conftest import address, approved_with_caption, coin, fresh_root, written
from tests.store.hashed import Hashed
from tests.store.invariants import holds, vectors_of
from tests.store.writing.conftest import edit

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma", "close_library_at_end")


def test_a_library_opens_without_its_model(library: Library, root: Path, embedder: Hashed) -> None:
    class Gone(Hashed):
        def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise OSError("the weights are gone")

    library.promote(approved_with_caption(library, 0))
    edit(library.layout.sidecar("library", FIRST), caption=written("by hand"))
    library.close()
    with open_library(root, embedder=Gone()) as library:
        assert library.get(FIRST).caption == written("by hand")
    with open_library(root, embedder=embedder) as library:
        holds(library)


def test_an_open_reader_no_longer_finds_a_removed_record(
    library: Library, root: Path, reopen: Callable[[], Library]
) -> None:
    library.promote(approved_with_caption(library, 0, 1, 2))
    anything = Query((Part(text="anything"),))
    with Reader(root, embedder=Hashed()) as reader:
        assert len(reader.search(anything).hits) == 3
        library.layout.sidecar("library", FIRST).unlink()
        library.layout.image("library", FIRST).unlink()
        library = reopen()
        assert {hit.address for hit in reader.search(anything).hits} == {SECOND, THIRD}
    assert set(vectors_of(library, SECOND, library.embedder)) == {"image", "entity", "context", "visual"}
    holds(library)


def test_a_library_without_a_catalog_is_rebuilt_from_its_files(
    library: Library, root: Path, embedder: Hashed
) -> None:
    library.add([coin(0), coin(1)])
    library.promote(approved_with_caption(library, 2))
    kept = {record.address: (record.tier, record.sidecar) for record in library.find(Filter())}
    library.close()
    for path in (root / "memecoins").glob("catalog.sqlite3*"):
        path.unlink()
    shutil.rmtree(library.layout.snapshots)
    with open_library(root, embedder=embedder) as library:
        assert {record.address: (record.tier, record.sidecar) for record in library.find(Filter())} == kept
        assert library.history(address=FIRST)[0].actor == OUTSIDE


def test_stray_files_in_the_operations_folder_do_not_prevent_opening(
    library: Library, reopen: Callable[[], Library]
) -> None:
    library.add([coin(0)])
    (library.layout.operations / ".DS_Store").write_text("a Mac was here")
    staged = library.layout.operations / f"{library.catalog.owner}-staged-and-forgotten"
    staged.mkdir()
    (staged / "x.json").write_text("{}")
    library = reopen()
    assert [path.name for path in library.layout.operations.iterdir()] == [".DS_Store"]


def test_a_library_on_a_read_only_disk_can_be_read(
    tmp_path: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = fresh_root(tmp_path / "nur zum Lesen é?")
    with open_library(root, embedder=embedder) as library:
        library.add([coin(0)])
    files = sorted(root.rglob("*"))
    with monkeypatch.context() as read_only:
        read_only.setattr(os, "access", lambda *_: False)
        read_only.setattr(FileLock, "acquire", _refused)
        with open_reader(root, embedder=embedder) as reader:
            assert [record.name for record in reader.find(Filter())] == ["Coin 0"]
        with pytest.raises(ReadOnly, match="fix the permission"):
            open_library(root, embedder=embedder)
    assert sorted(root.rglob("*")) == files, "SQLite put nothing beside it"


def _refused(*_: object, **__: object) -> None:
    raise OSError(errno.EROFS, "Read-only file system")


def test_a_library_moved_away_refuses_changes_until_it_is_back(library: Library) -> None:
    """Otherwise SQLite would write to the moved or removed file, and confirmed changes would be lost."""
    library.add([coin(0)])
    home = library.layout.memecoins
    home.rename(home.with_name("elsewhere"))
    assert not library.catalog.is_in_place
    assert library.approve([address(0)]).done == []
    with pytest.raises(OSError, match="removed or replaced"):
        library.catalog.set_meta("kept", "1")
    home.with_name("elsewhere").rename(home)
    assert library.approve([address(0)]).done == [address(0)]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "is full; make room"),
        (sqlite3.OperationalError("database or disk is full"), "is full; make room"),
        (sqlite3.OperationalError("unable to open database file"), "put it back or fix the permission"),
        (PermissionError(errno.EACCES, "Permission denied", "a.json"), "Permission denied: a.json"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_disk_errors_on_opening_are_explained(
    error: Exception, words: str, tmp_path: Path, embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("store.disk.sqlite.sqlite3.connect", refuse)
    with pytest.raises(NotWritten, match=words):
        open_library(tmp_path, embedder=embedder)
    with pytest.raises(NotWritten, match=words):
        open_reader(tmp_path, embedder=embedder)

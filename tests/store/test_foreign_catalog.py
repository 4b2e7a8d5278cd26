"""A catalog file of another program or of a newer Memedex is never written to."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog.history import MOVE_ASIDE
from store.disk.aside import moved_aside
from store.disk.layout import Layout
from store.disk.sqlite_identity import CATALOG_ID
from store.errors import CatalogTooNew, ForeignFile
from store.maintenance import doctor
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from store.writing.salvage import move_foreign_catalog_aside, salvage_if_damaged
from tests.store.conftest import coin
from tests.store.hashed import Hashed
from tests.store.invariants import holds

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def foreign_catalog(quick_root: Path) -> Path:
    """A library whose catalog file was replaced by another program's database."""
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0), coin(1)])
    catalog = Layout(quick_root).catalog
    catalog.unlink()
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("CREATE TABLE meta (key, value)")  # our catalog has a table of this name as well
        db.execute("CREATE TABLE bookmarks (url)")
        db.execute("INSERT INTO bookmarks VALUES ('https://example.org')")
        db.commit()
    return catalog


def test_a_foreign_catalog_is_refused_and_left_unchanged(foreign_catalog: Path, quick_root: Path) -> None:
    before = foreign_catalog.read_bytes()
    for opening in (open_library, open_reader):
        with pytest.raises(ForeignFile, match=r"another program \(tables bookmarks, meta\).*doctor --repair"):
            opening(quick_root, embedder=Hashed())
    with pytest.raises(ForeignFile):
        Reader(quick_root)
    (finding,) = doctor.check_unopened(quick_root)
    assert "another program" in finding.what
    assert foreign_catalog.read_bytes() == before
    assert [path.name for path in foreign_catalog.parent.glob("catalog*")] == ["catalog.sqlite3"]


def test_repair_moves_a_foreign_catalog_aside_and_rebuilds_from_sidecars(
    foreign_catalog: Path, quick_root: Path
) -> None:
    before = foreign_catalog.read_bytes()
    assert move_foreign_catalog_aside(Layout(quick_root))
    with open_library(quick_root, embedder=Hashed()) as library:
        assert library.counts()["pending"] == 2
        (aside,) = library.moved_aside()
        assert aside.summary.startswith(
            "a database of another program (tables bookmarks, meta) was moved to /"
        )
        assert MOVE_ASIDE in [event.verb for event in library.history()]
        holds(library)
    assert (aside.place / "catalog.sqlite3").read_bytes() == before
    names = sorted(path.name for path in aside.place.iterdir())
    assert names == ["about.json", "catalog.sqlite3"], "the log of the new catalog stays with it"
    assert not move_foreign_catalog_aside(Layout(quick_root))


def test_a_newer_catalog_is_refused_and_left_unchanged(quick_root: Path) -> None:
    open_library(quick_root, embedder=Hashed()).close()
    catalog = Layout(quick_root).catalog
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 99")
    before = catalog.read_bytes()
    for opening in (open_library, open_reader, Reader):
        with pytest.raises(CatalogTooNew, match="newer Memedex"):
            opening(quick_root)
    with pytest.raises(CatalogTooNew):
        salvage_if_damaged(Layout(quick_root))
    assert not move_foreign_catalog_aside(Layout(quick_root))
    assert "newer" in doctor.check_unopened(quick_root)[0].what
    assert catalog.read_bytes() == before


def test_a_catalog_without_an_application_id_is_accepted_and_gets_one(quick_root: Path) -> None:
    open_library(quick_root, embedder=Hashed()).close()
    catalog = Layout(quick_root).catalog
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("PRAGMA application_id = 0")
    open_library(quick_root, embedder=Hashed()).close()
    with closing(sqlite3.connect(catalog)) as db:
        assert db.execute("PRAGMA application_id").fetchone()[0] == CATALOG_ID


def test_a_wal_file_without_its_database_is_moved_aside(quick_root: Path) -> None:
    log = Layout(quick_root).catalog.with_name("catalog.sqlite3-wal")
    log.parent.mkdir(parents=True)
    log.write_bytes(b"the last of somebody's catalog")
    with open_library(quick_root, embedder=Hashed()) as library:
        (aside,) = moved_aside(log.parent)
        assert (aside.place / log.name).read_bytes() == b"the last of somebody's catalog"
        assert [event.verb for event in library.history()] == [MOVE_ASIDE]
    assert moved_aside(log.parent) == [aside]


def test_an_unreadable_catalog_is_kept_and_recorded_in_the_history(quick_root: Path) -> None:
    catalog = Layout(quick_root).catalog
    catalog.parent.mkdir(parents=True)
    catalog.write_bytes(b"rubbish" * 1000)
    salvaged = salvage_if_damaged(Layout(quick_root))
    assert salvaged is not None
    assert salvaged.kept.read_bytes() == b"rubbish" * 1000
    with open_library(quick_root, embedder=Hashed()) as library:
        assert [event.address for event in library.history()] == [f"memecoins/{salvaged.kept.name}"]

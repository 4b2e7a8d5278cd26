"""Catalogs of earlier versions are migrated and keep their content."""

import sqlite3
from pathlib import Path

import pytest

from store.catalog import catalog
from store.catalog.catalog import VERSION
from store.library import Library
from store.runtime import open_library, open_reader
from tests.store.conftest import address
from tests.store.duplicates.copies import badges, coin_with_drawing, drawing, matches_of
from tests.store.hashed import Hashed

FIRST = address(0)


pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def old_root(library: Library) -> Path:
    """The root of a library with a catalog of version 1; its first and last coin have the same picture."""
    library.add(coin_with_drawing(number) for number in range(3))
    library.add([coin_with_drawing(3, drawing(0))])
    library.approve([FIRST], actor="ann")
    library.close()
    path = library.layout.catalog
    made = path.with_name("new.sqlite3")
    path.rename(made)
    with sqlite3.connect(path) as db:
        db.executescript((Path(__file__).parent.parent / "catalog" / "catalog-v1.sql").read_text())
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        db.execute("ATTACH ? AS new", [str(made)])
        for table in tables:
            if not table.startswith("words"):
                db.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
        db.execute(
            "INSERT INTO words (rowid, name, ticker, description, caption) "
            "SELECT rowid, name, ticker, description, caption FROM new.words"
        )
        db.execute("DELETE FROM meta WHERE key = 'duplicates'")
    db.close()
    made.unlink()
    return library.layout.root


def test_an_older_catalog_is_migrated_and_keeps_its_content(old_root: Path) -> None:
    with open_library(old_root, embedder=Hashed()) as library:
        assert library.counts() == {"pending": 3, "approved": 1, "library": 0, "trash": 0}
        assert [decision.verb for decision in library.decisions()] == ["approve", "import", "import"]
        assert library.duplicates.examine() == 4
        assert badges(library) == {FIRST: "exact picture", address(3): "exact picture"}
        library.undo(actor="ann")
        assert library.get(FIRST).tier == "pending"
        with library.catalog.reading() as db:
            assert db.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_an_older_catalog_is_also_migrated_when_opened_for_reading(old_root: Path) -> None:
    with open_reader(old_root, embedder=Hashed()) as reader:
        assert matches_of(reader, FIRST) == {}  # nobody has compared them yet
        assert reader.duplicates.suspicions([FIRST]) == {}


def test_an_interrupted_migration_is_repeated(old_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = catalog._VERSIONS
    monkeypatch.setattr(catalog, "_VERSIONS", (*catalog._VERSIONS[:1], catalog._VERSIONS[1] + "no SQL;\n"))
    with pytest.raises(sqlite3.OperationalError):
        open_library(old_root, embedder=Hashed())
    monkeypatch.setattr(catalog, "_VERSIONS", whole)
    with open_library(old_root, embedder=Hashed()) as library:
        assert library.duplicates.examine() == 4

"""A large catalog is checked table by table, its vectors in the order of the file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog import pages
from store.catalog.catalog import Catalog
from store.disk.layout import Layout
from store.maintenance import doctor
from store.maintenance.doctor import DoctorFinding
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library
from store.writing.salvage import salvage_if_damaged
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed

COINS = 6
BLOCK = 4

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def root(quick_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pages, "_AT_ONCE", 0)
    monkeypatch.setattr(doctor, "_BLOCK", BLOCK)
    with open_library(quick_root, embedder=Hashed()) as library:
        for number in range(COINS):
            approved_with_caption(library, number)
        library.promote([address(number) for number in range(COINS)])
    return quick_root


def checked(root: Path, *, progress: Progress | None = None) -> list[DoctorFinding]:
    with Reader(root, embedder=Hashed()) as reader:
        found = doctor.check(reader, progress=progress)
    return [one for one in found if "Chroma" not in one.what]


def stored(root: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(Layout(root).catalog)) as db:
        return dict(db.execute("SELECT key, vector FROM vectors"))


def overwrite_page(root: Path, name: str) -> None:
    """Write over the page of a small table or index."""
    path = Layout(root).catalog
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", [name]).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def damage_vector(root: Path, number: int) -> None:
    with closing(sqlite3.connect(Layout(root).catalog)) as db, db:
        db.execute(
            "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE key = (SELECT key FROM embeddings "
            "JOIN records ON id = record WHERE address = ? AND facet = 'entity')",
            [address(number)],
        )


def test_a_sound_catalog_has_no_findings(root: Path) -> None:
    progress = Progress()
    assert checked(root, progress=progress) == []
    assert progress.done == progress.total


def test_an_unreadable_page_is_named(root: Path) -> None:
    overwrite_page(root, "history_by_time")
    found = checked(root)[0]
    assert found.what.startswith("the catalog is damaged: ")
    assert "doctor --repair on the command line" in found.remedy


def test_a_table_that_cannot_be_read_ends_the_check_with_the_remedy(root: Path) -> None:
    overwrite_page(root, "prompts")
    found = checked(root)[-1]
    assert "cannot be read" in found.what
    assert "doctor --repair makes a new one" in found.what


@pytest.mark.parametrize("name", ["history_by_time", "prompts", "vectors"])
def test_a_damaged_catalog_is_replaced(root: Path, name: str) -> None:
    assert salvage_if_damaged(Layout(root)) is None
    overwrite_page(root, name)
    assert salvage_if_damaged(Layout(root))


def test_unreadable_vectors_are_named(root: Path) -> None:
    overwrite_page(root, "vectors")
    what = [one.what for one in checked(root)]
    assert "the catalog is damaged: vectors from row 1 on: database disk image is malformed" in what


def test_a_damaged_vector_is_embedded_again(root: Path) -> None:
    before = stored(root)
    damage_vector(root, 3)
    assert stored(root) != before
    (found,) = checked(root)
    assert (found.what, found.address) == ("a vector of it is damaged", address(3))
    with open_library(root, embedder=Hashed()) as library:
        doctor.repair(library)
    assert checked(root) == []
    assert stored(root) == before


def test_a_stopped_check_reads_only_the_rest_of_the_vectors(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress, look, blocks = Progress(), doctor._unusable, list[int]()

    def counted(catalog: Catalog, first: int) -> list[doctor.Damage]:
        blocks.append(first)
        if first == 2 * BLOCK:
            progress.cancel()
        return look(catalog, first)

    monkeypatch.setattr(doctor, "_unusable", counted)
    assert checked(root, progress=progress) == [doctor.STOPPED]
    assert checked(root) == []
    assert blocks == list(range(0, len(stored(root)), BLOCK)), "each block once"

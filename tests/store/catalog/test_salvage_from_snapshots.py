"""A catalog that is lost or damaged is restored from its last copy."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog import snapshots
from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import CatalogDamaged
from store.maintenance import doctor
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from store.writing.salvage import salvage_if_damaged
from tests.store.catalog.copied import FIRST, FOURTH, SECOND, THIRD, removed, tables
from tests.store.hashed import Hashed
from tests.store.invariants import holds

pytestmark = pytest.mark.usefixtures("without_chroma")


def emptied(catalog: Path) -> None:
    removed(catalog)
    catalog.touch()


def cut_short(catalog: Path) -> None:
    with catalog.open("r+b") as file:
        file.truncate(3 * 4096)


def a_folder(catalog: Path) -> None:
    removed(catalog)
    catalog.mkdir()
    (catalog / "somebody's").write_text("file")


@pytest.mark.parametrize("damage", [removed, emptied, cut_short, a_folder])
def test_salvage_restores_history_and_drafts_from_the_last_copy(
    damage: Callable[[Path], None], stocked: Path
) -> None:
    layout = Layout(stocked)
    with open_library(stocked, embedder=Hashed()) as library:
        events = library.history(limit=-1)
    damage(layout.catalog)
    if damage in (removed, emptied):
        assert "last copy" in doctor.check_unopened(stocked)[0].remedy
    else:
        with pytest.raises(CatalogDamaged, match="doctor --repair"):
            open_library(stocked, embedder=Hashed())

    salvaged = salvage_if_damaged(layout)

    assert salvaged.copy
    assert salvaged.copy.day in salvaged.summary
    with open_library(stocked, embedder=Hashed()) as library:
        tiers = {record.address: record.tier for record in library.find(Filter())}
        assert tiers == {FIRST: "library", SECOND: "trash", THIRD: "pending", FOURTH: "pending"}
        assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        assert list(library.searches.all()) == ["dogs"]
        kept = {event.id: event for event in library.history(limit=-1)}
        copied = {row["id"] for row in snapshots.rows(salvaged.copy, "history")}
        assert len(copied) > 5
        assert all(kept[event.id] == event for event in events if event.id in copied)
        assert library.history(address=SECOND)[0].after_tier == "trash"
        assert not [finding for finding in doctor.repair(library) if "Chroma" not in finding.what]
        holds(library)
    if damage is a_folder:
        assert (salvaged.kept / "somebody's").read_text() == "file"


def test_a_missing_catalog_is_restored_on_the_next_opening(
    stocked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    removed(Layout(stocked).catalog)
    with open_reader(stocked) as reader:
        assert reader.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        assert "promote" in {event.verb for event in reader.history(limit=-1)}
    assert "the catalog was gone" in caplog.text


def test_salvage_reads_a_copy_of_an_earlier_version(stocked: Path) -> None:
    (copy,) = snapshots.kept(Layout(stocked).catalog)
    with closing(sqlite3.connect(copy.path)) as db, db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        for table in ("checksums", "removed"):  # of versions 11 and 10
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 9")
    removed(Layout(stocked).catalog)
    assert salvage_if_damaged(Layout(stocked)).copy == copy
    with open_library(stocked, embedder=Hashed()) as library:
        assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        assert list(library.searches.all()) == ["dogs"]
        assert "promote" in {event.verb for event in library.history(limit=-1)}
        holds(library)


def test_readable_rows_of_a_damaged_catalog_take_precedence_over_its_copy(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        library.drafts.save(THIRD, {"entity": "half a dog"}, actor="ann")
        library.drafts.save(FOURTH, {"entity": "new"}, actor="ann")
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db, db:
        db.execute("DROP TABLE history")
    assert salvage_if_damaged(Layout(stocked))
    with open_library(stocked, embedder=Hashed()) as library:
        assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a dog"}
        assert library.drafts.own(FOURTH, actor="ann") == {"entity": "new"}
        assert "promote" in {event.verb for event in library.history(limit=-1)}


def test_salvage_loses_nothing_when_interrupted_at_any_rename(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(stocked)
    cut_short(layout.catalog)
    whole = shutil.copytree(stocked, stocked.parent / "whole")
    for last in range(1, 20):
        shutil.rmtree(stocked)
        shutil.copytree(whole, stocked)
        done = 0

        def rename(disk: Disk, source: Path, target: Path, *, last: int = last) -> None:
            nonlocal done
            done += 1
            if done == last:
                raise KeyboardInterrupt
            source.replace(target)

        with monkeypatch.context() as patched:
            patched.setattr(Disk, "rename", rename)
            try:
                salvage_if_damaged(layout)
            except KeyboardInterrupt:
                is_over = False
            else:
                is_over = True
        salvage_if_damaged(layout)
        with open_library(stocked, embedder=Hashed()) as library:
            assert "promote" in {event.verb for event in library.history(limit=-1)}
            assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        if is_over:
            break
    assert is_over
    assert last > 3


def test_the_copy_of_a_large_catalog_leaves_the_vectors_out_and_repair_computes_them(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = Layout(stocked)
    monkeypatch.setattr(snapshots, "_SMALL", 1_000)
    with open_library(stocked, embedder=Hashed()) as library:
        events = library.history(limit=-1)
        library.catalog.keep_snapshot("repair")
    removed(layout.catalog)

    assert salvage_if_damaged(layout)

    assert "vectors" not in tables(snapshots.kept(layout.catalog)[0])
    with open_library(stocked, embedder=Hashed()) as library:
        assert library.history(limit=-1) == events
        assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        assert not [finding for finding in doctor.repair(library) if "Chroma" not in finding.what]
        assert [hit.address for hit in library.search(Query((Part(text="text 0"),))).hits] == [FIRST]
        holds(library)


def test_a_copy_that_somebody_puts_in_the_catalogs_place_is_completed_by_repair(stocked: Path) -> None:
    layout = Layout(stocked)
    (copy,) = snapshots.kept(layout.catalog)
    removed(layout.catalog)
    shutil.copyfile(copy.path, layout.catalog)
    with pytest.raises(CatalogDamaged, match="doctor --repair"):
        open_library(stocked, embedder=Hashed())

    assert salvage_if_damaged(layout)

    with open_library(stocked, embedder=Hashed()) as library:
        assert library.drafts.own(THIRD, actor="ann") == {"entity": "half a"}
        assert [record.address for record in library.find(Filter(words="coin 0"))] == [FIRST]
        assert not [finding for finding in doctor.repair(library) if "Chroma" not in finding.what]
        holds(library)

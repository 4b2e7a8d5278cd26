"""The catalog is copied daily and before each upgrade and repair; how many copies are kept."""

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.catalog import checksums, snapshots
from store.catalog.catalog import Catalog
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import NotWritten
from store.maintenance import doctor
from store.progress import Progress
from store.runtime import open_library
from store.writing import salvage
from tests.store.catalog.copied import FOURTH, THIRD, removed, tables
from tests.store.hashed import Hashed

pytestmark = pytest.mark.usefixtures("without_chroma")


def test_daily_copies_are_kept_for_a_week_and_only_the_newest_has_vectors(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        now = time.time()
        library.catalog.keep_snapshot("daily")
        assert len(snapshots.kept(library.catalog.path)) == 1, "there is one of today"
        for day in range(1, 12):
            monkeypatch.setattr(time, "time", lambda day=day: now + day * 86_400)
            library.catalog.keep_snapshot("daily")
        found = snapshots.kept(library.catalog.path)
        assert [round((one.at - now) / 86_400) for one in found] == [11, 10, 9, 8, 7, 6, 5]
        assert len(list(snapshots.rows(found[0], "vectors"))) > 0
        for one in found[1:]:
            assert "vectors" not in tables(one)
            assert len(list(snapshots.rows(one, "history"))) == len(library.history(limit=-1))
            assert one.path.stat().st_size < found[0].path.stat().st_size
        monkeypatch.undo()
        library.catalog.keep_snapshot("daily")
        assert snapshots.kept(library.catalog.path)[-1].at <= now + 60, (
            "copies of a clock ahead are no excuse"
        )


def test_a_copy_has_everything_that_salvage_and_repair_read(stocked: Path) -> None:
    (copy,) = snapshots.kept(Layout(stocked).catalog)
    assert tables(copy) >= {*salvage.TABLES, *checksums.TABLES, "checksums"}
    assert tables(copy).isdisjoint(snapshots.DERIVED)
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db:
        there = {row[1] for row in db.execute("PRAGMA table_list") if row[2] == "table"}
    assert {*snapshots.DERIVED, snapshots.VECTORS} < there


def test_a_complete_copy_by_an_earlier_version_is_thinned(stocked: Path) -> None:
    catalog = Layout(stocked).catalog
    (copy,) = snapshots.kept(catalog)
    with closing(sqlite3.connect(catalog)) as db, closing(sqlite3.connect(copy.path)) as old:
        db.backup(old)
    snapshots.make(catalog, "daily")
    assert tables(copy).isdisjoint({*snapshots.DERIVED, snapshots.VECTORS})
    assert "promote" in {row["verb"] for row in snapshots.rows(copy, "history")}


def test_fewer_copies_are_kept_where_the_disk_has_no_room_for_a_week(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        (first,) = snapshots.kept(library.catalog.path)
        assert "daily copies" not in " ".join(found.what for found in doctor.check(library))
        free = 3 * first.path.stat().st_size
        monkeypatch.setattr(
            shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(free * 9, free * 8, free)
        )
        monkeypatch.setattr(snapshots, "_SPARE", 0)
        now = time.time()
        for day in range(1, 5):
            monkeypatch.setattr(time, "time", lambda day=day: now + day * 86_400)
            library.catalog.keep_snapshot("daily")
        kept = snapshots.kept(library.catalog.path)
        assert 1 < len(kept) < 5
        assert first not in kept, "the oldest goes first"
        (found,) = [found for found in doctor.check(library) if "daily copies" in found.what]
        assert f"room for {len(kept)} of 7 daily copies" in found.what
        assert not found.is_fault

        monkeypatch.setattr(snapshots, "_SPARE", free)  # no room at all
        with pytest.raises(NotWritten, match="no room"):
            snapshots.make(library.catalog.path, "daily")
        assert snapshots.kept(library.catalog.path), "the last one stays"


def test_a_copy_that_is_deleted_while_the_room_is_looked_at_is_no_fault(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Layout(stocked).catalog
    (copy,) = snapshots.kept(catalog)
    monkeypatch.setattr(snapshots, "kept", lambda _: [copy])
    copy.path.unlink()
    assert snapshots.shortage(catalog) == ""


def test_a_copy_is_consistent_and_does_not_block_writers(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_library(stocked, embedder=Hashed()) as library:

        class Meanwhile(tuple[str, ...]):
            tables = 0

            def __contains__(self, table: object) -> bool:  # asked before each table
                Meanwhile.tables += 1
                text = f"while it is copied {Meanwhile.tables}"
                library.drafts.save(FOURTH, {"entity": text}, actor="ann")
                return super().__contains__(table)

        monkeypatch.setattr(snapshots, "DERIVED", Meanwhile(snapshots.DERIVED))
        before = len(snapshots.kept(library.catalog.path))
        made = snapshots.make(library.catalog.path, "repair")
        assert made
        assert Meanwhile.tables > 10
        assert len(snapshots.kept(library.catalog.path)) == before + 1
        assert FOURTH not in {row["address"] for row in snapshots.rows(made, "drafts")}
        last = f"while it is copied {Meanwhile.tables}"
        assert library.drafts.own(FOURTH, actor="ann") == {"entity": last}


def test_a_copy_before_a_repair_leaves_the_daily_one_that_is_being_made_alone(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, fill = Layout(stocked).catalog, snapshots._fill
    before = len(snapshots.kept(catalog))
    other = threading.Thread(target=snapshots.make, args=(catalog, "repair"))

    def filled(*arguments: Any) -> None:
        fill(*arguments)
        if other.ident is None:  # the daily copy is complete, but has not its name yet
            other.start()
            other.join(0.3)  # long enough for the whole copy, if it did not wait

    monkeypatch.setattr(snapshots, "_fill", filled)
    assert snapshots.make(catalog, "daily")
    other.join()
    assert [one.reason for one in snapshots.kept(catalog)[:2]] == ["repair", "daily"]
    assert len(snapshots.kept(catalog)) == before + 2


def test_a_cancelled_or_failed_copy_leaves_no_file(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        before = sorted(library.layout.snapshots.iterdir())
        monkeypatch.setattr(snapshots, "_STEPS", 1)
        assert snapshots.make(library.catalog.path, "repair", progress=Progress(cancelled=True)) is None
        monkeypatch.setattr(snapshots, "_SPARE", 1 << 60)
        with pytest.raises(NotWritten, match="no room"):
            snapshots.make(library.catalog.path, "repair")
        assert sorted(library.layout.snapshots.iterdir()) == before


def test_a_catalog_is_copied_before_an_upgrade(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Layout(stocked).catalog
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
    monkeypatch.setattr(
        "store.catalog.catalog._VERSIONS", ("",) * version + ("CREATE TABLE more (a) STRICT",)
    )
    monkeypatch.setattr("store.catalog.catalog.VERSION", version + 1)
    with pytest.raises(sqlite3.OperationalError):  # STRICT requires a type: the upgrade fails
        Catalog(path, disk=Disk(), writable=True)
    found = {one.reason: one for one in snapshots.kept(path)}
    assert found.keys() == {"upgrade", "daily"}
    with snapshots.reading(found["upgrade"]) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == version


def test_a_small_catalog_is_copied_as_it_is_when_the_program_ends(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        library.approve([THIRD])
        decided = library.decisions()[0].id
    (daily,) = (one for one in snapshots.kept(Layout(stocked).catalog) if one.reason == "daily")
    assert decided in {row["id"] for row in snapshots.rows(daily, "decisions")}


def test_a_repair_copies_the_catalog_first(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        doctor.repair(library)
        assert "repair" in {one.reason for one in snapshots.kept(library.catalog.path)}


def test_copies_of_a_previous_catalog_are_not_deleted_by_a_new_one(stocked: Path) -> None:
    layout = Layout(stocked)
    aside = layout.root / "aside"
    layout.snapshots.rename(aside)
    removed(layout.catalog)
    with open_library(stocked, embedder=Hashed()) as library:  # a new catalog with another secret
        aside.rename(layout.snapshots)
        library.approve([THIRD])
        for _ in range(4):
            snapshots.make(library.catalog.path, "daily")
        assert "promote" in {
            row["verb"]
            for one in snapshots.kept(library.catalog.path)
            for row in snapshots.rows(one, "history")
        }


def test_a_copy_is_cancelled_while_it_is_checked(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Layout(stocked).snapshots

    class CancelledOnceCopied(Progress):
        @property
        def cancelled(self) -> bool:  # type: ignore[override]
            return any(path.stat().st_size for path in place.glob(".*.new"))

        @cancelled.setter
        def cancelled(self, value: bool) -> None: ...

    monkeypatch.setattr(snapshots, "_STEPS", 1)
    assert snapshots.make(Layout(stocked).catalog, "repair", progress=CancelledOnceCopied()) is None
    assert list(place.glob(".*")) == []

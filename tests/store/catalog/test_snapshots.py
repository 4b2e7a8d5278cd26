"""The catalog is copied daily and before each upgrade and repair, and restored from a copy when damaged."""

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog import checksums, snapshots
from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.snapshots import CatalogSnapshot
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import CatalogDamaged, NotWritten
from store.maintenance import doctor
from store.progress import Progress
from store.runtime import open_library, open_reader
from store.search.query import Part, Query
from store.writing import surviving_rows
from store.writing.salvage import salvage_if_damaged
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.invariants import holds

FIRST, SECOND, THIRD, FOURTH = (address(number) for number in range(4))

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def stocked(quick_root: Path) -> Path:
    """A closed library with history and drafts; its catalog was copied, then changed."""
    with open_library(quick_root, embedder=Hashed()) as library:
        approved_with_caption(library, 0, 1)
        library.promote([FIRST])
        library.add([coin(2)])
        library.drafts.save(THIRD, {"entity": "half a"}, actor="ann")
        library.searches.save("dogs", _search("dog"))
        library.catalog.keep_snapshot("daily")
        library.add([coin(3)])
        library.reject([SECOND], reason="blurred")
    return quick_root


def _search(line: str):  # type: ignore[no-untyped-def]
    from store.search.saved_searches import SavedSearch

    return SavedSearch(line)


def removed(catalog: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        catalog.with_name(catalog.name + ending).unlink(missing_ok=True)


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

    assert salvaged
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
    salvaged = salvage_if_damaged(Layout(stocked))
    assert salvaged
    assert salvaged.copy == copy
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


def tables(copy: CatalogSnapshot) -> set[str]:
    with snapshots.reading(copy) as db:
        return {row["name"] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


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
    assert tables(copy) >= {*surviving_rows.TABLES, *checksums.TABLES, "checksums"}
    assert tables(copy).isdisjoint(snapshots.DERIVED)
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db:
        there = {row[1] for row in db.execute("PRAGMA table_list") if row[2] == "table"}
    assert {*snapshots.DERIVED, snapshots.VECTORS} < there


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
    found = snapshots.kept(path)
    assert [one.reason for one in found] == ["upgrade", "daily"]
    with snapshots.reading(found[0]) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == version


def test_a_repair_copies_the_catalog_first(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        doctor.repair(library)
        assert snapshots.kept(library.catalog.path)[0].reason == "repair"


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

"""The catalog is copied daily and before each upgrade and repair, and restored from a copy when damaged."""

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog import snapshots
from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import CatalogDamaged, NotWritten
from store.maintenance import doctor
from store.progress import Progress
from store.runtime import open_library, open_reader
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


def test_daily_copies_are_kept_for_a_week_and_only_the_newest_is_complete(
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
        whole = library.catalog.path.stat().st_size
        assert len(list(snapshots.rows(found[0], "vectors"))) > 0
        for one in found[1:]:
            assert list(snapshots.rows(one, "vectors")) == []
            assert len(list(snapshots.rows(one, "history"))) == len(library.history(limit=-1))
            assert one.path.stat().st_size <= whole
        monkeypatch.undo()
        library.catalog.keep_snapshot("daily")
        assert snapshots.kept(library.catalog.path)[-1].at <= now + 60, (
            "copies of a clock ahead are no excuse"
        )


def test_a_copy_is_consistent_and_does_not_block_writers(
    stocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_PAGES", 1)
    with open_library(stocked, embedder=Hashed()) as library:

        class Busy(Progress):
            requests = 0

            @property
            def cancelled(self) -> bool:  # type: ignore[override]
                Busy.requests += 1
                if Busy.requests <= 3:
                    library.drafts.save(
                        FOURTH, {"entity": f"while it is copied {Busy.requests}"}, actor="ann"
                    )
                return False

            @cancelled.setter
            def cancelled(self, value: bool) -> None: ...

        before = len(snapshots.kept(library.catalog.path))
        with library.catalog.reading() as db:
            made = snapshots.make(db, library.catalog.path, "repair", progress=Busy())
        assert made
        assert Busy.requests > 10
        assert len(snapshots.kept(library.catalog.path)) == before + 1
        assert FOURTH not in {row["address"] for row in snapshots.rows(made, "drafts")}
        assert library.drafts.own(FOURTH, actor="ann") == {"entity": "while it is copied 3"}


def test_a_cancelled_or_failed_copy_leaves_no_file(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_library(stocked, embedder=Hashed()) as library, library.catalog.reading() as db:
        before = sorted(library.layout.snapshots.iterdir())
        assert snapshots.make(db, library.catalog.path, "repair", progress=Progress(cancelled=True)) is None
        monkeypatch.setattr(snapshots, "_SPARE", 1 << 60)
        with pytest.raises(NotWritten, match="no room"):
            snapshots.make(db, library.catalog.path, "repair")
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
            with library.catalog.reading() as db:
                snapshots.make(db, library.catalog.path, "daily")
        assert "promote" in {
            row["verb"]
            for one in snapshots.kept(library.catalog.path)
            for row in snapshots.rows(one, "history")
        }


def test_a_copy_is_cancelled_while_it_is_checked(stocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class CancelledOnceCopied(Progress):
        looks = 0

        @property
        def cancelled(self) -> bool:  # type: ignore[override]
            self.looks += 1
            return self.looks > 1

        @cancelled.setter
        def cancelled(self, value: bool) -> None: ...

    monkeypatch.setattr(snapshots, "_PAGES", -1)  # one look while it is copied
    with open_reader(stocked) as library, library.catalog.reading() as db:
        assert snapshots.make(db, library.catalog.path, "repair", progress=CancelledOnceCopied()) is None
        assert list((library.layout.snapshots).glob(".*")) == []

"""Salvage copies everything readable from a damaged catalog to a new one, and invents nothing."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from store.catalog import snapshots
from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import CatalogDamaged
from store.library import Library
from store.maintenance import doctor
from store.reading.reader import Reader
from store.runtime import open_library, open_reader
from store.writing.salvage import SalvageReport, salvage, salvage_if_damaged
from tests.store.conftest import address, approved_with_caption, coin, written
from tests.store.hashed import Hashed
from tests.store.invariants import holds
from tests.store.world import FaultInjector, PowerCut, abandon

FIRST, SECOND, FOURTH = address(0), address(1), address(3)

pytestmark = pytest.mark.usefixtures("without_chroma")


def overwrite(start: int, length: int) -> Callable[[Path], None]:
    def damage(catalog: Path) -> None:
        with catalog.open("r+b") as file:
            file.seek(start)
            file.write(os.urandom(length))

    return damage


def take_over_the_log(catalog: Path) -> None:
    with closing(sqlite3.connect(catalog)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def drop_a_table(catalog: Path) -> None:
    with sqlite3.connect(catalog) as db:
        db.execute("DROP TABLE journal")


@pytest.mark.parametrize(
    "damage", [overwrite(0, 100), overwrite(0, 4096), drop_a_table], ids=["header", "schema", "table gone"]
)
def test_salvage_recovers_everything_when_the_start_of_the_catalog_is_lost(
    damage: Callable[[Path], None], quick_root: Path
) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        long = "x" * 20_000  # uses overflow pages
        approved_with_caption(library, 0, 1)
        library.promote([FIRST])
        library.add([coin(2), coin(3, description=long)])
        library.reject([SECOND], reason="blurred")
        library.drafts.save(FOURTH, {"entity": "half a"}, actor="ann")
        library.filters.save("dogs", "tag:dog")
        before = {record.address: record for record in library.find(Filter())}
        events = library.history(limit=-1)
        with library.catalog.reading() as db:
            vectors = db.execute("SELECT * FROM vectors ORDER BY key").fetchall()
        library.catalog.keep_snapshot("daily")
    layout = Layout(quick_root)
    damage(layout.catalog)
    with pytest.raises(CatalogDamaged):
        open_library(quick_root, embedder=Hashed())

    assert salvage_if_damaged(layout).kept.exists()
    with open_library(quick_root, embedder=Hashed()) as library:
        found = {record.address: record for record in library.find(Filter())}
        assert {
            key: (one.sidecar, one.tier, one.image_hash, one.came_from) for key, one in found.items()
        } == {key: (one.sidecar, one.tier, one.image_hash, one.came_from) for key, one in before.items()}
        assert library.history(limit=-1) == events, "and no event was added: the files are as they were left"
        assert library.drafts.own(FOURTH, actor="ann") == {"entity": "half a"}
        assert "dogs" in library.filters.all()
        with library.catalog.reading() as db:
            assert db.execute("SELECT * FROM vectors ORDER BY key").fetchall() == vectors
        library.undo()
        assert library.get(SECOND).tier == "approved"
        holds(library)


def test_a_damaged_page_costs_only_those_of_its_rows_that_the_copy_lacks(quick_root: Path) -> None:
    many = [address(number) for number in range(60)]
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(number) for number in range(60)])
        library.reject(many[:20], reason="blurred")
        library.catalog.keep_snapshot("daily")
        library.reject(many[20:], reason="a scam")
        events = library.history(limit=-1)
    catalog = Layout(quick_root).catalog
    take_over_the_log(catalog)
    content = catalog.read_bytes()
    leaves = [
        at
        for at in range(0, len(content), 4096)
        if content[at] == 0x0D and b"blurred" in content[at : at + 4096]
    ]
    overwrite(leaves[0], 4096)(catalog)

    assert salvage_if_damaged(Layout(quick_root))

    with open_library(quick_root, embedder=Hashed()) as library:
        assert library.history(limit=-1) == events
        assert {library.get(one).tier for one in many} == {"trash"}
        holds(library)


def test_damage_found_while_reading_raises_an_error_that_names_the_fix(quick_root: Path) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0)])
    layout = Layout(quick_root)
    with Reader(quick_root) as reader:
        content = layout.catalog.read_bytes()
        with layout.catalog.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (len(content) - 4096))
        with pytest.raises(CatalogDamaged, match="doctor --repair makes a new one"):
            reader.find(Filter())
    assert salvage_if_damaged(layout)


def test_an_intact_or_missing_catalog_is_not_salvaged(quick_root: Path) -> None:
    layout = Layout(quick_root)
    assert salvage_if_damaged(layout) is None
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0)])
    before = layout.catalog.read_bytes()
    assert salvage_if_damaged(layout) is None
    assert layout.catalog.read_bytes() == before


def leave_waiting(library: Library, injector: FaultInjector, decide: Callable[[], object]) -> None:
    """Decide on a disk that refuses one step later each time, until it is decided."""
    step = 0
    while not library.status().applying:
        step += 1
        injector.fail(step, OSError(errno.ENOSPC, "the disk says no"), lasts=True)
        decide()
    injector.stop_failing()


@pytest.mark.parametrize("verb", ["caption", "send_back"])
def test_a_decision_that_waited_for_the_disk_when_the_catalog_was_copied_is_finished(
    verb: str, quick_root: Path
) -> None:
    injector = FaultInjector()
    library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=injector))
    approved_with_caption(library, 0)
    decide = {
        "caption": lambda: library.caption(FIRST, caption=written("new")),
        "send_back": lambda: library.send_back([FIRST]),
    }
    leave_waiting(library, injector, decide[verb])
    library.catalog.keep_snapshot("upgrade")
    assert snapshots.kept(library.catalog.path)
    abandon(library)
    layout = Layout(quick_root)
    drop_a_table(layout.catalog)

    assert salvage_if_damaged(layout)

    with open_library(quick_root, embedder=Hashed()) as library:
        assert not library.status().applying
        found = library.get(FIRST)
        assert (found.tier, found.caption["entity"]) == (
            ("approved", "new entity") if verb == "caption" else ("pending", "text 0 entity")
        )
        assert library.history(address=FIRST, limit=1)[0].verb == {"send_back": "return"}.get(verb, verb)


def test_a_decision_that_was_finished_since_the_catalog_was_copied_is_not_repeated(quick_root: Path) -> None:
    injector = FaultInjector()
    library = open_library(quick_root, embedder=Hashed(), disk=Disk(before=injector))
    library.add([coin(0)])
    leave_waiting(library, injector, lambda: library.approve([FIRST]))
    library.catalog.keep_snapshot("upgrade")
    library.add([coin(1)])  # what waits is finished first
    assert library.send_back([FIRST]).done
    library.close()
    layout = Layout(quick_root)
    drop_a_table(layout.catalog)

    assert salvage_if_damaged(layout)

    with open_library(quick_root, embedder=Hashed()) as library:
        assert library.get(FIRST).tier == "pending"


@pytest.mark.parametrize("made", ["made", "made-7"], ids=["of an earlier version", "numbered"])
@pytest.mark.parametrize("opens", [open_library, open_reader, salvage_if_damaged])
def test_an_interrupted_salvage_is_finished_with_what_only_the_log_said(
    made: str,
    opens: Callable[..., Library | SalvageReport],
    quick_root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout = Layout(quick_root)
    log = layout.catalog.with_name(f"{layout.catalog.name}-wal")
    library = open_library(quick_root, embedder=Hashed())
    library.add([coin(0)])
    take_over_the_log(layout.catalog)
    library.reject([FIRST], reason="blurred")  # only in the log
    saved = {path.name: path.read_bytes() for path in (layout.catalog, log)}
    abandon(library)
    for name, content in saved.items():
        (layout.memecoins / name).write_bytes(content)

    def rename(disk: Disk, source: Path, target: Path) -> None:
        if source == layout.catalog:  # its log is moved by now
            raise PowerCut
        source.replace(target)

    with monkeypatch.context() as patched:
        patched.setattr(Disk, "rename", rename)
        with pytest.raises(PowerCut):
            salvage(layout)
    assert layout.catalog.read_bytes() == saved[layout.catalog.name]
    assert not log.exists()
    (complete,) = layout.memecoins.glob("*.made-*")
    (moved,) = layout.memecoins.glob("*.damaged-*-wal")
    complete.rename(layout.catalog.with_name(f"{layout.catalog.name}.{made}"))

    opened = opens(layout) if opens is salvage_if_damaged else opens(quick_root, embedder=Hashed())

    if isinstance(opened, SalvageReport):
        assert opened.taken["history"] == 2
        assert opened.kept.exists()
        opened = open_library(quick_root, embedder=Hashed())
    with opened as library:
        assert library.history(address=FIRST, limit=1)[0].reason == "blurred"
    assert not list(layout.memecoins.glob("*.made*"))
    assert moved.read_bytes() == saved[log.name]


def test_the_old_catalog_of_an_interrupted_salvage_comes_beside_its_log(quick_root: Path) -> None:
    layout = Layout(quick_root)
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0)])
    damaged = b"damaged" * 1000
    layout.catalog.rename(layout.catalog.with_name(f"{layout.catalog.name}.made-7"))
    layout.catalog.write_bytes(damaged)
    layout.catalog.with_name(f"{layout.catalog.name}.damaged-7-wal").write_bytes(b"its log")
    layout.catalog.with_name(f"{layout.catalog.name}-wal").write_bytes(b"made by a reader since")

    with open_library(quick_root, embedder=Hashed()) as library:
        assert library.get(FIRST).tier == "pending"

    old = layout.catalog.with_name(f"{layout.catalog.name}.damaged-7")
    assert old.read_bytes() == damaged
    assert old.with_name(f"{old.name}-wal").read_bytes() == b"its log"


def test_a_salvage_that_fails_keeps_no_file_open(quick_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0)])

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("store.writing.salvage.take_rows", fail)
    with pytest.raises(MemoryError):
        salvage(Layout(quick_root))
    assert not list(Layout(quick_root).memecoins.glob("*.unfinished-wal")), "which SQLite deletes on closing"


def flipped(text: bytes, *, at: int, bit: int) -> Callable[[Path], None]:
    """One bit of the place where the catalog's schema has this text."""

    def damage(catalog: Path) -> None:
        content = bytearray(catalog.read_bytes())
        place = content.rindex(text) + at
        content[place] ^= 1 << bit
        catalog.write_bytes(content)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        flipped(b"CREATE TABLE decisions", at=15, bit=7),
        flipped(b"CREATE INDEX job_items_by_state ON job_items", at=38, bit=7),
        flipped(b"CREATE TABLE records (", at=14, bit=1),
        flipped(b"CREATE TABLE history (", at=8, bit=7),
        flipped(b"    sidecar_hash TEXT NOT NULL", at=8, bit=0),
        flipped(b"CREATE TRIGGER history_insert_sum", at=0, bit=0),
        flipped(b"SQLite format 3\0", at=47, bit=7),
        flipped(b"SQLite format 3\0", at=68, bit=4),
        flipped(b"SQLite format 3\0", at=63, bit=4),
    ],
    ids=[
        "table",
        "index's table",
        "records",
        "keyword",
        "column",
        "trigger",
        "schema format",
        "whose it is",
        "version",
    ],
)
def test_one_flipped_bit_of_the_schema_costs_nothing(
    damage: Callable[[Path], None], quick_root: Path
) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        approved_with_caption(library, 0, 1)
        library.reject([SECOND], reason="blurred")
        events = library.history(limit=-1)
        library.catalog.keep_snapshot("daily")
    take_over_the_log(Layout(quick_root).catalog)
    damage(Layout(quick_root).catalog)
    with suppress(CatalogDamaged):  # the number that says whose it is does not matter
        open_library(quick_root, embedder=Hashed()).close()

    salvage_if_damaged(Layout(quick_root))

    with open_library(quick_root, embedder=Hashed()) as library:
        assert library.history(limit=-1) == events
        assert (library.get(FIRST).tier, library.get(SECOND).tier) == ("approved", "trash")
        assert [one.what for one in doctor.repair(library) if "Chroma" not in one.what] == []
        holds(library)


def test_a_damaged_row_is_not_made_the_truth_by_a_salvage(quick_root: Path) -> None:
    with open_library(quick_root, embedder=Hashed()) as library:
        library.add([coin(0)])
        library.reject([FIRST], reason="a scam")
        library.catalog.keep_snapshot("daily")
    catalog = Layout(quick_root).catalog
    take_over_the_log(catalog)
    content = catalog.read_bytes()
    catalog.write_bytes(content.replace(b"a scam", b"a scan"))
    flipped(b"CREATE TABLE decisions", at=15, bit=7)(catalog)

    assert salvage_if_damaged(Layout(quick_root))

    with open_library(quick_root, embedder=Hashed()) as library:
        assert "row 2 of history" in " ".join(one.what for one in doctor.check(library))
        doctor.repair(library)
        assert [event.reason for event in library.history(address=FIRST)] == ["a scam", ""]

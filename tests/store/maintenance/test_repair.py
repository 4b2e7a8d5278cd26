"""A bit flipped in the catalog blocks nothing, doctor reports it, and a repair restores it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.catalog import checksums
from store.catalog.catalog import Catalog
from store.catalog.filters import Filter
from store.catalog.rows import DAMAGED
from store.disk.layout import Layout
from store.errors import CatalogDamaged
from store.maintenance import doctor, repair
from store.reading.reader import Reader
from store.runtime import open_library
from store.search.query import SavedSearch
from tests.store.conftest import address, approved_with_caption, coin, written
from tests.store.hashed import Hashed
from tests.store.invariants import holds

FIRST, SECOND, THIRD = (address(number) for number in range(3))

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def stocked(quick_root: Path) -> Path:
    with open_library(quick_root, embedder=Hashed()) as library:
        approved_with_caption(library, 0)
        library.add([coin(1, description="a quiet DESCRIPTION"), coin(2)])
        library.reject([THIRD], reason="a blurred PICTURE")
        library.drafts.save(SECOND, {"entity": "half a DRAFT"}, actor="ann")
        library.searches.save("frogs", SavedSearch("a green FROG"))
        library.golden.save("what is GOLDEN", [SECOND])
        library.catalog.keep_snapshot("daily")
    return quick_root


def flip(root: Path, before: bytes, after: bytes) -> None:
    """Replace these bytes in the catalog file, as a faulty disk would; snapshots stay unchanged."""
    path = Layout(root).catalog
    content = path.read_bytes()
    assert len(before) == len(after)
    assert before in content
    path.write_bytes(content.replace(before, after))


def damages(catalog: Catalog) -> list[repair.Damage]:
    layout = Layout(catalog.path.parent.parent)
    return [*repair.damaged_texts(catalog), *repair.damaged_rows(catalog, layout, 0, 1000)]


FLIPS = [
    (b"quiet DESCRIPTION", b"quiet D\xc5SCRIPTION"),
    (b"quiet DESCRIPTION", b"quiet DASCRIPTION"),
    (b'"ticker": "C1"', b'"uicker": "C1"'),
    (b'{\n  "token_name": "Coin 1"', b'[\n  "token_name": "Coin 1"'),
    (b"blurred PICTURE", b"blurred P\xffCTURE"),
    (b"blurred PICTURE", b"blurred PASTURE"),
    (b"half a DRAFT", b"half a DR\x80FT"),
    (b'{"entity": "half a DRAFT"', b'<"entity": "half a DRAFT"'),
    (b"half a DRAFT", b"half a CRAFT"),
    (b"a green FROG", b"a green F\xf0OG"),
    (b"a green FROG", b"a green FROM"),
]
FLIPS = [(before, after) for before, after in FLIPS if len(before) == len(after)]


@pytest.mark.parametrize(("before", "after"), FLIPS, ids=[repr(after) for _, after in FLIPS])
def test_a_flipped_byte_blocks_no_list_and_is_reported_and_repaired(
    before: bytes, after: bytes, stocked: Path
) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        records, events = library.find(Filter()), library.history(limit=-1)
    flip(stocked, before, after)

    with Reader(stocked) as reader:
        assert {record.address for record in reader.find(Filter())} == {FIRST, SECOND, THIRD}
        assert reader.named("coin", Filter(), limit=5)
    assert any("not what was written" in finding.what for finding in doctor.check_unopened(stocked))
    messages: list[str] = []
    with open_library(stocked, embedder=Hashed()) as library:
        left = doctor.repair(library, tell=messages.append)

        assert not [finding for finding in left if "Chroma" not in finding.what]
        assert messages == []
        assert library.find(Filter()) == records
        assert library.history(limit=-1) == events
        assert library.drafts.own(SECOND, actor="ann") == {"entity": "half a DRAFT"}
        assert library.searches.all()["frogs"].line == "a green FROG"
        assert [one.line for one in library.golden.all()] == ["what is GOLDEN"]
        holds(library)


def flip_golden(root: Path, given: str) -> None:
    with closing(sqlite3.connect(Layout(root).catalog)) as db, db:
        (trigger,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'golden_update_sum'").fetchone()
        db.execute("DROP TRIGGER golden_update_sum")
        db.execute(f"UPDATE golden SET {given}")
        db.execute(trigger)


def test_a_row_with_a_damaged_key_gets_its_own_key_again(stocked: Path) -> None:
    flip_golden(stocked, "line = 'what is OLDENG'")
    messages: list[str] = []
    with open_library(stocked, embedder=Hashed()) as library:
        doctor.repair(library, tell=messages.append)
        assert {one.line for one in library.golden.all()} == {"what is GOLDEN"}
        assert damages(library.catalog) == []
    assert messages == []


def test_a_row_damaged_in_more_than_its_key_is_restored_next_to_the_damaged_one(stocked: Path) -> None:
    flip_golden(stocked, "line = 'what is OLDENG', who = 'nobody'")
    messages: list[str] = []
    with open_library(stocked, embedder=Hashed()) as library:
        doctor.repair(library, tell=messages.append)
        assert {one.line for one in library.golden.all()} == {"what is GOLDEN", "what is OLDENG"}
        assert damages(library.catalog) == []
    assert "row what is OLDENG of golden could not be given back" in messages[0]


@pytest.mark.parametrize("has_history", [True, False])
def test_a_damaged_hash_of_a_picture_is_restored_from_the_history_or_else_from_a_copy(
    stocked: Path, has_history: bool
) -> None:
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db, db:
        checksums.install(db)
        (right,) = db.execute("SELECT image_hash FROM records WHERE address = ?", [SECOND]).fetchone()
        wrong = ("1" if right[0] == "0" else "0") + right[1:]
        db.execute("UPDATE records SET image_hash = ? WHERE address = ?", [wrong, SECOND])
        if not has_history:
            db.execute("DELETE FROM history WHERE address = ?", [SECOND])
    with open_library(stocked, embedder=Hashed()) as library:
        assert "its state in the catalog is not what was written" in {
            one.what for one in doctor.check(library)
        }
        assert doctor.repair(library) == []
        assert library.get(SECOND).image_hash == right
        assert library.edit_tags([SECOND], add=["moon"]).done == [SECOND]


def test_damaged_text_is_never_written_to_a_file_or_a_backup(stocked: Path, tmp_path: Path) -> None:
    from store.backup.create import backup

    flip(stocked, b"quiet DESCRIPTION", b"quiet D\xc5SCRIPTION")
    with open_library(stocked, embedder=Hashed()) as library:
        assert library.get(SECOND).description == DAMAGED
        refused = library.caption(SECOND, caption=written("new")).refused
        assert [refusal.reason for refusal in refused] == [DAMAGED]
        backup(library, tmp_path / "backup")
        copied = json.loads(Layout(tmp_path / "backup").sidecar("pending", SECOND).read_text())
        assert copied["description"] == "a quiet DESCRIPTION"
        assert "a quiet DESCRIPTION" in library.layout.sidecar("pending", SECOND).read_text()


def test_an_unrepairable_row_is_reported_and_left_unchanged(stocked: Path) -> None:
    with open_library(stocked, embedder=Hashed()) as library:
        library.drafts.save(FIRST, {"entity": "written SINCE"}, actor="bob")
    for copy in Layout(stocked).snapshots.iterdir():
        copy.unlink()
    flip(stocked, b"written SINCE", b"written SINGE")
    messages: list[str] = []
    with open_library(stocked, embedder=Hashed()) as library:
        doctor.repair(library, tell=messages.append)
        assert "drafts could not be given back" in messages[0]
        assert library.drafts.own(FIRST, actor="bob") == {"entity": "written SINGE"}
        assert damages(library.catalog) == []


def test_a_value_that_is_no_longer_json_raises_an_error_that_names_the_fix(stocked: Path) -> None:
    flip(stocked, b'{"entity": "half a DRAFT"', b'<"entity": "half a DRAFT"')
    with Reader(stocked) as reader, pytest.raises(CatalogDamaged, match="doctor --repair gives it back"):
        reader.drafts.of(SECOND)


def test_every_checksummed_table_has_its_triggers(stocked: Path) -> None:
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db:
        found = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
    verbs = ("insert", "update", "delete")
    assert found == {f"{table}_{verb}_sum" for table in checksums.TABLES for verb in verbs}


def test_a_missing_row_is_detected(stocked: Path) -> None:
    with closing(sqlite3.connect(Layout(stocked).catalog)) as db, db:
        db.execute("DROP TRIGGER golden_delete_sum")
        db.execute("DELETE FROM golden")
    with Reader(stocked) as reader:
        assert [damage.what for damage in damages(reader.catalog)] == ["row what is GOLDEN of golden"]

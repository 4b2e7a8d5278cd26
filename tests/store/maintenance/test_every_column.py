"""One flipped digit in any column of any table of the catalog: doctor, repair, and doctor is well again."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from store.catalog import catalog, checksums
from store.library import Library
from store.maintenance import doctor
from store.runtime import open_library
from store.settings import settings
from tests.length import LENGTH
from tests.store.conftest import address, approved_with_caption, coin
from tests.store.hashed import Hashed
from tests.store.invariants import Contents, contents, holds

COINS = [address(number) for number in range(1, 4)]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("chroma_off")]


def tables() -> dict[str, list[str]]:
    """Every table of a new catalog with its columns, so that those to come are tested as well."""
    with closing(sqlite3.connect(":memory:")) as db:
        checksums.install(db)
        for statements in catalog._VERSIONS:
            db.executescript(statements)
        names = db.execute(
            "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'"
        ).fetchall()
        return {
            name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            for (name,) in names
            if not name.startswith("sqlite_")
        }


TABLES = tables()
ONE_OF = 1 if LENGTH >= 1 else 3  # columns of a table is tested


@pytest.fixture(scope="module")
def chroma_off() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMEDEX_CHROMA", "off")
        settings.cache_clear()
        yield
    settings.cache_clear()


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory, chroma_off: None) -> tuple[Path, Contents]:
    """A closed library with something in most tables, and what it holds."""
    root = tmp_path_factory.mktemp("stocked") / "res"
    with open_library(root, embedder=Hashed()) as library:
        library.promote(approved_with_caption(library, 1, 2))
        library.add([coin(3)])
        library.caption(COINS[0], caption={"entity": "another"})
        library.reject([COINS[2]], reason="blurred")
        library.drafts.save(COINS[1], {"entity": "half a draft"})
        library.golden.save("sad frogs", [COINS[0]])
        library.golden.judge("sad frogs", COINS[0], True)
        library.duplicates.examine()
        library.duplicates.judge(COINS[0], "different", [COINS[1]])
        library.catalog.keep_snapshot("daily")
        before = contents(library)
    return root, before


@pytest.mark.parametrize("table", TABLES)
def test_a_flipped_digit_is_mended_wherever_it_is(
    stocked: tuple[Path, Contents], tmp_path: Path, table: str
) -> None:
    original, before = stocked
    damaged = []
    for column in TABLES[table]:
        root = shutil.copytree(original, tmp_path / column)
        if flip(root / "memecoins" / "catalog.sqlite3", table, column):
            damaged.append((root, column))
    for root, column in damaged[::ONE_OF]:
        with open_library(root, embedder=Hashed()) as library:
            doctor.check(library)
            assert doctor.repair(library) == [], column
            assert doctor.check(library) == [], column
            after = contents(library)
            assert after.records == before.records, column
            assert set(before.events) <= set(after.events), column
            holds(library)
            assert all_can_be_changed(library), column


def all_can_be_changed(library: Library) -> bool:
    return (
        library.edit_tags(COINS[:2], add=["moon"]).done == COINS[:2]
        and library.restore(COINS[2:]).done == COINS[2:]
    )


def flip(path: Path, table: str, column: str) -> bool:
    """Flip one digit of the first row's value behind the triggers; False if there is nothing to flip."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        checksums.install(db)
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        row = db.execute(f"SELECT * FROM {table}").fetchone()
        value = row and row[TABLES[table].index(column)]
        if row is None or value in (None, "", b""):
            return False
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        where = " AND ".join(f"{name} IS ?" for name in TABLES[table])
        changed = db.execute(
            f"UPDATE {table} SET {column} = ? WHERE {where}", [flipped(value), *row]
        ).rowcount
        for _, sql in triggers:
            db.execute(sql)
    assert changed == 1
    return True


def flipped(value: Any) -> Any:
    if isinstance(value, int):
        return value ^ 1
    if isinstance(value, float):
        return value + 1
    if isinstance(value, bytes):  # of a vector's float32 this is an exponent: its last digits tell nothing
        return value[:-1] + bytes([value[-1] ^ 1])
    middle = len(value) // 2
    return value[:middle] + chr(ord(value[middle]) ^ 1) + value[middle + 1 :]

"""Every file found in a root survives: in place, imported, or moved aside and recorded in the history."""

import contextlib
import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from store.catalog.history import MOVE_ASIDE
from store.chroma.follower import ChromaFollower
from store.disk.aside import moved_aside
from store.disk.layout import Layout
from store.errors import MemedexError
from store.maintenance import doctor
from store.memory import doctor as memory_doctor
from store.memory.memory import Memory
from store.runtime import open_library
from store.writing.salvage import move_foreign_catalog_aside, salvage_if_damaged
from tests.length import repeated
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.memory.bags import Bags

EXAMPLES = repeated(12, least=3)  # roots generated

UUID = "7dd70cc7-b5f3-42e1-ac74-00b8e1fe53fc"
STAGED = "0123456789abcdef0123456789abcdef"
# File names that Memedex uses, which may hold foreign content, and names that it does not use.
PLACES = st.sampled_from(
    [
        "notes.txt", "taxonomy.json.old",
        *(
            f"memecoins/{name}"
            for name in (
                "catalog.sqlite3", "catalog.sqlite3-wal", "catalog.sqlite3-journal", "writer.lock",
                "writer.holder", "notes.md", "rag_db/chroma.sqlite3", "rag_db/chroma.sqlite3-journal",
                "rag_db/chroma.sqlite3-wal",
                f"rag_db/{UUID}/data_level0.bin", f"rag_db/{UUID}/header.bin", "rag_db/README", "rag_db/x/y",
                "rag_db/metadata/abc.json", "rag_db/images/abc.jpg", "rag_db/foreign-1/about.json",
                "pending/a.json", "pending/a.jpg", "approved/b.jpg", "trash/c.json", "pending/notes.txt",
                f"operations/{STAGED}/x.json", f"operations/{STAGED}/x.jpg", "operations/loose",
                "matrices/mine/x.npy", "matrices/1-0123abcd/x.bin", "samples/cat.jpg", "set-aside/old.json",
                "thumbnails/mine.webp",
            )
        ),
        *(
            f"memory/{name}"
            for name in (
                "memory.sqlite3", "documents.sqlite3", "transcripts.sqlite3", "sessions.sqlite3",
                "memory.sqlite3-wal", "chroma/chroma.sqlite3", f"chroma/{UUID}/data_level0.bin",
                "chroma/mine.txt", "chroma.dirty", "originals/paper.pdf", "worlds/w.yaml", "writer.lock",
            )
        ),
        "exports/mine.zip", "prompts/mine.txt", "golden/mine.json", "backups/x/y",
    ]
)  # fmt: skip


def database(*statements: str) -> bytes:
    """The content of a SQLite file made by these statements."""
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in statements:
            db.execute(statement)
        return db.serialize()


CONTENTS = st.one_of(
    st.binary(min_size=1, max_size=200),
    st.sampled_from(
        [
            b"",
            b"{}",
            b"[]",
            b'{"token_address": "a"}',
            database("CREATE TABLE bookmarks (url)", "INSERT INTO bookmarks VALUES ('x')"),
            database("CREATE TABLE meta (key, value)", "PRAGMA user_version = 99"),
            database("CREATE TABLE collections (id, name)"),
            database("CREATE TABLE transcripts (id)"),
            database("CREATE TABLE x (y)", "PRAGMA application_id = 12345")[:2048],
        ]
    ),
)


@pytest.mark.slow
@pytest.mark.usefixtures("without_chroma")
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(files=st.dictionaries(PLACES, CONTENTS, min_size=1, max_size=6))
@example(files={"memory/writer.lock": b"\0", "memory/memory.sqlite3": b"\0"})
def test_no_file_found_in_a_root_is_destroyed(
    quick_root: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]
) -> None:
    monkeypatch.setattr(ChromaFollower, "wake", lambda self: None)
    root = quick_root / sha256(repr(sorted(files.items())).encode()).hexdigest()[:16] / "res"
    shutil.rmtree(root, ignore_errors=True)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)

    use(root)
    use(root)

    kept = {path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for name, content in files.items():
        assert content in kept or not content, f"{name} is gone"
    places = " ".join(places_in_histories(root))
    for aside in moved_aside(Layout(root).memecoins, Layout(root).chroma, root / "memory"):
        assert aside.place.name in places


def use(root: Path) -> None:
    """Open, write, check, repair, rebuild, close."""
    layout = Layout(root)
    move_foreign_catalog_aside(layout)
    salvage_if_damaged(layout)
    with open_library(root, embedder=Hashed()) as library:
        library.add([coin(1), coin(2)])
        library.approve([address(1)])
        library._follower._place.remove_own()
        doctor.repair(library)
    with Memory.open(root, embedder=Bags()) as memory:
        with contextlib.suppress(MemedexError):  # raised for an unusable file
            memory.memories.store_memory("words")
        memory_doctor.repair(memory)
        if memory._follower and memory.usable:
            memory._follower._place.remove_own()


def places_in_histories(root: Path) -> list[str]:
    """The places named in the histories of library and memory; by its status where a memory has none."""
    with open_library(root, embedder=Hashed()) as library:
        found = [event.address for event in library.history(limit=-1) if event.verb == MOVE_ASIDE]
    with Memory.open(root, embedder=Bags()) as memory:
        for entries in memory.usable:
            found += [row[0] for row in entries.database.rows("SELECT id FROM history WHERE tbl = 'files'")]
        if not memory.usable:
            found += memory.status().moved_aside
    return found

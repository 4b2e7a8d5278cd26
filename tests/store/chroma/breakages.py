"""Ways to break a Chroma, and a library to break it in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.chroma.collections import COLLECTIONS, FolderCollections, made_with, own_files
from store.library import Library
from store.runtime import open_library
from tests.store.conftest import address
from tests.store.hashed import Hashed


def open_collections(folder: Path) -> FolderCollections:
    return FolderCollections(folder, dict.fromkeys(COLLECTIONS.values(), made_with("hashed")))


@contextmanager
def opened(root: Path, embedder: Hashed) -> Iterator[Library]:
    with open_library(root, embedder=embedder) as library:
        assert isinstance(library, Library)
        yield library


def remove_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").unlink()


def remove_everything(chroma: Path) -> None:
    for path in own_files(chroma):
        path.unlink()


def corrupt_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"this is no database " * 1000)


def empty_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").write_bytes(b"")


def corrupt_index(chroma: Path) -> None:
    spoilt = [path for path in own_files(chroma) if path.suffix in (".bin", ".pickle")]
    assert spoilt
    for number, path in enumerate(spoilt):
        content = bytes((number + 7 * place) % 251 for place in range(max(64, path.stat().st_size)))
        path.write_bytes(content)


def truncate_index(chroma: Path) -> None:
    for path in own_files(chroma):
        if path.suffix == ".bin":
            path.write_bytes(path.read_bytes()[:16])


def restore_an_older_chroma(chroma: Path) -> None:
    """Restore an intact older state that differs from the catalog, as from a backup of this folder only."""
    collections = open_collections(chroma)
    collections.collection(COLLECTIONS["entity"]).delete(ids=[address(2)])
    collections.close()


BREAKAGES = [
    remove_database,
    remove_everything,
    corrupt_database,
    empty_database,
    corrupt_index,
    truncate_index,
    restore_an_older_chroma,
]

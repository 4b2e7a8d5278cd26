"""Another program's Chroma is read whole, vectors included, and stays as it is."""

from pathlib import Path

import numpy as np
import pytest

from store.chroma.contents import read_contents
from store.chroma.foreign import opened_copy
from tests.store.other_systems import memory_store, three_tier_library, vector


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_documents_metadata_and_vectors_are_read(tmp_path: Path) -> None:
    memory_store(tmp_path / "chroma", ["one", "two"])
    before = _bytes(tmp_path)
    (collection,) = read_contents(tmp_path / "chroma").collections
    with opened_copy(tmp_path / "chroma") as chroma:
        entries = list(chroma.entries(collection))
    assert [entry.document for entry in entries] == ["one", "two"]
    assert entries[0].metadata == {"timestamp": "2026-01-31T10:00:00Z", "tags": "preference,language"}
    assert entries[1].vector is not None
    assert np.allclose(entries[1].vector, vector("two", dimensions=384), atol=1e-6)
    assert _bytes(tmp_path) == before


@pytest.mark.slow
def test_a_broken_index_costs_the_vectors_alone(tmp_path: Path) -> None:
    store = three_tier_library(tmp_path, range(3))
    collection = read_contents(store).collections[0]
    for path in store.rglob("*.bin"):
        path.write_bytes(b"broken")
    (store / "chroma.sqlite3").chmod(0o600)
    with opened_copy(store) as chroma:
        entries = list(chroma.entries(collection))
    assert len(entries) == 3
    assert {entry.metadata["tags_categories"] for entry in entries} == {"animals,space"}

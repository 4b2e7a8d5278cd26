"""The comparison describes each fault."""

from pathlib import Path

import pytest

from store.chroma.catalog_source import faults as differences
from store.chroma.collections import COLLECTIONS
from store.disk.layout import Layout
from tests.store.chroma.breakages import open_collections
from tests.store.conftest import address
from tests.store.hashed import Hashed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("eager_index", "comparison_in_own_process")]


def test_the_comparison_describes_each_fault(root: Path, embedder: Hashed, promoted: list[str]) -> None:
    collections = open_collections(Layout(root).chroma)
    collections.collection(COLLECTIONS["entity"]).delete(ids=[address(1)])
    collections.collection(COLLECTIONS["context"]).upsert(
        ids=[address(2)], embeddings=[[1.0] + [0.0] * 63], metadatas=[{"name": "Someone else"}]
    )
    collections.collection(COLLECTIONS["image"]).upsert(ids=["nobody"], embeddings=[[1.0] + [0.0] * 63])
    collections.close()
    faults = "\n".join(differences(root))
    assert f"entity_caption_embeddings lacks 1 records, such as {address(1)}" in faults
    assert "context_caption_embeddings has another vector for 1 of 3 sampled records" in faults
    assert "meme_image_embeddings holds 1 records too many, such as nobody" in faults

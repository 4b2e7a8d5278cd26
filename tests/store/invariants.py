"""What is true of every library whenever no operation is running, one function for each rule."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from store.catalog.filters import Filter
from store.chroma.collections import COLLECTIONS, FolderCollections, made_with, own_files
from store.disk.files import content_hash
from store.disk.layout import Layout
from store.embedding.protocol import Embedder
from store.library import Library
from store.reading.reader import Reader
from store.records import CAPTION_FACETS, TIERS, Facet, Tier, chroma_metadata
from tests.store.plain_listing import lists_are_right


@dataclass(frozen=True)
class StoredRecord:
    """One record as stored in the catalog."""

    tier: Tier
    came_from: Tier | None
    sidecar: dict[str, Any]
    image_hash: str
    embedded: frozenset[Facet]
    drafts: dict[str, dict[str, Any]]  # by person


@dataclass(frozen=True)
class Contents:
    """The content of a library without times and generated numbers."""

    records: dict[str, StoredRecord]
    events: list[tuple[str, str, Tier | None, Tier | None, str, bool]]  # newest first
    decisions: list[tuple[str, str, int, bool]]
    waiting: frozenset[str]  # for Chroma


def contents(library: Reader) -> Contents:
    """What a reader sees at this moment."""
    with library.catalog.reading() as db:
        waiting = frozenset(row[0] for row in db.execute("SELECT address FROM chroma_queue"))
    return Contents(
        records={
            record.address: StoredRecord(
                record.tier,
                record.came_from,
                dict(record.sidecar),
                record.image_hash,
                frozenset(library.embedded_facets(record.address)),
                {draft.actor: draft.fields for draft in library.drafts.of(record.address)},
            )
            for record in library.find(Filter())
        },
        events=[
            (event.verb, event.address, event.before_tier, event.after_tier, event.reason, event.is_undone)
            for event in library.history(limit=-1)
        ],
        decisions=[
            (decision.verb, decision.actor, decision.count, decision.is_undone)
            for decision in library.decisions(limit=-1)
        ],
        waiting=waiting,
    )


def holds(library: Library) -> None:
    """Check every rule below that does not need Chroma."""
    sidecars_agree_with_the_catalog(library)
    every_picture_matches_its_hash(library)
    no_temporary_files_are_left(library)
    listing_rows_match_the_sidecars(library)
    lists_are_right(library, Filter(), *(Filter(tier=tier) for tier in TIERS))
    library_records_have_exactly_their_vectors(library)
    search_finds_exactly_the_library_records(library)


def sidecars_agree_with_the_catalog(library: Reader) -> None:
    """Each record's sidecar is in the folder of its tier only, and agrees with the catalog."""
    records = {record.address: record for record in library.find(Filter())}
    found = {}
    for tier in TIERS:
        for path in library.layout.sidecar_folder(tier).glob("*.json"):
            assert path.stem not in found, f"{path.stem} lies in {tier} and in {found[path.stem]}"
            found[path.stem] = tier
            assert path.stem in records, f"{path} has no record"
            assert json.loads(path.read_bytes()) == dict(records[path.stem].sidecar), path
    assert found == {address: record.tier for address, record in records.items()}


def every_picture_matches_its_hash(library: Reader) -> None:
    """Each record's JPG is in the folder of its tier only, and has the hash stored in the catalog."""
    found = {}
    for tier in TIERS:
        for path in library.layout.image_folder(tier).glob("*.jpg"):
            assert path.stem not in found, f"{path.stem} lies in {tier} and in {found[path.stem]}"
            found[path.stem] = (tier, content_hash(path.read_bytes()))
    assert found == {record.address: (record.tier, record.image_hash) for record in library.find(Filter())}


def no_temporary_files_are_left(library: Reader) -> None:
    """No staged, replaced, temporary or set-aside file is left."""
    layout = library.layout
    assert not layout.operations.exists() or not list(layout.operations.iterdir())
    assert not layout.set_aside.exists()
    assert [path for path in layout.memecoins.rglob("*") if path.name.startswith(".")] == []
    kinds = {path.suffix for tier in TIERS for path in _files(layout, tier)}
    assert kinds <= {".json", ".jpg"}


def listing_rows_match_the_sidecars(library: Reader) -> None:
    """Names, tags, words and counts match the sidecars, and no earlier ones remain."""
    records = library.find(Filter())
    assert sum(library.counts().values()) == len(records)
    for tier in TIERS:
        own = [record for record in records if record.tier == tier]
        assert library.count(Filter(tier=tier)) == len(own)
        tags = [tag for record in own for tag in record.tags]
        assert library.tag_counts(Filter(tier=tier)) == {tag: tags.count(tag) for tag in tags}
    for record in records:
        assert record.address in library.addresses(Filter(words=record.name))
        for text in filter(str.strip, record.caption.values()):
            assert record.address in library.addresses(Filter(words=text))
    with library.catalog.reading() as db:
        for table, column in (("words", "rowid"), ("labels", "record"), ("embeddings", "record")):
            orphans = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM records)"
            assert db.execute(orphans).fetchone()[0] == 0, table


def library_records_have_exactly_their_vectors(library: Reader) -> None:
    """Library records have vectors of the picture and of every facet with text; others have none."""
    for record in library.find(Filter()):
        texts = {facet for facet, text in record.caption.items() if text.strip()}
        expected = {"image", *texts} if record.tier == "library" else set()
        assert set(library.embedded_facets(record.address)) == expected, record.address


def search_finds_exactly_the_library_records(library: Reader) -> None:
    """The resident matrices contain the library's records with their own vectors."""
    snapshot = library.snapshot()
    records = {record.address: record for record in library.find(Filter(tier="library"))}
    assert set(snapshot.addresses) == set(records)
    assert len(snapshot) == len(records)
    for address, record in records.items():
        expected = vectors_of(library, record.address, library.embedder)
        stored = snapshot.vectors(address)
        assert stored.keys() == expected.keys()
        assert all(np.array_equal(stored[facet], vector) for facet, vector in expected.items())


def chroma_agrees_with_the_sidecars(root: Path, embedder: Embedder) -> None:
    """All five collections contain each library record's vector and six fields, and no other record."""
    reader = Reader(root, embedder=embedder)
    copy = Path(tempfile.mkdtemp())  # opening Chroma changes its files
    for path in own_files(reader.layout.chroma):
        target = copy / path.relative_to(reader.layout.chroma)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    collections = FolderCollections(copy, dict.fromkeys(COLLECTIONS.values(), made_with(embedder.name)))
    try:
        records = {record.address: record for record in reader.find(Filter(tier="library"))}
        vectors = {address: vectors_of(reader, address, embedder) for address in records}
        for facet, name in COLLECTIONS.items():
            having = {address for address in records if facet in vectors[address]}
            assert collections.ids(name) == having, facet
            stored, fields = collections.vectors(name, [*having]), collections.metadata(name, [*having])
            for address in having:
                np.testing.assert_allclose(stored[address], vectors[address][facet], atol=1e-6)
                assert fields[address] == chroma_metadata(records[address])
                nearest = collections.nearest(name, vectors[address][facet])
                np.testing.assert_allclose(vectors[nearest[0]][facet], vectors[address][facet], atol=1e-6)
    finally:
        collections.close()
        reader.close()
        shutil.rmtree(copy)


def vectors_of(library: Reader, address: str, embedder: Embedder) -> dict[Facet, np.ndarray[Any, Any]]:
    """The vectors that this library record must have, computed from its files alone."""
    layout = library.layout
    caption = json.loads(layout.sidecar("library", address).read_bytes())["caption"]
    picture = layout.image("library", address).read_bytes()
    vectors: dict[Facet, np.ndarray[Any, Any]] = {"image": _vector(picture, embedder)}
    for facet in CAPTION_FACETS:
        if caption.get(facet, "").strip():
            vectors[facet] = embedder.embed_texts([caption[facet]])[0]
    return vectors


@cache
def _vector(picture: bytes, embedder: Embedder) -> np.ndarray[Any, Any]:
    with Image.open(BytesIO(picture)) as image:
        return embedder.embed_images([image])[0]


def _files(layout: Layout, tier: Tier) -> list[Path]:
    folders = {layout.sidecar_folder(tier), layout.image_folder(tier)}
    return [path for folder in folders if folder.is_dir() for path in folder.iterdir()]

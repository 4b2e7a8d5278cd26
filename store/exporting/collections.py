"""The five collections of reference 1 in a Chroma of their own, written in a separate process."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from store.chroma.client import open_client
from store.chroma.collections import COLLECTIONS
from store.chroma.process import ChildProcess, ChromaFailed
from store.errors import BadSource
from store.exporting.targets import ExportTarget
from store.records import Facet, Record, chroma_metadata

_BATCH = 200  # records handed over at once
_CHUNK = 1 << 20

VectorsOf = Callable[[str], Mapping[Facet, bytes]]
_Row = tuple[str, bytes, dict[str, Any], str | None]


def write(records: Iterable[Record], vectors_of: VectorsOf, place: ExportTarget, *, folder: str) -> None:
    """Write a Chroma with these records' vectors, metadata and captions below `folder` of the place.

    Raises BadSource if Chroma fails.
    """
    with tempfile.TemporaryDirectory(prefix="memedex-") as temporary:
        made = Path(temporary)
        writer = _WriterProcess(_Writer, made)
        try:
            with closing(writer):
                for batch in _batches(records, vectors_of):
                    writer.add(batch)
                writer.add({})  # the collections are there even if they are empty
        except ChromaFailed as error:
            raise BadSource(f"Chroma could not be written: {error}") from error
        for path in sorted(made.rglob("*")):
            if path.is_file():
                with path.open("rb") as source, place.open(f"{folder}/{path.relative_to(made)}") as target:
                    while content := source.read(_CHUNK):
                        target.write(content)


def _batches(records: Iterable[Record], vectors_of: VectorsOf) -> Iterator[dict[Facet, list[_Row]]]:
    batch: dict[Facet, list[_Row]] = {}
    for count, record in enumerate(records, start=1):
        for facet, vector in vectors_of(record.address).items():
            document = None if facet == "image" else record.caption.get(facet)
            row = (record.address, vector, dict(chroma_metadata(record)), document)
            batch.setdefault(facet, []).append(row)
        if count % _BATCH == 0:
            yield batch
            batch = {}
    yield batch


class _Writer:
    """In the process of its own."""

    def __init__(self, folder: Path) -> None:
        client = self._client = open_client(folder)
        self._collections = {
            facet: client.get_or_create_collection(name, metadata={"hnsw:space": "cosine"})
            for facet, name in COLLECTIONS.items()
        }

    def add(self, batch: Mapping[Facet, Sequence[_Row]]) -> None:
        for facet, rows in batch.items():
            texts = [document or "" for _, _, _, document in rows]
            self._collections[facet].upsert(
                ids=[id for id, _, _, _ in rows],
                embeddings=np.stack([np.frombuffer(vector, np.float32) for _, vector, _, _ in rows]),
                metadatas=[metadata for _, _, metadata, _ in rows],
                documents=None if facet == "image" else texts,
            )

    def close(self) -> None:
        """Write what is still in memory."""
        self._client.close()  # type: ignore[attr-defined]  # of Client, not in ClientAPI


class _WriterProcess(ChildProcess[_Writer]):
    def add(self, batch: Mapping[Facet, Sequence[_Row]]) -> None:
        self._call(_Writer.add, batch)

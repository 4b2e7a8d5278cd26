"""Embed the library's records with a model: those without a vector, or all, keeping the old vectors.

`embed_missing` does so for the text memory too.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from store.catalog.catalog import Catalog, next_generation, read_json
from store.disk.layout import Layout
from store.disk.sqlite import SqliteFile
from store.embedding import active_model, embedding_cache
from store.embedding.active_model import KeptVectors
from store.embedding.embedding_cache import EmbeddingSource
from store.embedding.protocol import Embedder, are_usable, described
from store.progress import Progress
from store.records import Facet

_BATCH = 64
_MOST = 30_000  # characters of a batch
_READ = 1_024  # vectors at once
_ALL = (0, 2**63 - 1)  # numbers of rows


@dataclass(frozen=True, slots=True)
class _Wanted:
    number: int  # of the record's row
    sources: dict[Facet, EmbeddingSource]


def embed_all(catalog: Catalog, layout: Layout, embedder: Embedder, *, progress: Progress) -> bool:
    """Embed every record of the library, then switch the rows to the new vectors in one transaction."""
    progress.what = f"embedding with {described(embedder.name)}"
    return embed_missing(
        catalog, embedder, missing=lambda _: _unknown(catalog, layout, embedder),
        switch=lambda _: _switch(catalog, layout, embedder), progress=progress,
    )  # fmt: skip


def embed_missing(
    file: SqliteFile,
    embedder: Embedder,
    *,
    missing: Callable[[sqlite3.Connection], Sequence[EmbeddingSource]],
    switch: Callable[[sqlite3.Connection], None],
    progress: Progress,
    table: str = "vectors",
    model: str = "",
    before_each: Callable[[sqlite3.Connection, Collection[str]], bool] = lambda db, keys: True,
) -> bool:
    """Embed what a file lacks, batch by batch, then `switch` to it; False if cancelled.

    `missing` is asked again until it finds nothing, and `switch` is called in that transaction, before
    anything else can be written. The table calls the model `model`, as a rule by its name. `before_each` is
    called when a batch is stored, with its keys, and returns whether what was missing still is.
    """
    while not progress.cancelled:
        with file.writing() as db:
            sources = missing(db)
            if not sources:
                switch(db)
                return True
        progress.total = progress.done + len(sources)
        for batch in _batches(sources):
            if progress.cancelled:
                break
            vectors = embedding_cache.embed(batch, embedder)
            with file.writing() as db:
                if not before_each(db, vectors.keys()):
                    break
                embedding_cache.store(db, model or embedder.name, vectors, table=table)
            progress.done += len(vectors)
    return False


def _batches(sources: Sequence[EmbeddingSource]) -> Iterator[Sequence[EmbeddingSource]]:
    """As many as are embedded within seconds: between two, a stop is noticed and the progress moves."""
    start = 0
    while batch := sources[start : start + _BATCH]:
        lengths = accumulate(len(source.text or "") for source in batch)
        batch = batch[: max(1, sum(length <= _MOST for length in lengths))]
        yield batch
        start += len(batch)


def use_kept(catalog: Catalog, layout: Layout, model: KeptVectors) -> None:
    """Make a model that is not on this machine the library's, with the vectors that are stored of it."""
    catalog.set_meta(active_model.KEPT_MODEL, active_model.kept_model_text(model))
    with catalog.lock:
        _switch(catalog, layout, model, with_gaps=True)


def is_outdated(catalog: Catalog, embedder: Embedder) -> bool:
    """Whether pictures of the library have vectors of another model than this, or of another version."""
    key = embedding_cache.picture_keys(embedder)
    with catalog.reading() as db:
        rows = db.execute(
            "SELECT r.image_hash, e.key FROM embeddings e JOIN records r ON r.id = e.record "
            "WHERE e.facet = 'image' AND r.tier = 'library'"
        )
        return any(row["key"] != key(row["image_hash"]) for row in rows)


def incomplete(
    catalog: Catalog, layout: Layout, embedder: Embedder, *, between: tuple[int, int] | None = None
) -> list[str]:
    """Library records that lack a vector, or have a surplus or outdated one.

    `between`: the first and the last number of those that are looked at; None for all.
    """
    numbers = between or _ALL
    with catalog.reading() as db:
        found = {
            coin.number: {facet: source.key for facet, source in coin.sources.items()}
            for coin in _library(catalog, layout, embedder, between=numbers)
        }
        keys_by_record: dict[int, dict[str, str]] = {}
        for row in db.execute(
            "SELECT e.* FROM embeddings e JOIN vectors v ON v.key = e.key WHERE e.record BETWEEN ? AND ?",
            numbers,
        ):
            keys_by_record.setdefault(row["record"], {})[row["facet"]] = row["key"]
        wrong = {number for number, keys in found.items() if keys_by_record.get(number) != keys}
        named = db.execute(
            "SELECT id, address FROM records WHERE +tier = 'library' AND id BETWEEN ? AND ? ORDER BY id",
            numbers,
        )
        return [row["address"] for row in named if row["id"] in wrong]


def delete_damaged(catalog: Catalog) -> None:
    """Delete vectors that cannot be searched with; `embed_all` computes them again."""
    with catalog.writing() as db:
        stored = db.execute("SELECT key, vector FROM vectors ORDER BY rowid")
        damaged: list[tuple[str]] = []
        while rows := stored.fetchmany(_READ):
            usable = are_usable([row["vector"] for row in rows])
            damaged += ((row["key"],) for row, good in zip(rows, usable, strict=True) if not good)
        db.executemany("DELETE FROM embeddings WHERE key = ?", damaged)
        db.executemany("DELETE FROM vectors WHERE key = ?", damaged)


def _switch(catalog: Catalog, layout: Layout, embedder: Embedder, *, with_gaps: bool = False) -> None:
    """Let the library's rows name this model's vectors; `with_gaps` leaves out those that are not stored."""
    everything = list(_library(catalog, layout, embedder))
    rows = [(coin.number, facet, source.key) for coin in everything for facet, source in coin.sources.items()]
    with catalog.writing() as db:
        if with_gaps:
            known = {row[0] for row in db.execute("SELECT key FROM vectors WHERE model = ?", [embedder.name])}
            rows = [row for row in rows if row[2] in known]
        generation = next_generation(db)
        present = {tuple(row) for row in db.execute("SELECT record, facet, key FROM embeddings")}
        changed = {number for number, _, _ in present.symmetric_difference(rows)}
        db.execute("DELETE FROM embeddings")
        db.executemany("INSERT INTO embeddings VALUES (?, ?, ?)", rows)
        for number in changed:
            db.execute("UPDATE records SET generation = ? WHERE id = ?", [generation, number])
            db.execute(
                "INSERT OR REPLACE INTO chroma_queue SELECT address, generation FROM records WHERE id = ?",
                [number],
            )
        if db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()[0] != embedder.name:
            db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [("model", embedder.name), ("chroma_rebuild", "1")],
            )


def _unknown(catalog: Catalog, layout: Layout, embedder: Embedder) -> list[EmbeddingSource]:
    sources = [source for one in _library(catalog, layout, embedder) for source in one.sources.values()]
    with catalog.reading() as db:
        return embedding_cache.unknown(db, sources)


def _library(
    catalog: Catalog, layout: Layout, embedder: Embedder, *, between: tuple[int, int] = _ALL
) -> Iterator[_Wanted]:
    with catalog.reading() as db:
        rows = db.execute(
            "SELECT r.id, r.address, r.image_hash, s.text FROM records r JOIN sidecars s "
            "ON s.hash = r.sidecar_hash WHERE +r.tier = 'library' AND r.id BETWEEN ? AND ? ORDER BY r.id",
            between,
        )
        for row in rows:
            sources = embedding_cache.sources(
                read_json(row["text"], f"the text of {row['address']}"),
                picture=layout.image("library", row["address"]),
                image_hash=row["image_hash"],
                embedder=embedder,
            )
            yield _Wanted(row["id"], sources)

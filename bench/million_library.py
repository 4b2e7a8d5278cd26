"""A library of a million records, made without importing or promoting: rows, vectors and files.

What is not real: texts are drawn from a few hundred words; vectors are those of `million_vectors`; the
records share some pictures (hard links), while the catalog gives each a hash and a fingerprint of its own,
and says that all were compared, and looked at without finding a fault or a text; each was imported and never
decided on; Chroma has none of it. Everything else is what the program itself writes.
"""

import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bench.million_vectors import DIMENSIONS, PIECE, Piece, pieces
from bench.pending import _picture as drawn_picture
from store.catalog import checksums, unfit_words
from store.catalog.confusables import spelling
from store.disk.files import content_hash
from store.disk.layout import Layout
from store.disk.sidecars import stat_text
from store.duplicates import alignment, examiner, fingerprints
from store.duplicates.duplicates import least_cosine
from store.embedding import embedding_cache, open_embedder
from store.operations import State, state_json
from store.pictures import picture_texts
from store.records import CAPTION_FACETS, FACETS, Facet
from store.runtime import open_library
from store.vectors import matrix_files
from store.vectors.matrices import Segment, SegmentView

MODEL = "offline"
_LINKS = 50_000  # of one picture; ext4 allows 65,000
_GENERATION = 1
_BEGINNINGS = ["ba", "be", "da", "do", "fu", "ka", "lo", "mi", "no", "pe", "ra", "su", "ti", "wo", "ze"]
_ENDINGS = ["bble", "ctor", "dger", "ffle", "gon", "lly", "mmer", "nker", "pper", "rrot", "ssum", "zzard"]
_WORDS = [f"{first}{last}" for first in _BEGINNINGS for last in _ENDINGS]
_TAGS = ("dog", "cat", "frog", "moon", "rocket", "robot", "pizza", "ape", "bear", "ghost")


def made(root: Path, size: int, *, kind: str) -> Path:
    """A library of so many captioned records, with vectors like those of `kind`; made once."""
    mark = root / f"million-{kind}-{size}"
    if mark.exists():
        return root
    os.environ |= {"MEMEDEX_EMBEDDER": MODEL, "MEMEDEX_CHROMA": "off"}
    with open_library(root) as library:
        layout = library.layout
    db = sqlite3.connect(layout.catalog, isolation_level=None)
    checksums.install(db)
    for pragma in ("synchronous = OFF", "cache_size = -1000000", "wal_autocheckpoint = 100000"):
        db.execute(f"PRAGMA {pragma}")
    rows = _Rows(db, layout)
    views = (rows.add(number * PIECE, piece) for number, piece in enumerate(pieces(kind, size=size)))
    name = matrix_files.write(
        views, layout.matrices, count=size, dimensions=DIMENSIONS, generation=_GENERATION,
        fingerprint=rows.embedder.fingerprint,
    )  # fmt: skip
    rows.set_meta(**{matrix_files.NAMED: name})
    unfit = f"{unfit_words.SCHEME} {json.dumps(unfit_words.list_edits(db))}"
    rows.set_meta(duplicates=examiner.SCHEME, unfit=unfit, generation=_GENERATION)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("PRAGMA optimize")
    db.close()
    mark.touch()
    return root


@dataclass(frozen=True, slots=True)
class _Coin:
    """A record with what its rows hold."""

    number: int  # its row number in the catalog
    address: str
    sidecar: dict[str, Any]
    text: str
    picture: str  # a made-up hash
    stats: tuple[str, str]  # of its two files

    @property
    def hash(self) -> str:
        return content_hash(self.text.encode())


class _Rows:
    """Writes the rows of many records, and the files of those in the library."""

    def __init__(self, db: sqlite3.Connection, layout: Layout) -> None:
        self._db, self._layout = db, layout
        self.embedder = open_embedder(MODEL)
        self._random = np.random.default_rng(11)
        self._picture_key = embedding_cache.picture_keys(self.embedder)
        self._pictures = layout.root / "pictures"  # those that all records share
        self._pictures.mkdir()

    def set_meta(self, **values: str | int) -> None:
        self._insert("meta", list(values.items()), how="INSERT OR REPLACE")

    def add(self, start: int, piece: Piece) -> SegmentView:
        """Write these records; returns their rows for the files that search maps."""
        count = len(piece.vectors["image"])
        coins = [self._coin(start + at, at, piece) for at in range(count)]
        self._write_rows(coins, piece)
        segment = Segment.empty(rows=count, dimensions=DIMENSIONS)
        segment.vectors |= piece.vectors
        segment.present[:] = [piece.present[facet] for facet in FACETS]
        segment.addresses += [coin.address for coin in coins]
        segment.seal()
        return SegmentView(segment, count, None, segment.sums)

    def _write_rows(self, coins: list[_Coin], piece: Piece) -> None:
        self._db.execute("BEGIN")
        self._insert("sidecars", [(coin.hash, coin.text) for coin in coins])
        self._insert("records", [_record(coin) for coin in coins])
        self._insert("labels", [(coin.number, "tag", tag) for coin in coins for tag in coin.sidecar["tags"]])
        self._insert("labels", [(coin.number, "category", "other") for coin in coins])
        columns = "(rowid, name, ticker, description, caption, tags, picture)"
        self._insert(f"words {columns}", [_words(coin) for coin in coins])
        self._insert("spellings", [_spelling(coin) for coin in coins])
        likened = f"{self.embedder.fingerprint} {least_cosine(MODEL)} {alignment.SCHEME}"
        self._insert("likened", [(coin.picture, likened) for coin in coins])
        prints = [(coin.picture, self._random.bytes(fingerprints.SIZE), 1) for coin in coins]
        self._insert("fingerprints (image_hash, print, compared)", prints)
        self._insert("picture_faults", [(coin.picture, "") for coin in coins])
        if picture_texts.can_read():
            read = picture_texts.reader_name()
            self._insert("picture_texts", [(coin.picture, read, "", "") for coin in coins])
        columns = "(decision, verb, address, at, who, reason, before, after)"
        self._insert(f"history {columns}", [_event(coin) for coin in coins])
        own = [(at, coin, f) for at, coin in enumerate(coins) for f in FACETS if piece.present[f][at]]
        self._insert("embeddings", [(coin.number, f, self._key(coin, f)) for _, coin, f in own])
        vectors = ((self._key(coin, f), MODEL, piece.vectors[f][at].tobytes()) for at, coin, f in own)
        self._insert("vectors", vectors)
        self._db.execute("COMMIT")

    def _coin(self, number: int, at: int, piece: Piece) -> _Coin:
        address = f"local-{sha256(str(number).encode()).hexdigest()[:32]}"
        words = self._random.choice(_WORDS, 40).tolist()
        tags = sorted({_TAGS[number % 10], _TAGS[number // 10 % 10]})
        sidecar = {
            "token_name": f"{words[0]} {words[1]}".title(),
            "ticker": f"{words[2][:4]}{number % 1000}".upper(),
            "description": " ".join(words[3:15]),
            "token_address": address,
            "created_at": 1_700_000_000 + int(self._random.integers(0, 30_000_000)),
            "tags": tags,
            "tags_categories": ["other"],
        }
        texts: dict[Facet, list[str]] = {
            "entity": words[15:21],
            "context": words[21:29],
            "visual": words[29:36],
            "emotions": words[36:],
        }
        sidecar["caption"] = {f: " ".join(texts[f]) for f in CAPTION_FACETS if piece.present[f][at]}
        text = json.dumps(sidecar, indent=2)
        picture = sha256(f"picture {number}".encode()).hexdigest()
        return _Coin(number + 1, address, sidecar, text, picture, self._write_files(address, number, text))

    def _write_files(self, address: str, number: int, text: str) -> tuple[str, str]:
        sidecar, image = self._layout.sidecar("library", address), self._layout.image("library", address)
        shared = self._pictures / f"{number // _LINKS}.jpg"
        if not shared.exists():
            shared.write_bytes(drawn_picture(self._random))
            for path in (sidecar, image):
                path.parent.mkdir(parents=True, exist_ok=True)
        sidecar.write_text(text)
        os.link(shared, image)
        return stat_text(sidecar), stat_text(image)

    def _key(self, coin: _Coin, facet: Facet) -> str:
        return self._picture_key(coin.picture) if facet == "image" else f"{coin.hash}{facet}"

    def _insert(self, into: str, rows: Iterable[tuple[Any, ...]], *, how: str = "INSERT") -> None:
        rows = iter(rows)
        first = next(rows)
        marks = ", ".join("?" * len(first))
        self._db.executemany(f"{how} INTO {into} VALUES ({marks})", chain([first], rows))


def _record(coin: _Coin) -> tuple[Any, ...]:
    own, made_at = coin.sidecar, float(coin.sidecar["created_at"])
    return (
        coin.number, coin.address, coin.address, "library", None, 1, coin.hash, coin.picture, *coin.stats,
        own["token_name"], own["ticker"], own["created_at"], 1, made_at, _GENERATION,
    )  # fmt: skip


def _words(coin: _Coin) -> tuple[Any, ...]:
    own, caption = coin.sidecar, coin.sidecar.get("caption", {})
    texts = (own["description"], "\n".join(caption.values()), "\n".join(own["tags"]))
    return (coin.number, own["token_name"], own["ticker"], *texts, "")


def _spelling(coin: _Coin) -> tuple[Any, ...]:
    own = spelling(coin.sidecar["token_name"], coin.sidecar["ticker"])
    return (coin.number, coin.picture, own.name, own.name_skeleton, own.ticker, own.ticker_skeleton)


def _event(coin: _Coin) -> tuple[Any, ...]:
    after = state_json(State("library", coin.hash, coin.picture))
    at = float(coin.sidecar["created_at"])
    return (f"made {coin.number // 500}", "import", coin.address, at, "bench", "tokens.json", None, after)

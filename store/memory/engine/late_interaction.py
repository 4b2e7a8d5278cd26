"""The first entries of an answer ordered by late interaction: each word of the question, in its context, is
compared with each word of the entry.

An entry's closeness is the mean, over the question's tokens, of the highest cosine to one of the entry's
(source: Khattab and Zaharia 2020), with the last layer's states of the same model that makes
the vectors. Measured in `bench/retrieval.py`. States are stored at 4 bits a number with the entries and
computed for those that have none; triggers delete them with their text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from store.disk.sqlite_values import marks
from store.embedding.protocol import TokenEmbedder, unit
from store.memory.engine.database import Database
from store.memory.engine.fusion import EntryHit
from store.memory.engine.kind import MemoryKind

FIRST = 30  # entries that are ordered; the right one is among the first 20 as often
_BATCH = 64  # entries whose states are computed and stored together
_STEPS = 7  # on either side of 0: a number has 4 bits

States = NDArray[np.float32]


def packed(states: States) -> bytes:
    """Unit rows of an even length as bytes, each number as a share of its row's largest."""
    largest = np.abs(states).max(axis=1, keepdims=True, initial=1e-12)
    steps = (np.rint(states / largest * _STEPS) + _STEPS + 1).astype(np.uint8)
    pairs: NDArray[np.uint8] = steps[:, 0::2] << 4 | steps[:, 1::2]
    return pairs.tobytes()


def unpacked(stored: bytes, dimensions: int) -> States:
    """The unit rows of `packed`, within 4 bits."""
    pairs = np.frombuffer(stored, np.uint8).reshape(-1, dimensions // 2)
    steps = np.empty((len(pairs), dimensions), np.float32)
    steps[:, 0::2], steps[:, 1::2] = pairs >> 4, pairs & 15
    return unit(steps - (_STEPS + 1))


def closeness(question: States, entry: States) -> float:
    """The mean of the best cosines: from -1 to 1, 0 if one of them has no tokens."""
    if not len(question) or not len(entry):
        return 0.0
    return float((question @ entry.T).max(axis=1).mean())


def add_states(database: Database, kind: MemoryKind, ids: Sequence[str], model: TokenEmbedder) -> None:
    """Compute and store the states of those of these entries that have none of this model."""
    for start in range(0, len(ids), _BATCH):
        part = ids[start : start + _BATCH]
        with database.reading() as db:
            rows = db.execute(
                f"SELECT id, {kind.text} AS text FROM {kind.table} WHERE id IN ({marks(part)}) "
                "AND id NOT IN (SELECT id FROM token_states WHERE model = ?)",
                [*part, model.name],
            ).fetchall()
        if not rows:
            continue
        states = model.embed_tokens([row["text"] for row in rows])
        with database.recording() as db:
            for row, own in zip(rows, states, strict=True):
                db.execute(  # unless it was changed or removed meanwhile
                    "INSERT OR REPLACE INTO token_states SELECT id, ?, ?, ? "
                    f"FROM {kind.table} WHERE id = ? AND {kind.text} = ?",
                    [model.name, own.shape[1], packed(own), row["id"], row["text"]],
                )


def stored_states(database: Database, ids: Sequence[str], model: str) -> dict[str, States]:
    """The stored states of these entries by this model, by id."""
    with database.reading() as db:
        rows = db.execute(
            f"SELECT * FROM token_states WHERE model = ? AND id IN ({marks(ids)})", [model, *ids]
        ).fetchall()
    return {row["id"]: unpacked(row["states"], row["dimensions"]) for row in rows}


def ordered(hits: Sequence[EntryHit], question: States, states: Mapping[str, States]) -> list[EntryHit]:
    """The first hits by their closeness, then the others, none with a higher score than the last of them."""
    first = []
    for hit in hits[:FIRST]:
        close = closeness(question, states[hit.row["id"]])
        first.append(replace(hit, score=close, late_interaction=close))
    first.sort(key=lambda hit: (-hit.score, hit.row["id"]))
    least = first[-1].score if first else 0.0
    return first + [replace(hit, score=min(hit.score, least)) for hit in hits[FIRST:]]

"""What it takes to adopt a text memory of other programs, as a Markdown table.

    python -m bench.adopt_memory                                # 100,000 memories, a database of 200 MB
    python -m bench.adopt_memory --megabytes 1000 --keep /some/folder

Each adoption runs in a process of its own, whose memory is measured together with Chroma's processes; its
model counts every text that it embeds beyond the sample.
"""

import argparse
import json
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import process_memory
from bench.memory import words
from store.adopting.system import AdoptionRequest
from store.adopting.systems import adopt_texts, memory_system, recognise
from store.chroma.documents import CollectionWriter, Texts
from store.memory.memory import Memory
from store.memory.transcripts.tables import TABLES
from store.progress import Progress

SAMPLE = 512  # texts whose vectors are the model's own, so that the check of a sample agrees
BATCH = 2_000
DIMENSIONS = 3072
MODEL = "text-embedding-3-large"


class Counting:
    """A model without weights; it knows the vector of a text by its words."""

    name = fingerprint = status = "bench"
    dimensions = 384
    token_limit = 256
    cross_modal_scale = 1.0
    requests = 0

    def warm(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.requests += len(texts)
        rows = [np.random.default_rng(list(text.encode())).standard_normal(self.dimensions) for text in texts]
        return unit(np.asarray(rows, np.float32))

    def embed_images(self, images: Sequence[object]) -> NDArray[np.float32]:
        raise NotImplementedError


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def make_memories(folder: Path, count: int) -> None:
    """A Chroma as reference 2 leaves it."""
    random, model = np.random.default_rng(2), Counting()
    writer = CollectionWriter(folder)
    for start in range(0, count, BATCH):
        texts = [f"memory {number}: {words(random, 20)}" for number in range(start, start + BATCH)]
        vectors = unit(random.standard_normal((BATCH, model.dimensions), dtype=np.float32))
        if start < SAMPLE:
            vectors[:SAMPLE] = model.embed_texts(texts[:SAMPLE])
        writer.add(
            "memories",
            Texts(
                ids=[f"mem_{1_700_000_000 + number}" for number in range(start, start + BATCH)],
                documents=texts,
                metadata=[{"timestamp": "2026-01-31T10:00:00Z", "tags": "one,two"}] * BATCH,
                vectors=[vector.tobytes() for vector in vectors],
            ),
        )
    writer.close()


def make_transcripts(path: Path, megabytes: int) -> None:
    """A database as reference 5 leaves it: to each message a vector of 3,072 numbers and an event."""
    random = np.random.default_rng(5)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES)
        db.execute("PRAGMA synchronous = OFF")
        for number in rows_for(path, megabytes):
            session, text = f"s{number // 100}", words(random, 60)
            role, kind = ("user", "user_query") if number % 2 == 0 else ("assistant", "assistant_response")
            content = text if role == "user" else [{"type": "text", "text": text}]
            vector = unit(random.standard_normal((1, DIMENSIONS), dtype=np.float32))[0]
            id = f"{session}_msg_{number}"
            db.execute(
                "INSERT INTO transcripts "
                "(id, user_id, session_id, project_slug, sequence, role, content, ts) "
                "VALUES (?, 'ann', ?, 'bench', ?, ?, ?, '2026-02-01T10:00:00Z')",
                [id, session, number, role, json.dumps(content)],
            )
            db.execute(
                "INSERT INTO transcript_vectors (id, parent_id, user_id, session_id, content_type, "
                "span_end, token_count, source_text, vector, embedding_model) "
                "VALUES (?, ?, 'ann', ?, ?, ?, 80, ?, ?, ?)",
                [f"{id}_{kind}_0", id, session, kind, len(text), text, vector.tobytes(), MODEL],
            )
            db.execute(
                "INSERT INTO events (id, user_id, session_id, sequence, event, ts, lvl, data) "
                "VALUES (?, 'ann', ?, ?, 'tool:pre', '2026-02-01T10:00:00Z', 'INFO', '{}')",
                [f"{id}_evt", session, number],
            )
            if number % 1_000 == 0:
                db.commit()
        db.commit()


def rows_for(path: Path, megabytes: int) -> Iterator[int]:
    """Numbers until the file is as large."""
    number = 0
    while number % 1_000 or path.stat().st_size < megabytes * 1_000_000:
        yield number
        number += 1


def adopt(root: Path, source: Path) -> None:
    """Adopt it, again, and undo it; print after each step, as JSON, what it took. In a process of its own."""
    model, found = Counting(), dict[str, object]()

    def done(step: str, begun: float, **figures: int) -> None:
        found.update({step: time.perf_counter() - begun, **figures})
        print(json.dumps(found), flush=True)

    with Memory.open(root, embedder=model) as memory:
        begun = time.perf_counter()
        (survey,) = (one for one in recognise(source) if memory_system(one.system))
        report = adopt_texts(memory, [survey], AdoptionRequest(""), Progress())
        done(
            "adopted", begun, taken=len(report.taken), reused=report.reused, embedded=report.embedded,
            refused=len(report.refused), requests=model.requests,
        )  # fmt: skip
        begun = time.perf_counter()
        report = adopt_texts(memory, [survey], AdoptionRequest(""), Progress())
        done("again", begun, present=len(report.present))
        begun = time.perf_counter()
        memory.undo()
        done("undone", begun, left=sum(memory.status().counts.values()))


def measured(root: Path, source: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.adopt_memory", "--adopt", str(root), str(source)]
    output, memory = process_memory.run(command)
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return {**found, "peak": memory.whole / 1e6, "own": memory.own / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=200, help="of the transcript database")
    parser.add_argument("--keep", type=Path, help="keep what is made here, for the next run")
    parser.add_argument("--adopt", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.adopt:
        adopt(*arguments.adopt)
        return
    with tempfile.TemporaryDirectory(prefix="memedex-bench-") as temporary:
        place = arguments.keep or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        chroma, database = place / f"chroma-{arguments.memories}", place / f"s-{arguments.megabytes}.db"
        if not chroma.exists():
            make_memories(chroma, arguments.memories)
        if not database.exists():
            make_transcripts(database, arguments.megabytes)
        print(f"{platform.platform()}, Python {platform.python_version()}\n")
        columns = "source|taken|vectors reused|texts embedded|adopted in|again in|undone in|memory"
        print(f"| {columns.replace('|', ' | ')} |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for name, source in (
            (f"{arguments.memories:,} memories in a Chroma", chroma),
            (f"a transcript database of {database.stat().st_size / 1e6:,.0f} MB", database),
        ):
            found = measured(Path(temporary) / f"root-{source.name}", source)
            print(
                f"| {name} | {found['taken']:,} | {found['reused']:,} | {found['embedded']:,} | "
                f"{found['adopted']:.0f} s | {found['again']:.0f} s | {found['undone']:.0f} s | "
                f"{found['peak']:.0f} MB, {found['own']:.0f} without pages of files |"
            )
            assert (found["refused"], found["left"]) == (0, 0), found


if __name__ == "__main__":
    main()

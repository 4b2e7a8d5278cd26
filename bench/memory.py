"""How fast the text memory imports, retrieves and searches, as Markdown tables.

    python -m bench.memory                          # 100,000 messages and 1,000,000 events, some five minutes
    python -m bench.memory --messages 10000 --events 100000 --keep /some/folder

No figure includes the model's own time: it answers at once, with vectors around a hundred subjects.
"""

import argparse
import json
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from store.memory.chroma.follower import MemoryFollower
from store.memory.inspect.probe import probe
from store.memory.memory import Memory
from store.memory.transcripts.events import EventFilter

DIMENSIONS = 384
SUBJECTS = 100
ROUNDS = 15
SESSIONS = 100
SYLLABLES = "ka lo mi ne ru sa ti vo wen zu bar del fin gor hal jun".split()  # noqa: SIM905
LEVELS = ("INFO", "INFO", "INFO", "WARNING", "ERROR")
TOOLS = ("read_file", "write_file", "run_tests", "search", "fetch")
Array = np.ndarray


class Subjects:
    """An embedder whose vectors cost nothing: each text lies around the subject its hash chooses."""

    name = fingerprint = status = "bench"
    dimensions = DIMENSIONS
    token_limit = 256
    cross_modal_scale = 1.0

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._subjects = self._unit(self._random.standard_normal((SUBJECTS, DIMENSIONS), dtype=np.float32))

    def warm(self) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_texts(self, texts: Sequence[str]) -> Array:
        noise = self._random.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)
        subjects = self._subjects[self._random.integers(SUBJECTS, size=len(texts))]
        return self._unit(subjects + noise / np.sqrt(DIMENSIONS) * 1.4)

    def embed_images(self, images: Sequence[object]) -> Array:
        raise NotImplementedError

    @staticmethod
    def _unit(rows: Array) -> Array:
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def words(random: np.random.Generator, count: int) -> str:
    """A text of made-up words, common ones more often than rare ones."""
    numbers = np.minimum(random.zipf(1.3, size=count), 4095)
    return " ".join("".join(SYLLABLES[(n >> shift) & 15] for shift in (0, 4, 8)) for n in numbers.tolist())


def write_sessions(folder: Path, *, messages: int, events: int) -> None:
    """Recorded sessions as folders: questions, answers with thinking, output of tools, and events."""
    random = np.random.default_rng(2)
    for number in range(SESSIONS):
        session = folder / f"session-{number:03}"
        session.mkdir(parents=True)
        (session / "metadata.json").write_text(
            json.dumps({"user_id": "bench", "project_slug": f"p{number % 7}"})
        )
        with (session / "transcript.jsonl").open("w") as file:
            for place in range(messages // SESSIONS):
                text = words(random, 40)
                content: object = text
                role = ("user", "assistant", "tool", "assistant")[place % 4]
                if role == "assistant":
                    content = [{"type": "text", "text": text}]
                line = {"role": role, "content": content, "turn": place // 4, "ts": 1_700_000_000 + place}
                file.write(json.dumps(line) + "\n")
        with (session / "events.jsonl").open("w") as file:
            for place in range(events // SESSIONS):
                data = {"tool_name": TOOLS[place % 5], "path": f"file{place % 97}.py"}
                line = {
                    "event": f"type_{place % 11}",
                    "ts": 1_700_000_000 + place,
                    "data": data,
                    "lvl": LEVELS[place % 5],
                }
                file.write(json.dumps(line) + "\n")


def median(act: Callable[[], object]) -> float:
    """Milliseconds; a first time does not count."""
    act()
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        act()
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def once(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def searches(memory: Memory) -> Iterator[tuple[str, float]]:
    """The query, and its median in milliseconds."""
    random = np.random.default_rng(3)
    chunks, transcripts = memory.passages["transcript_vectors"], memory.transcripts
    rare = [words(random, 1) for _ in range(400)]
    counts = sorted((chunks.count(words=word), word) for word in set(rare))
    few = next(word for count, word in counts if count >= 5)
    many = counts[-1][1]

    def question() -> str:
        return words(random, 8)

    yield "probe, all chunks, with near misses", median(lambda: probe(chunks, question(), n=5))
    where = {"content_type": ["user_query"], "session_id": "session-042"}
    yield "probe with filters", median(lambda: probe(chunks, question(), n=5, where=where))
    yield "semantic search, ten messages", median(lambda: transcripts.search(question(), mode="semantic"))
    yield (
        "semantic with MMR (λ = 0.5)",
        median(lambda: transcripts.search(question(), mode="semantic", mmr=0.5)),
    )
    yield "full text, a rare word", median(lambda: transcripts.search(few, mode="full_text"))
    yield "full text, a word of most messages", median(lambda: transcripts.search(many, mode="full_text"))
    yield "hybrid, a rare word", median(lambda: transcripts.search(few, mode="hybrid"))
    yield "hybrid, a word of most messages", median(lambda: transcripts.search(many, mode="hybrid"))
    yield "a page of the table, by words", median(lambda: chunks.find(words=few, limit=50))
    yield "the last page of the table", median(lambda: chunks.find(offset=chunks.count() - 50, limit=50))
    for name, asked in (
        ("type", EventFilter(event="type_3")),
        ("tool and level", EventFilter(tool_name="fetch", lvl="ERROR")),
        ("date range", EventFilter(since="2023-11-14", until="2023-11-14")),
        ("session", EventFilter(session_id="session-042")),
    ):
        yield f"a page of events by {name}", median(partial(transcripts.find_events, asked))
        yield "… and how many pass", median(partial(transcripts.count_events, asked))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="where the memory is made, or is already")
    arguments = parser.parse_args()
    MemoryFollower.wake = lambda self: None  # type: ignore[method-assign]  # Chroma has its own table in bench.library
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as made:
        root = arguments.keep or Path(made) / "res"
        is_new = not (root / "memory").exists()
        with Memory.open(root, embedder=Subjects()) as memory:
            if is_new:
                import_sessions(
                    memory, Path(made) / "sessions", messages=arguments.messages, events=arguments.events
                )
            ready = once(memory.passages["transcript_vectors"].resident)
            print(
                f"| search over {memory.passages['transcript_vectors'].count():,} chunks and "
                f"{memory.transcripts.count_events():,} events | ms |\n| --- | ---: |"
            )
            for name, milliseconds in searches(memory):
                print(f"| {name} | {milliseconds:,.1f} |")
        size = sum(path.stat().st_size for path in (root / "memory").glob("*.sqlite3"))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"\nVectors loaded in {ready:.1f} s; {most:,.0f} MB of memory at most, files of {size / 1e6:,.0f} MB."
    )


def import_sessions(memory: Memory, folder: Path, *, messages: int, events: int) -> None:
    """Import everything, then one session again."""
    write_sessions(folder, messages=messages, events=events)
    seconds = once(lambda: memory.transcripts.import_sessions([folder]))
    again = once(lambda: memory.transcripts.import_sessions([folder / "session-000"]))
    rows = messages + events
    print("| import | seconds | rows a second |\n| --- | ---: | ---: |")
    print(f"| {messages:,} messages and {events:,} events | {seconds:,.1f} | {rows / seconds:,.0f} |")
    print(
        f"| one session again ({rows // SESSIONS:,} rows) | {again:,.2f} | {rows / SESSIONS / again:,.0f} |\n"
    )


if __name__ == "__main__":
    main()

"""Search with a Chroma server's candidates beside the exact search in memory, as a Markdown table.

    python -m bench.server_search --records 50000
    python -m bench.server_search --records 200000 --minutes 60    # those that the server took in an hour
    python -m bench.server_search --records 200000 --perfect       # lists that miss nothing, without a server

A real `chroma run` on loopback has the four caption collections, a catalog the vectors. Both searches get the
same questions; recall@10 is the share of the exact search's first ten among those of the other. The data are
made up, 768 dimensions, a third of `visual` and of `emotions` missing: `captions` correlate as those of the
demo library do (two facets of a record are closer to each other than to those of others, most variance lies
in some hundred directions), `random` points anywhere, the hardest case for an index of nearest neighbours.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import httpx
import numpy as np

from bench.library import Instant
from bench.perfect_lists import PerfectLists
from bench.search import resident
from store.catalog.catalog import Catalog
from store.chroma.collections import COLLECTIONS, Point, made_with
from store.chroma.nearest import ServerLists
from store.chroma.server import ChromaServer, ServerCollections
from store.disk.files import Disk
from store.disk.layout import Layout
from store.embedding.active_model import ActiveModel
from store.embedding.arrays import Vector
from store.records import FACETS, Facet
from store.runtime import open_library
from store.search import server_query, server_search
from store.search.directions import QueryDirections
from store.search.library_facts import LibraryFactsReader
from store.search.query import Part, Query
from store.search.search import Results, Search
from store.search.server_search import ServerSearch
from store.vectors.matrices import load

PORT = 8917
DIMENSIONS = 768
_PIECE = 4_096
_SUBJECTS = 500
_MEAN = {"image": 0.54, "entity": 0.42, "context": 0.36, "visual": 0.52, "emotions": 0.50}  # of each facet
_COMMON = {"image": 0.05, "entity": 0.54, "context": 0.40, "visual": 0.30, "emotions": 0.22}  # of a record
_MOVED: dict[Facet, float] = {"entity": 1.0, "context": 3.0, "visual": 4.0, "emotions": 2.0}

Row = dict[Facet, Vector]


class Corpus:
    """Made-up records, always the same ones, and questions about them."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        random = np.random.default_rng(20)
        self._spectrum = random.permutation(np.exp(-np.arange(DIMENSIONS) / 100)).astype(np.float32)
        middle = random.standard_normal((1, DIMENSIONS), dtype=np.float32)
        apart = random.standard_normal((len(FACETS), DIMENSIONS), dtype=np.float32)
        self._means = _unit(_unit(middle) + np.float32(0.6) * _unit(apart))
        self._subjects = self._drawn(random, _SUBJECTS)

    def rows(self, count: int) -> Iterator[tuple[str, Row]]:
        """So many records."""
        for start in range(0, count, _PIECE):
            random = np.random.default_rng([7, start])
            size = min(_PIECE, count - start)
            about = self._about(random, size)
            made = {facet: self._facet(facet, about, random) for facet in FACETS}
            has = {facet: random.random(size) >= (facet in ("visual", "emotions")) / 3 for facet in FACETS}
            for at in range(size):
                yield f"0x{start + at:040x}", {facet: made[facet][at] for facet in FACETS if has[facet][at]}

    def questions(self, count: int) -> Vector:
        """(count, d)."""
        random = np.random.default_rng(3)
        return self._facet("entity", self._about(random, count), random)

    def _about(self, random: np.random.Generator, count: int) -> Vector:
        subjects = self._subjects[random.integers(0, _SUBJECTS, count)]
        return _unit(np.float32(0.5) * subjects + np.float32(0.5) * self._drawn(random, count))

    def _facet(self, facet: Facet, about: Vector, random: np.random.Generator) -> Vector:
        if self._kind == "random":
            return _unit(random.standard_normal(about.shape, dtype=np.float32))
        mean, common = _MEAN[facet], _COMMON[facet]
        rest = np.float32((1 - mean**2 - common**2) ** 0.5) * self._drawn(random, len(about))
        return _unit(np.float32(mean) * self._means[FACETS.index(facet)] + np.float32(common) * about + rest)

    def _drawn(self, random: np.random.Generator, count: int) -> Vector:
        return _unit(random.standard_normal((count, DIMENSIONS), dtype=np.float32) * self._spectrum)


class Questions(Instant):
    """A model that knows the vectors of the questions, whose texts are their numbers."""

    def __init__(self, vectors: Vector) -> None:
        super().__init__()
        self._vectors = vectors

    def embed_texts(self, texts: object) -> np.ndarray:
        assert isinstance(texts, list)
        return np.stack([self._vectors[int(text)] for text in texts])


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--kinds", nargs="+", default=["captions", "random"])
    parser.add_argument("--minutes", type=float, default=np.inf, help="to fill the server in at most")
    parser.add_argument("--perfect", action="store_true", help="lists from all vectors, without a server")
    parser.add_argument("--port", type=int, default=PORT)
    options = parser.parse_args()
    head = ("records", "data", "search", "recall@10", "proved / stable / approximate", "candidates")
    print("|", " | ".join((*head, "first query, ms", "other weights, ms", "memory, MB")), "|")
    print("| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for kind in options.kinds:
        with tempfile.TemporaryDirectory(prefix="memedex-bench-") as folder:
            run(Path(folder), kind, options)


def run(folder: Path, kind: str, options: argparse.Namespace) -> None:
    """Measure every way on one kind of data, and print its rows."""
    records, questions = options.records, options.questions
    corpus = Corpus(kind)
    embedder = Questions(corpus.questions(questions))
    os.environ |= {"MEMEDEX_CHROMA": "off"}
    open_library(folder, embedder=embedder).close()
    layout, catalog = Layout(folder), Catalog(Layout(folder).catalog, disk=Disk(), writable=True)
    with ExitStack() as used:
        lists: ServerLists | PerfectLists
        if options.perfect:
            lists = PerfectLists(corpus.rows(records))
        else:
            server = used.enter_context(chroma_run(folder / "server", options.port))
            began = time.perf_counter()
            rows = _until(began + 60 * options.minutes, corpus.rows(records))
            records = _fill_server(server, catalog.owner, rows)
            print(f"{records:,} on the server in {time.perf_counter() - began:,.0f} s", file=sys.stderr)
            used.callback(_print_server, folder / "server")
            lists = ServerLists(server, model=embedder.name, owner=catalog.owner)
            used.callback(lists.close)
        _fill_catalog(catalog, corpus.rows(records))
        before, began = resident(), time.perf_counter()
        facts = LibraryFactsReader(catalog, layout, ActiveModel(catalog, embedder), Disk()).facts()
        print(f"facts read in {time.perf_counter() - began:,.1f} s", file=sys.stderr)
        asked: dict[str, tuple[list[Results], list[Results], float]] = {}
        for first, most in ((300, 300), (1_024, 1_024), (3_000, 3_000), (1_024, 4_096)):
            server_query.FIRST, server_search.MOST = first, most
            own = ServerSearch(catalog, lists, facts, QueryDirections(embedder), embedder)
            label = f"server, {first:,} from each list" if first == most else "server, as it is"
            asked[label] = *_ask(own.search, questions), resident() - before
    before = resident()
    exact = Search(load(corpus.rows(records), dimensions=DIMENSIONS), embedder=embedder)
    truth, moved = _ask(exact.search, questions)
    for label, (firsts, seconds, memory) in {"memory": (truth, moved, resident() - before), **asked}.items():
        levels = [one.certainty.level for one in firsts]
        counts = " / ".join(str(levels.count(level)) for level in ("proved", "stable", "approximate"))
        recall = [
            len({hit.address for hit in own.hits[:10]} & {hit.address for hit in right.hits[:10]}) / 10
            for ours, rights in ((firsts, truth), (seconds, moved))
            for own, right in zip(ours, rights, strict=True)
        ]
        print(
            f"| {records:,} | {kind} | {label} | {statistics.mean(recall):.3f} | "
            f"{counts if label != 'memory' else 'exact'} | "
            f"{statistics.median(one.certainty.candidates for one in firsts):,.0f} | "
            f"{_milliseconds(firsts)} | {_milliseconds(seconds)} | {memory:,.0f} |",
            flush=True,
        )
    catalog.close()


def _ask(search: Callable[[Query], Results], questions: int) -> tuple[list[Results], list[Results]]:
    """The answers to every question, with the usual weights and with others."""
    search(Query((Part(text="0", facets=("entity",)),)))  # connects
    firsts = [search(Query((Part(text=str(number)),))) for number in range(questions)]
    return firsts, [search(Query((Part(text=str(n)),), weights=_MOVED)) for n in range(questions)]


def _milliseconds(results: list[Results]) -> str:
    taken = sorted(1000 * one.seconds for one in results)
    return f"{statistics.median(taken):,.0f} (p95 {taken[int(0.95 * len(taken))]:,.0f})"


def _fill_catalog(catalog: Catalog, rows: Iterator[tuple[str, Row]]) -> None:
    with catalog.writing() as db:
        db.execute("INSERT INTO sidecars VALUES ('none', '{}')")
        for number, (address, own) in enumerate(rows, start=1):
            db.execute(
                "INSERT INTO records "
                "VALUES (?, ?, ?, 'library', NULL, 1, 'none', '', '', '', '', '', 0, 1, 0, 1)",
                [number, address, address],
            )
            for facet, vector in own.items():
                key = f"{number * len(FACETS) + FACETS.index(facet):016x}{address[2:]}"
                db.execute("INSERT INTO embeddings VALUES (?, ?, ?)", [number, facet, key])
                db.execute("INSERT INTO vectors VALUES (?, 'instant', ?)", [key, vector.tobytes()])


def _until(end: float, rows: Iterator[tuple[str, Row]]) -> Iterator[list[tuple[str, Row]]]:
    """The rows in groups that are put together, until this moment."""
    while (group := list(islice(rows, _PIECE))) and time.perf_counter() < end:
        yield group


def _fill_server(server: ChromaServer, owner: str, groups: Iterator[list[tuple[str, Row]]]) -> int:
    """Put all groups, into the four collections at once; returns how many records they are."""
    collections = ServerCollections(server, dict.fromkeys(COLLECTIONS.values(), made_with("instant", owner)))
    captions = {facet: name for facet, name in COLLECTIONS.items() if facet != "image"}
    for name in captions.values():
        collections.begin(name, model="instant")
    count = 0
    with ThreadPoolExecutor(len(captions)) as threads:
        for group in groups:
            put = partial(_put, collections, group)
            list(threads.map(put, captions.items()))
            count += len(group)
            print(f"\r{count:,} on the server", end="", file=sys.stderr, flush=True)
    collections.close()
    return count


def _put(collections: ServerCollections, group: list[tuple[str, Row]], into: tuple[Facet, str]) -> None:
    facet, name = into
    points = [Point(address, own[facet].tobytes(), {}) for address, own in group if facet in own]
    collections.put(name, points, gone=[])


@contextmanager
def chroma_run(folder: Path, port: int = PORT) -> Iterator[ChromaServer]:
    """A real server, ended with the block."""
    program = str(Path(sys.executable).parent / "chroma")
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = ChromaServer(f"http://127.0.0.1:{port}")
    try:
        for _ in range(300):
            try:
                httpx.get(f"{server.url}/api/v2/heartbeat", timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield server
        peak = next(
            line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if "VmHWM" in line
        )
        user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        spent = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        print(f"server's memory: {peak}; processor: {spent:,.0f} s", file=sys.stderr)
    finally:
        process.kill()
        process.wait()


def _print_server(folder: Path) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"server's disk: {size / 1e6:,.0f} MB", file=sys.stderr)


def _unit(rows: Vector) -> Vector:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


if __name__ == "__main__":
    main()

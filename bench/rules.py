"""Rules and families in a large library: judging 70,000 coins, previews, checks, and undo of a run.

python -m bench.rules ROOT [--size 100000]     # ROOT: an empty folder, used again the next time
"""

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np

from bench import million_library
from bench.library import Instant, coins
from bench.measuring import machine, milliseconds, print_head, spread
from store.catalog import checksums
from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.reading.reader import Reader
from store.rules import families, matching, preview, running
from store.rules.rule import Rule, checked
from store.runtime import open_library, open_reader

_ASKED = 300
_COPIES, _PENDING, _DECIDED = 0.2, 0.7, 0.05  # of all coins
_MARK = "rules were prepared"


def prepare(root: Path, size: int) -> None:
    """Most coins wait for review, a fifth are mirrored copies of others, some were decided lately."""
    million_library.made(root, size, kind="random")
    db = sqlite3.connect(Layout(root).catalog, isolation_level=None)
    checksums.install(db)
    if db.execute("SELECT 1 FROM meta WHERE key = ?", [_MARK]).fetchone():
        return
    copies, pending, decided = (int(size * share) for share in (_COPIES, _PENDING, _DECIDED))
    db.execute("BEGIN")
    pairs = (
        "FROM records c JOIN records o ON o.id = c.id + ? WHERE c.id <= ?",
        [size - decided - copies, copies],
    )
    for one, other in (("c", "o"), ("o", "c")):
        db.execute(
            f"INSERT OR IGNORE INTO lookalikes SELECT {one}.image_hash, {other}.image_hash, 10, 1 {pairs[0]}",
            pairs[1],
        )
        db.execute(f"INSERT OR IGNORE INTO suspicions SELECT {one}.id, 0.87, 'mirrored' {pairs[0]}", pairs[1])
    db.execute("UPDATE records SET tier = 'pending', generation = 2 WHERE id <= ?", [pending])
    for verb, tier, odd in (("approve", "approved", 0), ("reject", "trash", 1)):
        chosen = "WHERE id > ? AND id % 2 = ?"
        db.execute(
            "INSERT INTO history (decision, verb, address, at, who, reason, before, after) "
            "SELECT 'bench ' || id, ?, address, ?, 'ann', '', "
            "json_object('tier', 'pending', 'sidecar_hash', sidecar_hash, 'image_hash', image_hash, "
            "'came_from', NULL), json_object('tier', ?, 'sidecar_hash', sidecar_hash, "
            f"'image_hash', image_hash, 'came_from', NULL) FROM records {chosen}",
            [verb, time.time(), tier, size - decided, odd],
        )
        db.execute(f"UPDATE records SET tier = ?, generation = 2 {chosen}", [tier, size - decided, odd])
    db.execute("UPDATE meta SET value = 2 WHERE key = 'generation'")
    db.execute("INSERT INTO meta VALUES (?, 1)", [_MARK])
    db.execute("COMMIT")
    db.close()


def rules() -> dict[str, Rule]:
    """Three rules, by what they ask."""
    return {
        "words and tags": checked({"name": "a", "do": "hold", "when": "badger -tag:dog"}),
        "numbers of the sidecars": checked({"name": "b", "do": "reject", "when": "created_at:>1710000000"}),
        "mirrored, the other is older": checked(
            {"name": "c", "do": "reject", "when": "dup:mirrored", "other": "older", "sure": 0.8}
        ),
    }


def times(work: Callable[[int], object], count: int) -> list[float]:
    return [milliseconds(lambda number=number: work(number)) for number in range(count)]  # type: ignore[misc]


def judged(reader: Reader) -> None:
    waiting = reader.count(Filter(tier="pending"))
    print_head("rule", f"{waiting:,} coins judged, s", "found", "preview beside people, s", "decisions")
    for name, rule in rules().items():
        found: list[matching.Match] = []
        took = milliseconds(lambda rule=rule, found=found: found.extend(matching.found(reader, rule)))  # type: ignore[misc]
        shown: list[preview.Preview] = []
        beside = milliseconds(lambda rule=rule, shown=shown: shown.append(preview.measure(reader, rule)))  # type: ignore[misc]
        print(
            f"| {name} | {took / 1000:.2f} | {len(found):,} | {beside / 1000:.2f} | {shown[0].decisions:,} |"
        )


def asked(reader: Reader) -> None:
    random = np.random.default_rng(3)
    rows = reader.catalog.rows("SELECT address, ticker, name FROM records")
    chosen = [rows[at] for at in random.integers(0, len(rows), _ASKED)]
    pictures = [path.read_bytes() for path in sorted((reader.layout.root / "pictures").iterdir())]
    families.check_picture(reader, pictures[0])  # reads the fingerprints
    print_head("asked", "ms")
    for name, work in {
        "check by address": lambda at: families.check(reader, chosen[at]["address"]),
        "check by ticker": lambda at: families.check(reader, chosen[at]["ticker"]),
        "check by name": lambda at: families.check(reader, chosen[at]["name"]),
        "check by picture": lambda at: families.check_picture(reader, pictures[at % len(pictures)]),
        "the tree of a family": lambda at: families.family(reader, chosen[at]["address"]),
        "family: in a line": lambda at: reader.addresses(Filter(family=chosen[at]["address"])),
    }.items():
        print(f"| {name} | {spread(times(work, 50 if 'picture' in name else _ASKED))} |")


def undone(count: int) -> None:
    """A run of so many coins, and its undo, in a library of its own with real files."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        library = opened.enter_context(open_library(folder, embedder=Instant()))
        with patch.object(library._follower, "wake"):
            library.add(list(coins(count)))
            running.save(
                library, checked({"name": "All", "do": "reject", "when": "tag:dog", "level": "one click"})
            )
            job = running.start(library, "All")
            assert job
            run = milliseconds(lambda: library.jobs.wait(job.id))
            used = time.process_time()
            back = milliseconds(lambda: library.undo())
            used = time.process_time() - used
            assert library.counts()["pending"] == count
    figures = (f"{seconds:.2f} s" for seconds in (run / 1000, back / 1000, used))
    print("\nA run of {:,} coins: {}; its undo: {}, of the processor {}".format(count, *figures))


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    given = parser.parse_args()
    prepare(given.root, given.size)
    print(f"{machine()}; {given.size:,} coins\n")
    with open_reader(given.root) as reader:
        judged(reader)
        asked(reader)
    undone(1_000)


if __name__ == "__main__":
    main()

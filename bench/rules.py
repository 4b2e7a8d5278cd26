"""Rules, families and the co-pilot: judging 70,000 coins, previews, checks, promises, and undo of a run.

python -m bench.rules ROOT [--size 100000]     # ROOT: an empty folder, used again the next time
python -m bench.rules --promises               # the co-pilot's alone, which need no library
python -m bench.rules --boosted                # the same with gradient boosting instead of its linear head
"""

import argparse
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from bench import million_library, stream
from bench.library import Instant, coins
from bench.measuring import machine, milliseconds, print_head, print_row, spread
from store import demo
from store.catalog import advice, checksums
from store.catalog.filters import Filter
from store.disk.layout import Layout
from store.reading.reader import Reader
from store.rules import copilot, families, learning, matching, past, preview, running
from store.rules.learning import Coin, Floats, Learner, Promise
from store.rules.rule import Rule, checked
from store.runtime import open_library, open_reader

_ASKED = 300
_BEARS = (0.01, 0.02, 0.05, 0.1)
_COPIES, _PENDING, _DECIDED = 0.2, 0.7, 0.05  # of all coins
_MARK = "rules were prepared"
_LETTERS = str.maketrans("0123456789", "ghijklmnop")


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


def replayed() -> None:
    """The co-pilot in a demo library with its recorded months."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        library = opened.enter_context(open_library(folder))
        with patch.object(library._follower, "wake"):
            demo.load(library)
            decided = past.decided(library, since=0)
            approved = sum(one.was == "approved" for one in decided)
            copilot.learn(library)
            said = copilot.standing(library, copilot.usual()).sentence
    print(f"\nThe demo's months, {approved} approved and {len(decided) - approved} rejected: {said}")


class Boosted:
    """Gradient boosting on the signals of the linear head, words in 64 directions of most variance."""

    def __init__(self, coins: Sequence[Coin], vectors: Floats, approved: NDArray[np.bool_]) -> None:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.ensemble import HistGradientBoostingClassifier

        self._linear = Learner.of(coins, vectors, approved)
        self._words = TruncatedSVD(64, random_state=1)
        self._trees = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.1, random_state=1)
        self._trees.fit(self._columns(coins, vectors, first=True), approved)

    of = classmethod(lambda cls, coins, vectors, approved: cls(coins, vectors, approved))

    def scores(self, coins: Sequence[Coin], vectors: Floats) -> NDArray[np.float64]:
        """How likely a person approves each coin, 0 to 1."""
        return np.asarray(self._trees.predict_proba(self._columns(coins, vectors))[:, 1], np.float64)

    def _columns(self, coins: Sequence[Coin], vectors: Floats, *, first: bool = False) -> NDArray[np.float64]:
        picture = self._linear.directions.shape[1]
        after = picture + learning._WORDS
        rows = self._linear._rows(coins, vectors).tocsc()
        words = rows[:, picture:after]
        numbers = [
            [(coin.numbers or {}).get(name, np.nan) for name in self._linear.columns] for coin in coins
        ]
        holds = rows[:, after : after + len(self._linear.holds)].toarray()
        seen = self._words.fit_transform(words) if first else self._words.transform(words)
        return np.hstack([rows[:, :picture].toarray(), seen, holds, np.array(numbers)])


def _alien(word: str) -> str:
    """The word; one of a theme is spelt so that its pieces do not say which, as the stream's own would."""
    place, _, letters = word.partition(" ")
    spelt = zlib.crc32(letters.encode()).to_bytes(4).hex().translate(_LETTERS)
    return f"{place} {spelt}" if letters[0] == "t" else word


def promises(count: int, *, splits: int, seed: int) -> None:
    """Cut a made stream at so many times: what was promised then, and what the next decisions were."""
    made = stream.made(count, seed=seed)
    made = replace(made, coins=[replace(coin, words=tuple(map(_alien, coin.words))) for coin in made.coins])
    step = count // (splits + 5)
    unlike = dict.fromkeys(_BEARS, 0)
    print_head("", *(f"{100 * bears:g} %" for bears in _BEARS))
    found: dict[float, list[tuple[float, float, float]]] = {bears: [] for bears in _BEARS}
    seconds = []
    for cut in range(count - splits * step, count, step):
        known = slice(max(0, cut - copilot.LEARNED), cut)
        began = time.process_time()
        coins, vectors, approved = made.coins[known], made.vectors[known], made.approved[known]
        scored = learning.in_time(coins, vectors, approved, go_on=lambda: True)
        learner = learning.Learner.of(coins, vectors, approved)
        seconds.append(time.process_time() - began)
        later = slice(cut, cut + step)
        scores = learner.scores(made.coins[later], made.vectors[later]).tolist()
        last = slice(cut - learning.LATEST, cut)
        before = copilot.Some(
            made.coins[last], made.vectors[last], [score for score, _ in scored[-learning.LATEST :]]
        )
        waiting = copilot.Some(made.coins[later], made.vectors[later], scores)
        told = list(zip(scores, made.approved[later].tolist(), strict=True))
        for bears in _BEARS:
            promise = Promise.of(scored, bears, step)
            if copilot.apart_from(before, waiting, promise) > learning.UNLIKE:
                unlike[bears] += 1
                promise = replace(promise, threshold=None)
            settled = [(score >= 0.5) == was for score, was in told if promise.settles(score)]
            wrong = settled.count(False) / len(settled) if settled else 0.0
            found[bears].append((promise.share, len(settled) / len(told), wrong))
    figures: dict[str, Callable[[list[tuple[float, float, float]]], str]] = {
        "share promised to be settled": lambda rows: f"{np.mean([row[0] for row in rows]):.0%}",
        "share settled of the next": lambda rows: f"{np.mean([row[1] for row in rows]):.0%}",
        "least of these": lambda rows: f"{min(row[1] for row in rows):.0%}",
        "most of these": lambda rows: f"{max(row[1] for row in rows):.0%}",
        "wrong, on average": lambda rows: f"{np.mean([row[2] for row in rows]):.1%}",
        "wrong, at most": lambda rows: f"{max(row[2] for row in rows):.1%}",
    }
    for what, figure in figures.items():
        print_row(what, *(figure(found[bears]) for bears in _BEARS))
    within = (sum(row[2] <= bears + 0.01 for row in found[bears]) for bears in _BEARS)
    print_row("promised nothing, since the next are unlike", *(f"{unlike[bears]}" for bears in _BEARS))
    print_row("no more than a point above the promise", *(f"{one} of {splits}" for one in within))
    print(
        f"\n{count:,} decisions, the next {step:,} after each cut; learning: {spread(seconds)} s of processor"
    )


def advised(root: Path) -> None:
    """How long the co-pilot takes to learn, and to look at all that waits."""
    with open_library(root) as library:
        with library.catalog.writing() as db:
            for table in ("copilots", "advice"):
                db.execute(f"DELETE FROM {table}")
        took = milliseconds(lambda: copilot.learn(library))
        with library.catalog.reading() as db:
            version = advice.latest(db)
        assert version
        count: list[int] = []
        looked = milliseconds(lambda: count.append(copilot.advise(library, version)))
        rule = copilot.usual()
        meant = milliseconds(lambda: matching.found(library, rule))
    print(
        f"\nThe co-pilot learned from {version.decisions:,} decisions in {took / 1000:.0f} s, looked at "
        f"{count[0]:,} coins in {looked / 1000:.0f} s; what it would settle: {meant / 1000:.1f} s"
    )


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--promises", action="store_true")
    parser.add_argument("--boosted", action="store_true")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.boosted:
        with patch.object(learning, "Learner", Boosted):
            promises(20_000, splits=given.splits, seed=given.seed)
        return
    if given.promises or given.root is None:
        print(f"{machine()}\n")
        promises(20_000, splits=given.splits, seed=given.seed)
        replayed()
        return
    prepare(given.root, given.size)
    print(f"{machine()}; {given.size:,} coins\n")
    with open_reader(given.root) as reader:
        judged(reader)
        asked(reader)
    advised(given.root)
    undone(1_000)


if __name__ == "__main__":
    main()

"""Retrieval measured: recall of documents and memories by meaning, by words, and by both, and false answers.

    python -m bench.retrieval [FOLDER WITH THE PAPERS]

Documents: the licences MPL 2.0, Apache 2.0, GPL 3 and PSF as installed packages carry them, and the two
protocol papers of `../shared/data` where they are. Each question has a phrase that the right passage holds.
"""

import csv
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import files
from pathlib import Path

from store.memory.engine import fusion
from store.memory.engine.fusion import PassageHit
from store.memory.memories import passes
from store.memory.memory import Memory

_HERE = Path(__file__).parent
_PAPERS = _HERE.parent.parent / "shared" / "data" / "documents"
_LICENCES = {
    "mpl": ("pathspec", "LICENSE"), "apache": ("mypy", "typeshed/LICENSE"), "gpl": ("scipy", "LICENSE.txt"),
    "psf": ("typing_extensions", "LICENSE"),
}  # fmt: skip
_PDFS = {"aave": "Aave_V3_Technical_Paper.pdf", "uniswap": "uniswap_whitepaper_v4.pdf"}
_DEPTHS = (1, 3, 5)
_K = 60  # of reciprocal rank fusion, as published

Order = Callable[[Sequence[PassageHit]], list[PassageHit]]


def by_meaning(hits: Sequence[PassageHit]) -> list[PassageHit]:
    return sorted(hits, key=lambda hit: -(hit.cosine or 0))


def by_words(hits: Sequence[PassageHit]) -> list[PassageHit]:
    return sorted(hits, key=lambda hit: -hit.words)


def by_ranks(hits: Sequence[PassageHit]) -> list[PassageHit]:
    """Reciprocal rank fusion; an entry without a word of the question has no rank by words."""
    meaning = {hit.row["id"]: 1 / (_K + rank) for rank, hit in enumerate(by_meaning(hits), start=1)}
    words = {hit.row["id"]: 1 / (_K + rank) for rank, hit in enumerate(by_words(hits), start=1) if hit.words}
    return sorted(hits, key=lambda hit: -(meaning[hit.row["id"]] + words.get(hit.row["id"], 0)))


def by_sum(weight: float) -> Order:
    return lambda hits: sorted(hits, key=lambda hit: -((hit.cosine or 0) + weight * hit.words))


ORDERS: dict[str, Order] = {
    "meaning": by_meaning, "words": by_words, "ranks": by_ranks,
    **{f"sum {weight}": by_sum(weight) for weight in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)}, "in use": list,
}  # fmt: skip


def table(name: str) -> list[list[str]]:
    with (_HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def documents(memory: Memory) -> None:
    """Import every document that is on this machine, and print recall by each rule."""
    for name, (package, end) in _LICENCES.items():
        path = next(one for one in files(package) or () if str(one).endswith(end))
        content = Path(str(path.locate())).read_bytes()
        memory.documents.import_document(Path(f"{name}.txt"), protocol=name, content=content)
    for name, file in _PDFS.items():
        if (_PAPERS / file).is_file():
            memory.documents.import_document(_PAPERS / file, protocol=name)
    known = memory.documents.protocols()
    texts = [_plain(row["content"]) for row in memory.documents.passages.find(limit=None)]
    questions = [row for row in table("retrieval_documents.tsv") if row[0] in known]
    held = [row for row in questions if any(_plain(row[1]) in text for text in texts)]
    for row in questions:
        if row not in held:
            print(f"no passage holds {row[1]!r} of {row[0]}")
    print(f"{len(known)} documents, {len(texts)} passages, {len(held)} questions over all of them")
    answers = [(_plain(row[1]), memory.documents.passages.best(row[2], n=100)) for row in held]
    for group, chosen in (
        ("all", answers),
        ("without the papers", [one for one, row in zip(answers, held, strict=True) if row[0] in _LICENCES]),
    ):
        print(f"-- {group}: {len(chosen)} questions")
        for name, order in ORDERS.items():
            ranks = [_rank(order(hits), phrase) for phrase, hits in chosen]
            print(_line(name, ranks))


def memories(memory: Memory) -> None:
    """Store the memories, and print how many paraphrases and unrelated questions are answered."""
    right: list[tuple[str, str]] = []
    for content, tags, question in table("retrieval_memories.tsv"):
        memory.memories.store_memory(content, [tag for tag in tags.split(",") if tag])
        if question:
            right.append((content, question))
    unrelated = (_HERE / "retrieval_unrelated.txt").read_text(encoding="utf-8").splitlines()
    passages = memory.memories.passages
    ranked = [(content, passages.best(question, n=60)) for content, question in right]
    others = [passages.best(question, n=60) for question in unrelated]
    print(f"{passages.count()} memories, {len(ranked)} paraphrases, {len(others)} unrelated questions")
    for name, order in ORDERS.items():
        ranks = [
            next((n for n, hit in enumerate(order(hits), 1) if hit.row["content"] == content), 999)
            for content, hits in ranked
        ]
        print(_line(name, ranks))
    for threshold in (20.0, 25.0, 30.0, 35.0):
        for name, does in (("meaning", _by_cosine), ("with words", passes)):
            found = sum(
                any(hit.row["content"] == content and does(hit, threshold) for hit in hits[:5])
                for content, hits in ranked
            )
            false = sum(any(does(hit, threshold) for hit in hits) for hits in others)
            print(f"{threshold:4.0f} % {name:11} right {found}/{len(ranked)}, false {false}/{len(others)}")
    print(f"weight of words: {fusion.WEIGHT}")


def _by_cosine(hit: PassageHit, threshold: float) -> bool:
    return 100 * (hit.cosine or 0) >= threshold


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


def _rank(hits: Sequence[PassageHit], phrase: str) -> int:
    return next((n for n, hit in enumerate(hits, 1) if phrase in _plain(hit.row["content"])), 999)


def _line(name: str, ranks: Sequence[int]) -> str:
    shares = (f"@{n} {sum(rank <= n for rank in ranks) / len(ranks):.3f}" for n in _DEPTHS)
    return f"{name:10} {'  '.join(shares)}"


if __name__ == "__main__":
    if sys.argv[1:]:
        _PAPERS = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "res") as opened:
        documents(opened)
        memories(opened)

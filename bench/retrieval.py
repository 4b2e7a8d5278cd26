"""Retrieval measured: recall of documents and memories by meaning, by words, and by both, and false answers.

    python -m bench.retrieval [FOLDER WITH THE PAPERS]

Documents, as installed packages carry them: the licences MPL 2.0, Apache 2.0, GPL 3 and PSF, and the manuals
of orjson (ijl, MPL 2.0), python-dotenv (Saurabh Kumar, BSD 3-clause), mammoth (Michael Williamson, BSD
2-clause) and pypdfium2 (geisserml, BSD 3-clause or Apache 2.0); the two protocol papers of `../shared/data`
where they are. Each question has a phrase that the right passage holds. Most do not name their document, so
each is also asked within it. Rules are chosen on the first half of the questions and reported for the second.
"""

import csv
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import files, metadata
from pathlib import Path

from store.memory.engine import fusion
from store.memory.engine.fusion import EntryHit
from store.memory.memories import has_words
from store.memory.memory import Memory

_HERE = Path(__file__).parent
_PAPERS = _HERE.parent.parent / "shared" / "data" / "documents"
_LICENCES = {
    "mpl": ("pathspec", "LICENSE"), "apache": ("mypy", "typeshed/LICENSE"), "gpl": ("scipy", "LICENSE.txt"),
    "psf": ("typing_extensions", "LICENSE"),
}  # fmt: skip
_PDFS = {"aave": "Aave_V3_Technical_Paper.pdf", "uniswap": "uniswap_whitepaper_v4.pdf"}
_MANUALS = {"orjson": "orjson", "dotenv": "python-dotenv", "mammoth": "mammoth", "pdfium": "pypdfium2"}
_DEPTHS = (1, 3, 5)
_K = 60  # of reciprocal rank fusion, as published

# `offline:text` was chosen on the first two, and is reported for the third.
SETS = ("retrieval_memories.tsv", "memories_chosen.tsv", "memories_reported.tsv")

Order = Callable[[Sequence[EntryHit]], list[EntryHit]]


def by_meaning(hits: Sequence[EntryHit]) -> list[EntryHit]:
    return sorted(hits, key=lambda hit: -(hit.cosine or 0))


def by_words(hits: Sequence[EntryHit]) -> list[EntryHit]:
    return sorted(hits, key=lambda hit: -hit.words)


def by_ranks(hits: Sequence[EntryHit]) -> list[EntryHit]:
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
    for name, package in _MANUALS.items():
        text = metadata(package).json["description"]
        memory.documents.import_document(Path(f"{name}.md"), protocol=name, content=str(text).encode())
    for name, file in _PDFS.items():
        if (_PAPERS / file).is_file():
            memory.documents.import_document(_PAPERS / file, protocol=name)
    known = memory.protocols()
    texts = [_plain(row["content"]) for row in memory.documents.entries.find(limit=None)]
    questions = [row for row in table("retrieval_documents.tsv") if row[0] in known]
    held = [row for row in questions if any(_plain(row[1]) in text for text in texts)]
    for row in questions:
        if row not in held:
            print(f"no passage holds {row[1]!r} of {row[0]}")
    print(f"{len(known)} documents, {len(texts)} passages, {len(held)} questions over all of them")
    entries = memory.documents.entries
    answers = [(_plain(row[1]), fusion.best(entries, row[2], n=100)) for row in held]
    within = [
        (_plain(row[1]), fusion.best(entries, row[2], n=100, where={"protocol": row[0]})) for row in held
    ]
    for group, chosen in (
        ("all", answers),
        ("open", of_open := [one for one, row in zip(answers, held, strict=True) if row[0] not in _PDFS]),
        ("open, first half", of_open[::2]),
        ("open, second half", of_open[1::2]),
        ("within its document", within),
        ("within its document, second half", within[1::2]),
    ):
        print(f"-- {group}: {len(chosen)} questions")
        for name, order in ORDERS.items():
            ranks = [_rank(order(hits), phrase) for phrase, hits in chosen]
            print(_line(name, ranks))
    for name in SETS:
        unrelated = [question for content, _, question in table(name) if question and not content]
        answered = sum(any(hit.answers for hit in fusion.best(entries, one, n=5)) for one in unrelated)
        print(f"{answered} of {len(unrelated)} unrelated questions of {name} have a passage")
    for name, asked in (("over all", answers), ("within its document", within)):
        first = [
            [hit.answers for hit in hits[:5] if phrase in _plain(hit.row["content"])]
            for phrase, hits in asked
        ]
        refused = sum(bool(own) and not any(own) for own in first)
        print(
            f"{refused} of {sum(map(bool, first))} questions {name} lose their passage among the first five"
        )


def memories(memory: Memory, name: str) -> None:
    """Store a set's memories, and print how many paraphrases and unrelated questions are answered."""
    right, unrelated = list[tuple[str, str]](), list[str]()
    for content, tags, question in table(name):
        if content:
            memory.memories.store_memory(content, [tag for tag in tags.split(",") if tag])
        if question and content:
            right.append((content, question))
        elif question:
            unrelated.append(question)
    entries = memory.memories.entries
    ranked = [(content, fusion.best(entries, question, n=60)) for content, question in right]
    print(
        f"{name}: {entries.count()} memories, {len(ranked)} paraphrases, {len(unrelated)} unrelated questions"
    )
    for name, order in ORDERS.items():
        ranks = [
            next((n for n, hit in enumerate(order(hits), 1) if hit.row["content"] == content), 999)
            for content, hits in ranked
        ]
        print(_line(name, ranks))
    searched = memory.memories.ranked
    ranked = [(content, searched(question)[0]) for content, question in right]
    others = [searched(question)[0] for question in unrelated]
    for threshold in (25.0, 27.5, 30.0, 32.5, 35.0):
        for name, does in (("meaning", _by_cosine), ("with words", _by_either)):
            found = sum(
                any(hit.row["content"] == content and does(hit, threshold) for hit in hits[:5])
                for content, hits in ranked
            )
            false = sum(any(does(hit, threshold) for hit in hits) for hits in others)
            print(f"{threshold:4.1f} % {name:11} right {found}/{len(ranked)}, false {false}/{len(others)}")
    print(f"weight of words: {fusion.WEIGHT}")


def _by_cosine(hit: EntryHit, threshold: float) -> bool:
    return 100 * (hit.cosine or 0) >= threshold


def _by_either(hit: EntryHit, threshold: float) -> bool:
    return _by_cosine(hit, threshold) or has_words(hit, threshold, usual=threshold)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


def _rank(hits: Sequence[EntryHit], phrase: str) -> int:
    return next((n for n, hit in enumerate(hits, 1) if phrase in _plain(hit.row["content"])), 999)


def _line(name: str, ranks: Sequence[int]) -> str:
    shares = (f"@{n} {sum(rank <= n for rank in ranks) / len(ranks):.3f}" for n in _DEPTHS)
    return f"{name:10} {'  '.join(shares)}"


if __name__ == "__main__":
    if sys.argv[1:]:
        _PAPERS = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "res") as opened:
        documents(opened)
    for name in SETS:
        with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "res") as opened:
            memories(opened, name)

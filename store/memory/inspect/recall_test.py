"""A recall test that writes itself: each entry gets a question that it should answer, which is asked."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from store.catalog.words import content_words
from store.memory.engine.listing import never_recalled
from store.memory.inspect.probe import probe
from store.memory.kinds import MEMORIES
from store.memory.opened import OpenedMemory
from store.memory.text.conflicts import sentences
from store.progress import Progress

FIRST = 5  # hits among which an entry has to be
_WORDS = 5  # of a question
_LONGEST = 1_000  # characters of a question: a "word" may be a whole file


@dataclass(frozen=True, slots=True)
class UnfoundEntry:
    """An entry that its question does not find, and the first entry found instead ("": none)."""

    id: str
    text: str
    question: str
    instead: str


@dataclass(frozen=True, slots=True)
class RecallTest:
    """How many entries of a kind were asked for, and those not among the first five hits."""

    kind: str
    asked: int
    unfound: Sequence[UnfoundEntry]


def recall_test(
    memory: OpenedMemory, kind: str = MEMORIES, *, progress: Progress | None = None
) -> RecallTest:
    """Ask for each entry by its five rarest words, within its world, session or protocol.

    Entries without words and those marked never to be recalled are not asked for. Nothing is logged.
    """
    progress = progress or Progress()
    entries = memory.entries(kind)
    text, scope = entries.kind.text, entries.kind.scope
    with entries.database.reading() as db:
        never = never_recalled(db, entries.kind)
    rows = [row for row in entries.find(limit=None) if row["id"] not in never]
    words = {row["id"]: _words(str(row[text])) for row in rows}
    having = Counter(word for each in words.values() for word in each)
    progress.what, progress.total = "asking for entries", len(rows)
    unfound, asked = list[UnfoundEntry](), 0
    for row in rows:
        if progress.cancelled:
            break
        progress.done += 1
        own = words[row["id"]]
        telling = sorted(own, key=having.__getitem__)[:_WORDS]
        if not telling:
            continue
        asked += 1
        question = " ".join(word for word in own if word in telling)[:_LONGEST]
        where = {scope: row[scope]} if scope else {}
        ids = [one.row["id"] for one in probe(memory, question, kind=kind, n=FIRST, where=where, near=0).hits]
        if row["id"] not in ids:
            unfound.append(UnfoundEntry(row["id"], str(row[text]), question, ids[0] if ids else ""))
    return RecallTest(kind, asked, unfound)


def _words(text: str) -> list[str]:
    """The words of a text that carry its meaning, each once, in their order."""
    return [*dict.fromkeys(word for sentence in sentences(text) for word in content_words(sentence))]

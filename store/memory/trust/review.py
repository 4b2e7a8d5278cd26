"""Pending changes of all kinds, with flags that speak against them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal
from uuid import uuid4

from store.errors import ModelUnavailable, NotWritten
from store.memory.engine import pending
from store.memory.engine.kind import MemoryKind, Row
from store.memory.engine.pending import PendingEntry
from store.memory.opened import OpenedMemory
from store.memory.text.conflicts import compared
from store.memory.text.suspicion import Warned, suspicions
from store.outcome import Outcome, Refusal

NEARLY = 0.95  # cosine from which it says nearly the same as an entry
_COMPARED = 5  # entries of a kind that are nearest to it
_QUOTED = 200  # characters of another entry in a reason

Why = Literal["near-duplicate", "contradiction", "replaces", "removes"] | Warned


@dataclass(frozen=True, slots=True)
class Flag:
    """A reason to look closely at what waits."""

    why: Why
    reason: str  # a sentence, or the words that are meant


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A pending change, as the review shows it."""

    entry: PendingEntry
    text: str  # what it would say; of a removal, what would be removed
    before: str | None  # what the entry says now; None: there is none
    flags: tuple[Flag, ...]


def waiting(memory: OpenedMemory, *, most: int | None = None) -> list[ReviewItem]:
    """The pending changes of all kinds, oldest first, with flags; by words alone while the model is away.

    At most so many, since the flags of each take an embedding.
    """
    found = [one for entries in memory.usable for one in pending.waiting(entries)]
    return [reviewed(memory, one) for one in sorted(found, key=lambda one: one.created_at)[:most]]


def count(memory: OpenedMemory) -> int:
    """The number of pending changes of all kinds."""
    return sum(pending.count(entries) for entries in memory.usable)


def accept(
    memory: OpenedMemory, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> Outcome:
    """Accept what waits under these ids as one decision; what cannot be is refused by name."""
    return _decided(memory, ids, pending.accept, actor=actor, decision=decision)


def reject(
    memory: OpenedMemory, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> Outcome:
    """Reject what waits under these ids as one decision; what cannot be is refused by name."""
    return _decided(memory, ids, pending.reject, actor=actor, decision=decision)


def _decided(
    memory: OpenedMemory,
    ids: Sequence[str],
    decide: Callable[..., list[str]],
    *,
    actor: str,
    decision: str | None,
) -> Outcome:
    """One transaction for each kind, so that of a kind all are done or none; each id is answered for.

    What the same decision has done before is answered as done.
    """
    memory.actor.permit()
    before = {id for entries in memory.usable for id in entries.decided(decision) or ()}
    places = _places(memory)
    outcome = Outcome([id for id in dict.fromkeys(ids) if id in before], decision=decision or uuid4().hex)
    chosen = {id: places[id] for id in ids if id in places and id not in before}
    reasons = dict[str, str]()
    for kind in dict.fromkeys(chosen.values()):
        of_kind = [id for id, name in chosen.items() if name == kind]
        try:
            outcome.done += decide(memory.kinds[kind], of_kind, actor=actor, decision=outcome.decision)
        except (ModelUnavailable, NotWritten) as error:
            reasons |= dict.fromkeys(of_kind, str(error))
    gone = "it does not wait for a decision (any more)"
    done = set(outcome.done)
    outcome.refused = [Refusal(id, reasons.get(id, gone)) for id in dict.fromkeys(ids) if id not in done]
    return outcome


def reviewed(memory: OpenedMemory, entry: PendingEntry) -> ReviewItem:
    """The pending changes, with everything that speaks against them.

    A near-duplicate has a cosine of at least 0.95 with an entry of its kind. A contradiction is a sentence
    that shares most words with one of the five nearest texts of lore and differs in a number, a name, a
    negation or a pair of opposites (`text/conflicts.py`); these rules know no meaning, and miss the rest.
    """
    entries = memory.kinds[entry.kind]
    current = next(iter(entries.rows([entry.target])), None)
    before = str(current[entries.kind.text]) if current else None
    if entry.row is None:
        return ReviewItem(entry, before or "", before, (Flag("removes", "Its versions stay readable."),))
    text = str(entry.row[entries.kind.text])
    flags = [Flag(one.reason, one.found) for one in suspicions(text)]
    if before is not None:
        flags.append(Flag("replaces", "The present version stays readable."))
        flags += _replaced_columns(entries.kind, current or {}, entry.row)
    elif entry.verb == "edit":
        flags.append(Flag("replaces", "The entry was removed since; accepting brings it back."))
    flags += _by_meaning(memory, entry, text)
    return ReviewItem(entry, text, before, tuple(dict.fromkeys(flags)))


def _replaced_columns(kind: MemoryKind, current: Row, row: Row) -> list[Flag]:
    """What accepting would change besides the text, such as tags that a person has given it since."""
    changed = [name for name in row if name in current and name != kind.text and row[name] != current[name]]
    return [
        Flag("replaces", f"{name}: {_quoted(current[name])} becomes {_quoted(row[name])}") for name in changed
    ]


def _quoted(value: object) -> str:
    return shorten(str(value), _QUOTED, placeholder=" …")


def _by_meaning(memory: OpenedMemory, entry: PendingEntry, text: str) -> list[Flag]:
    found = []
    entries, lore = memory.kinds[entry.kind], memory.kinds["world_lore"]
    vector = entries.question_or_none(text)
    near = {} if vector is None else entries.nearest(vector, n=2, floor=NEARLY)
    for row in entries.rows([id for id in near if id != entry.target]):
        other = _quoted(row[entries.kind.text])
        found.append(Flag("near-duplicate", f"{other} ({row['id']}, cosine {near[row['id']]:.2f})"))
    lore_vector = vector if lore.model == entries.model else lore.question_or_none(text)
    known = {} if lore_vector is None else lore.nearest(lore_vector, n=_COMPARED)
    for row in lore.rows([id for id in known if id != entry.target]):
        for conflict in compared([text, row["text"]]):
            if not conflict.is_repetition:
                reason = f"May contradict {row['id']} ({conflict.reason}): {conflict.second}"
                found.append(Flag("contradiction", reason))
    return found


def _places(memory: OpenedMemory) -> dict[str, str]:
    """The kind of everything that waits, by its id."""
    return {one.id: one.kind for entries in memory.usable for one in pending.waiting(entries)}

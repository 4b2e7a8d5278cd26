"""What a person decides about entries: pending changes, with flags against them, pins and merges."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from textwrap import shorten
from typing import Literal
from uuid import uuid4

from store.errors import ModelUnavailable, NotWritten
from store.memory.engine.change import PENDING, RECALL, PendingEntry, refuse_agents
from store.memory.engine.inputs import LONGEST, InvalidInput, UnknownEntry, changed_meanwhile, checked_text
from store.memory.engine.kind import MemoryKind, NewVectors, Row
from store.memory.kinds import MEMORIES
from store.memory.memories import MOST_TAGS
from store.memory.opened import OpenedMemory
from store.memory.text import secrets
from store.memory.text.conflicts import compared, sentences
from store.outcome import Outcome, Refusal

Warned = Literal["instruction", "address", "secret"]

_INSTRUCTIONS = (
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|your|the)\b"
    r"[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|messages?|orders|context|guidelines?)\b",
    r"\b(?:system prompt|developer message|jailbreak)\b",
    r"\byou (?:must|have to|should|are to) (?:now |always |never )",
    r"\b(?:from now on|do not (?:tell|inform|mention to)|without (?:telling|asking))\b",
    r"\byou are now\b|\bact as\b|\bpretend (?:to be|that)\b",
    r"^\s*(?:system|assistant|developer)\s*:|<\|?(?:im_start|im_end|system|assistant)\b",
    r"\b(?:always|immediately) (?:send|transfer|buy|sell|approve|run|execute|call|visit|open)\b",
)
_ADDRESSES = (
    r"https?://[^\s<>\"')]+",
    r"\b[\w.+-]+@[\w-]+\.[\w.-]*\w",
    r"\b0x[0-9a-fA-F]{40}\b",
    r"\b[1-9A-HJ-NP-Za-km-z]{32,44}\b",
)
_PATTERNS: dict[Warned, re.Pattern[str]] = {
    "instruction": re.compile("|".join(_INSTRUCTIONS), re.IGNORECASE | re.MULTILINE),
    "address": re.compile("|".join(_ADDRESSES)),
}
_LONGEST = 80  # characters shown of what was found


@dataclass(frozen=True, slots=True)
class TextWarning:
    """A finding in a text, and its place."""

    reason: Warned
    found: str
    start: int
    end: int


def suspicions(text: str) -> list[TextWarning]:
    """Everything that reads like an instruction, an address or a secret, in the order of the text."""
    found: list[tuple[Warned, int, int]] = [("secret", *place) for place in secrets.spoken_of(text)]
    found += [
        (reason, *one.span()) for reason, pattern in _PATTERNS.items() for one in pattern.finditer(text)
    ]
    return [
        TextWarning(reason, text[start:end].strip()[:_LONGEST], start, end)
        for reason, start, end in sorted(found, key=itemgetter(1, 0))
    ]


NEARLY = 0.95  # cosine from which it says nearly the same as an entry
_ACCEPT = "accept"
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
    """The pending changes of all kinds, oldest first, at most so many: the flags of each are embedded."""
    found = sorted(_waiting(memory).values(), key=lambda one: one.created_at)
    return [reviewed(memory, one) for one in found[:most]]


def count(memory: OpenedMemory) -> int:
    """The number of pending changes of all kinds."""
    return sum(entries.waiting_count() for entries in memory.usable)


def accept(
    memory: OpenedMemory, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> Outcome:
    """Carry out what waits as its agent wrote it, in one undoable decision; refused by name."""
    return _decided(memory, ids, _ACCEPT, actor=actor, decision=decision)


def reject(
    memory: OpenedMemory, ids: Sequence[str], *, actor: str = "", decision: str | None = None
) -> Outcome:
    """Discard what waits under these ids, as `accept` carries it out."""
    return _decided(memory, ids, "reject", actor=actor, decision=decision)


def _decided(
    memory: OpenedMemory, ids: Sequence[str], verb: str, *, actor: str, decision: str | None
) -> Outcome:
    """Each id is answered for; what the same decision has done before is answered as done."""
    refuse_agents(memory.actor, verb)
    before = {id for entries in memory.usable for id in entries.decided(decision) or ()}
    outcome = Outcome([id for id in dict.fromkeys(ids) if id in before], decision=decision or uuid4().hex)
    left = [id for id in dict.fromkeys(ids) if id not in before]
    chosen = {id: one for id, one in _waiting(memory).items() if id in left}
    new, reasons = _embedded(memory, chosen.values()) if verb == _ACCEPT else ({}, {})
    done, why = list[str](), "it does not wait for a decision (any more)"
    try:
        with memory.memories.entries.change(verb, actor=actor, decision=outcome.decision) as change:
            agent, via = change.agent, change.via
            for kind, vectors in new.items():
                change.kind = memory.kinds[kind].kind
                change.store(vectors)
            for id in left:
                if id in reasons or not (one := chosen.get(id)):
                    continue
                change.kind = memory.kinds[one.kind].kind
                if change.row(PENDING, id) is None:  # decided meanwhile
                    continue
                change.remove(id, table=PENDING)
                if verb == _ACCEPT:
                    change.agent, change.via = one.agent, one.via
                    change.upsert(one.row) if one.row else change.remove(one.target)
                    change.agent, change.via = agent, via
                done.append(id)
    except NotWritten as error:
        done, why = [], str(error)
    outcome.done += done
    outcome.refused = [Refusal(id, reasons.get(id, why)) for id in left if id not in done]
    return outcome


def _embedded(
    memory: OpenedMemory, pending: Iterable[PendingEntry]
) -> tuple[dict[str, NewVectors], dict[str, str]]:
    """The vectors of what these say, by kind, and why others cannot be embedded, by id."""
    new, reasons, of_kind = (
        dict[str, NewVectors](),
        dict[str, str](),
        defaultdict[str, list[PendingEntry]](list),
    )
    for one in pending:
        of_kind[one.kind].append(one)
    for kind, some in of_kind.items():
        entries = memory.kinds[kind]
        try:
            new[kind] = entries.embed([str(one.row[entries.kind.text]) for one in some if one.row])
        except ModelUnavailable as error:
            reasons |= {one.id: str(error) for one in some}
    return new, reasons


def _waiting(memory: OpenedMemory) -> dict[str, PendingEntry]:
    """What waits, of all kinds, by its id."""
    return {one.id: one for entries in memory.usable for one in entries.waiting()}


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


Recall = Literal["", "pinned", "never"]
_VERBS: dict[Recall, str] = {"pinned": "pin", "never": "never recall", "": "recall again"}


def of(memory: OpenedMemory, id: str, *, kind: str = MEMORIES) -> Recall:
    """Whether an entry is pinned, never recalled, or "": recalled when it fits."""
    row = memory.kinds[kind].database.row("SELECT state FROM recall WHERE kind = ? AND id = ?", [kind, id])
    return row[0] if row else ""


def set_recall(
    memory: OpenedMemory, ids: Sequence[str], state: Recall, *, kind: str = MEMORIES, actor: str = "",
    decision: str | None = None,
) -> None:  # fmt: skip
    """Pin entries, never recall them, or treat them as all others; one decision. Raises UnknownEntry."""
    entries = memory.kinds[kind]
    if entries.decided(decision) is not None:
        return
    with entries.change(_VERBS[state], actor=actor, decision=decision) as change:
        for id in ids:
            if change.row(entries.kind.table, id) is None:
                raise entries.unknown(id)
            if state:
                change.upsert({"id": id, "state": state}, table=RECALL)
            else:
                change.remove(id, table=RECALL)


@dataclass(frozen=True, slots=True)
class MergePreview:
    """The effect of a merge."""

    keep: Row
    removed: list[Row]
    text: str  # the text of the kept entry, with every sentence of the others that it does not have
    tags: list[str]  # of all, at most 10; [] for a kind without tags


def preview(memory: OpenedMemory, keep: str, others: Sequence[str], *, kind: str = MEMORIES) -> MergePreview:
    """What merging these entries into one would store. Raises UnknownEntry or InvalidInput."""
    entries = memory.kinds[kind]
    rows = [entries.get(id) for id in dict.fromkeys((keep, *others))]
    if len(rows) < 2:
        raise InvalidInput("a merge needs another entry than the one that is kept")
    scope, column = entries.kind.scope, entries.kind.text
    if scope and len({row[scope] for row in rows}) > 1:
        raise InvalidInput(f"entries of one {scope} alone can be merged")
    text = str(rows[0][column])
    for row in rows[1:]:
        for sentence in sentences(str(row[column])):
            repeats = any(one.is_repetition for one in compared([text, sentence]))
            if sentence not in text and not repeats:
                text = f"{text.rstrip()} {sentence}"
    tags = [tag for row in rows for tag in json.loads(row.get("tags") or "[]")]
    return MergePreview(rows[0], rows[1:], text, [*dict.fromkeys(tags)][:MOST_TAGS])


def merge(
    memory: OpenedMemory,
    keep: str,
    others: Sequence[str],
    *,
    kind: str = MEMORIES,
    text: str = "",
    shown: MergePreview | None = None,
    actor: str = "",
    decision: str | None = None,
) -> MergePreview:
    """Merge as `preview` shows it, with another text if one is given; one undoable decision.

    `shown` is the preview that the text was made from. Raises UnknownEntry if an entry was removed in the
    meantime, InvalidInput if one was changed, or for what cannot be merged.
    """
    entries = memory.kinds[kind]
    if entries.decided(decision) is not None:
        kept = entries.get(keep)
        tags = json.loads(kept.get("tags") or "[]")
        return shown or MergePreview(kept, [], str(kept[entries.kind.text]), tags)
    planned = shown or preview(memory, keep, others, kind=kind)
    text = checked_text(text or planned.text, what="the text", most=LONGEST)
    new = entries.embed([text])
    kept = {**planned.keep, entries.kind.text: text}
    if "tags" in kept:
        kept["tags"] = json.dumps(planned.tags)
    with entries.change("merge", actor=actor, decision=decision) as change:
        change.store(new)
        for one in (planned.keep, *planned.removed):
            row = change.row(entries.kind.table, one["id"])
            if row is None:
                raise UnknownEntry(f"{one['id']} was removed in the meantime")
            if any(row[name] != value for name, value in one.items() if name != "embedding_model"):
                raise changed_meanwhile(one["id"])
        change.upsert(kept)
        for one in planned.removed:
            change.remove(one["id"])
    return planned

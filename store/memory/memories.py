"""Agents' memories: texts with tags, found by meaning."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NotRequired

from typing_extensions import TypedDict

from store.catalog.words import forms, question_words, words_in
from store.embedding.protocol import OFFLINE_TEXT
from store.memory.engine.entries import Entries
from store.memory.engine.fusion import (
    EntryHit,
    best_with,
    diverse_order,
    log_retrieval,
    pinned_first,
    searched_text,
)
from store.memory.engine.inputs import (
    LONGEST,
    LONGEST_QUESTION,
    InvalidInput,
    checked_count,
    checked_percentage,
    checked_text,
)
from store.memory.engine.kind import MemoryKind, Where

MOST_TAGS = 10
LONGEST_TAG = 50  # characters
MOST_RESULTS = 20
_THRESHOLD = "threshold"  # in `meta`: this root's
_COMPARED = 100  # memories that are looked at, near misses included
RELEVANT = 30.0  # percent; what is below is left out, unless a call or the root says otherwise

_THIRD_PERSON = {
    "am I": "is the user", "do I": "does the user", "Do I": "Does the user", "have I": "has the user",
    "I": "the user", "me": "the user", "my": "the user's", "My": "The user's",
}  # fmt: skip
_CAPITAL = re.compile(r"(?<=[^\s.!?:])[\s(\"'“‘-]+([A-Z]\w*)")
_FIRST_PERSON = re.compile(r"\b(am I|do I|Do I|have I|I|me|my|My)\b")

# Below the threshold a memory answers by words if it has such a share of the question's telling words, and
# is at most `MARGIN` below, has them all, or has one that no other has (`bench/retrieval.py`). Words of
# asking tell nothing; of several words a common one alone ("ring") is no answer, unlike a name, code or tag.
WORDS_SHARE = 0.5
MARGIN = 15.0  # percent
_ASK = """
    anybody anyone anything ask asked everybody everyone everything find give got know known let look me
    mention mentioned mentions note notes nothing please recall remember said say says show somebody someone
    something talk talked tell told us want we wrote memory memories
"""
_ASKING = frozenset(_ASK.split())


def _joined_tags(row: Any) -> dict[str, str]:
    """Tags as one string, because Chroma's metadata has no lists; nothing splits it again."""
    return {"tags": ",".join(json.loads(row["tags"]))}


KIND = MemoryKind(
    name="memories",
    file="memories",
    tables=("memories",),
    text="content",
    filters=("timestamp",),
    labels=("tags",),
    order="number DESC",
    written="unixepoch(timestamp)",
    metadata=_joined_tags,
    default_model=OFFLINE_TEXT,
)


class Stored(TypedDict):
    """A memory that was stored."""

    memory_id: str
    success: bool
    timestamp: str
    embedding_dimensions: int
    pending: NotRequired[bool]  # until a person has reviewed it


class FoundMemory(TypedDict):
    """A memory that fits a question."""

    memory_id: str
    content: str
    timestamp: str
    relevance_score: float  # percent
    tags: list[str]
    found_by: NotRequired[str]


class FoundMemories(TypedDict):
    """The memories that fit a question, best first."""

    results: list[FoundMemory]
    total_results: int
    query_embedding_generated: bool
    note: NotRequired[str]  # such as that the model does not read the question's language
    threshold: NotRequired[float]  # percent, in addition to those below it
    near_misses: NotRequired[list[FoundMemory]]


class Memories:
    """`store_memory` and `search_memory`, on the engine of embedded text."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries

    def store_memory(
        self,
        content: str,
        tags: Sequence[str] | None = None,
        *,
        actor: str = "",
        decision: str | None = None,
    ) -> Stored:
        """Store a text; the same text again is another memory, unless it is the same `decision`.

        Raises InvalidInput (a ValueError) for an empty text or one of more than 100,000 characters, more than
        10 tags, or a tag of more than 50 characters.
        """
        content = checked_text(content, what="the content", most=LONGEST)
        tags = checked_tags(tags)
        if stored := self.entries.decided(decision):
            return self._stored(stored[0])
        second = int(self.entries.clock())
        new, dimensions = self.entries.embed([content]), self.entries.embedder.dimensions
        timestamp = f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%SZ}"
        row = {
            "content": content,
            "tags": json.dumps(tags),
            "timestamp": timestamp,
        }
        with self.entries.change("store", actor=actor, decision=decision) as change:
            number = second  # two memories in one second both survive, the second under the next free number
            while change.is_taken(f"mem_{number}"):
                number += 1
            change.store(new)
            change.upsert({"id": f"mem_{number}", **row})
        answer = Stored(
            memory_id=f"mem_{number}",
            success=True,
            timestamp=timestamp,
            embedding_dimensions=dimensions,
        )
        if self.entries.actor.is_reviewed:
            answer["pending"] = True
        return answer

    def _stored(self, id: str) -> Stored:
        """The answer to a decision that stored this memory, or what waits to become one, before."""
        waits = next((one for one in self.entries.waiting() if one.id == id), None)
        row = (waits.row if waits else None) or self.entries.versions(waits.target if waits else id)[-1].row
        answer = Stored(
            memory_id=waits.target if waits else id,
            success=True,
            timestamp=str((row or {})["timestamp"]),
            embedding_dimensions=self.entries.embedder.dimensions,
        )
        if waits:
            answer["pending"] = True
        return answer

    def search_memory(
        self,
        query: str,
        limit: int = 5,
        *,
        threshold: float | None = None,
        near_misses: int = 0,
        mmr: float | None = None,
        where: Where | None = None,
    ) -> FoundMemories:
        """The most relevant memories, each at least `threshold` percent (the root's own unless given).

        A memory below it that answers by words, such as one that no other memory has, comes after those, with
        `"found_by": "words"`. `near_misses` asks for so many of the others. `where` filters by `tags` (all of
        them), `since` and `until` (UNIX seconds); `mmr` is λ of marginal relevance, 1 for relevance alone.
        `note` says if the model does not read the question's language. While the model is away words alone
        are compared, `query_embedding_generated` is False and `relevance_score` 0.

        Raises InvalidInput (a ValueError) for an empty query, a limit outside 1–20, a threshold outside
        0–100, and near misses outside 0–20.
        """
        query = checked_text(query, what="the query", most=LONGEST_QUESTION)
        limit = checked_count(limit, what="the limit", most=MOST_RESULTS)
        least = self.threshold if threshold is None else checked_percentage(threshold)
        if near_misses:
            checked_count(near_misses, what="the number of near misses", most=MOST_RESULTS)
        hits, is_by_meaning = self.ranked(query, where=where)
        near, by_words = self._answering(hits, least)
        found = near + by_words
        if mmr is not None:
            ids, scores = [hit.row["id"] for hit in found], [hit.cosine or 0.0 for hit in found]
            order = diverse_order(self.entries, ids, scores, n=limit, trade_off=mmr)
            found = [found[place] for place in order]
        else:
            found = _first(found, limit)
        log_retrieval(self.entries, query, found, scope="", n=limit, where=where, threshold=least)
        self.entries.count_question("memories")
        results = [_answer(hit) for hit in found]
        for result, hit in zip(results, found, strict=True):
            if hit in by_words:
                result["found_by"] = "words"
        answer = FoundMemories(
            results=results, total_results=len(results), query_embedding_generated=is_by_meaning
        )
        if note := self.entries.caveat(query):
            answer["note"] = note
        if near_misses:
            misses = [hit for hit in hits if hit not in near and hit not in by_words]
            answer["threshold"] = least
            answer["near_misses"] = [_answer(hit) for hit in misses[:near_misses]]
        return answer

    def for_context(
        self, query: str, *, n: int, threshold: float, where: Where | None = None
    ) -> list[EntryHit]:
        """The pinned memories, and then the n that fit best by meaning and words together."""
        hits, _ = self.ranked(query, where=where)
        pinned = self.entries.pinned(where)
        near, by_words = self._answering(sorted(hits, key=lambda hit: -hit.score), threshold)
        first = _first([hit for hit in near + by_words if hit.row["id"] not in pinned], n)
        vector = self.entries.question_or_none(query)
        return pinned_first(self.entries, query, vector, first, n=n, where=where)

    def _answering(self, hits: Sequence[EntryHit], threshold: float) -> tuple[list[EntryHit], list[EntryHit]]:
        """The memories that answer by their meaning, and those that answer by their words."""
        usual, near, by_words = self.threshold, list[EntryHit](), list[EntryHit]()
        for hit in hits:
            if relevance(hit.cosine or 0.0) >= threshold:
                near.append(hit)
            elif has_words(hit, threshold, usual=usual):
                by_words.append(hit)
        return near, by_words

    def ranked(self, query: str, *, where: Where | None = None) -> tuple[list[EntryHit], bool]:
        """The memories by their cosine, asked as "I" or as "the user", and whether the model was there."""
        best: dict[str, EntryHit] = {}
        vector = None
        for form in dict.fromkeys((query, _in_third_person(query))):
            vector = self.entries.question_or_none(form)
            for hit in best_with(self.entries, query, vector, n=_COMPARED, where=where):
                known = best.get(hit.row["id"])
                if known is None or (known.cosine or 0.0) < (hit.cosine or 0.0):
                    best[hit.row["id"]] = hit
        compared = _compared_by_word(query, [*best.values()], is_rare=self._is_rare)
        ordered = sorted(compared, key=lambda hit: -hit.score)
        ordered.sort(key=lambda hit: -(hit.cosine or 0.0))  # as the reference
        return ordered, vector is not None

    def _is_rare(self, word: str) -> bool:
        """Whether the model knows a word only in pieces; any word while it is away."""
        model = self.entries.embedder_or_none()
        return model is None or model.count_tokens(word) > model.count_tokens("a")

    @property
    def threshold(self) -> float:
        """The least relevance of a memory that answers, in percent, for this root."""
        return float(self.entries.database.meta(_THRESHOLD) or RELEVANT)

    def set_threshold(self, percent: float) -> None:
        """Set this root's threshold. Raises InvalidInput outside 0–100."""
        self.entries.database.set_meta(_THRESHOLD, f"{checked_percentage(percent):g}")

    def edit(
        self,
        id: str,
        *,
        content: str | None = None,
        tags: Sequence[str] | None = None,
        actor: str = "",
        decision: str | None = None,
    ) -> None:
        """Change a memory's text (embedded again) or its tags. Raises InvalidInput or UnknownEntry."""
        columns: dict[str, Any] = {}
        if content is not None:
            columns["content"] = checked_text(content, what="the content", most=LONGEST)
        if tags is not None:
            columns["tags"] = json.dumps(checked_tags(tags))
        self.entries.edit(id, actor=actor, decision=decision, **columns)


def _compared_by_word(
    query: str, hits: Sequence[EntryHit], *, is_rare: Callable[[str], bool]
) -> list[EntryHit]:
    """These memories with the words that the user asked by, and what these say of them."""
    every = question_words(query)
    asked = [word for word in every if word not in _ASKING] or every
    exact, compared = Counter[str](), list[EntryHit]()
    for hit in hits:
        text = searched_text(hit.row, KIND)
        exact.update(words_in(text, asked, variants=lambda word: [word]))
        compared.append(replace(hit, found=words_in(text, asked), telling=len(asked)))
    named = _named(query)
    return [
        replace(
            hit,
            is_alone=any(exact[word] == 1 for word in hit.found),
            is_common=len(hit.found) == 1 < len(asked) and not _tells_alone(hit, named, is_rare=is_rare),
        )
        for hit in compared
    ]


def _tells_alone(hit: EntryHit, named: Collection[str], *, is_rare: Callable[[str], bool]) -> bool:
    """Whether the only word that a memory has of a question is a name, a code, a tag or a rare word."""
    (word,) = hit.found
    return bool(
        not word.isascii()
        or not word.isalpha()
        or word in named
        or is_rare(word)
        or words_in(" ".join(json.loads(hit.row["tags"])), [word])
        or not _named(hit.row["content"]).isdisjoint(forms(word))
    )


def _named(text: str) -> set[str]:
    """The words that are written with a capital letter elsewhere than at the beginning of a sentence."""
    return {found[1].lower() for found in _CAPITAL.finditer(text)}


def _first(found: Sequence[EntryHit], n: int) -> list[EntryHit]:
    """The first n, and in their place those that alone have a word of the question."""
    chosen = sorted(found, key=lambda hit: not hit.is_alone)[:n]
    return [hit for hit in found if hit in chosen]


def _in_third_person(question: str) -> str:
    """An English question of the user's as one about the user."""
    return _FIRST_PERSON.sub(lambda found: _THIRD_PERSON[found[0]], question)


def _answer(hit: EntryHit) -> FoundMemory:
    """A hit as agents get it."""
    return {
        "memory_id": hit.row["id"],
        "content": hit.row["content"],
        "timestamp": hit.row["timestamp"],
        "relevance_score": relevance(hit.cosine or 0.0),
        "tags": json.loads(hit.row["tags"]),
    }


def has_words(hit: EntryHit, threshold: float, *, usual: float = RELEVANT) -> bool:
    """Whether a memory below the threshold has enough of the question's words to answer all the same."""
    if not hit.found or hit.is_common or len(hit.found) < WORDS_SHARE * hit.telling:
        return False
    is_sure = threshold <= usual and (hit.is_alone or len(hit.found) == hit.telling)
    return hit.cosine is None or is_sure or relevance(hit.cosine) >= threshold - MARGIN


def relevance(cosine: float) -> float:
    """In percent: (1 − distance) × 100, where the distance is one minus the cosine."""
    return min(cosine, 1.0) * 100  # float32 goes a little beyond


def checked_tags(tags: Sequence[str] | None) -> list[str]:
    """The tags as given. Raises InvalidInput for an empty one, and beyond the limits of number and length."""
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags or ()):
        raise InvalidInput("tags have to be a list of texts")
    given = list(tags or ())
    if len(given) > MOST_TAGS:
        raise InvalidInput(f"{len(given)} tags are too many; at most {MOST_TAGS}")
    for tag in given:
        checked_text(tag, what=f"the tag {tag!r}")
        if len(tag) > LONGEST_TAG:
            raise InvalidInput(f"the tag {tag[:20]!r}… has {len(tag)} characters; at most {LONGEST_TAG}")
    return given

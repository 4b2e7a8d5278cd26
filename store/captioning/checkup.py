"""Captions to review: too short, too long for the model, repeated, at odds with their picture …

Derived from the catalog; nothing is stored. Results for one text are cached by the sidecar's hash, so that
after a change only the changed ones are examined again.

Texts that share most of their words are found without comparing all pairs (`repeats`), by prefix filtering
(Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007): with the words of each text ordered from the
rarest to the most frequent, two texts that share at least a part t of their words have one in common among
the first |x| - ⌈t·|x|⌉ + 1 of each.
"""

import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from store.catalog.catalog import read_json
from store.embedding.embedding_cache import stored_vectors
from store.embedding.protocol import Embedder
from store.evaluation.similarity import AT_ODDS, Fit, disagreements
from store.reading.reader import Reader
from store.records import CAPTION_FACETS, REQUIRED_FACETS, Facet
from store.settings import settings
from store.tags.taxonomy import Taxonomy

ALIKE = 0.8  # of all the words of two texts, what both have (Jaccard)
# Protect from thousands of texts made from one template:
_TRIED = 60  # texts with the same rare word that are looked at
_COMPARED = 8  # texts one is compared with word by word

Key = TypeVar("Key", bound=Hashable)


def words_of(text: str) -> frozenset[str]:
    """The set of words of a text, lower-cased."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard similarity of two sets of words, from 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0


def repeats(texts: Mapping[Key, frozenset[str]]) -> dict[Key, tuple[Key, float]]:
    """For each text that nearly repeats another: which one, and their similarity."""
    found: dict[Key, tuple[Key, float]] = {}
    same: dict[frozenset[str], list[Key]] = defaultdict(list)
    for key, own in texts.items():
        if own:
            same[own].append(key)
    for keys in same.values():
        for key, other in zip(keys, [*keys[1:], keys[0]], strict=True):
            if key != other:
                found[key] = (other, 1.0)
    frequency = Counter(word for own in same for word in own)
    holders: dict[str, list[frozenset[str]]] = defaultdict(list)
    for own in sorted(same, key=len):
        rarest = sorted(own, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(own) - math.ceil(ALIKE * len(own)) + 1]
        if best := _best(own, prefix, holders):
            share, alike = best
            for this, that in ((own, alike), (alike, own)):
                for key in same[this]:
                    if found.get(key, (key, 0.0))[1] < share:
                        found[key] = (same[that][0], share)
        for word in prefix:
            holders[word].append(own)
    return found


def _best(
    own: frozenset[str], prefix: list[str], holders: Mapping[str, list[frozenset[str]]]
) -> tuple[float, frozenset[str]] | None:
    """The most similar text among those that share the most rare words."""
    shared = Counter(
        other
        for word in prefix
        for other in holders.get(word, ())[-_TRIED:]
        if len(other) >= ALIKE * len(own)  # those that come earlier are no longer
    )
    for other, _ in shared.most_common(_COMPARED):
        if (share := overlap(own, other)) >= ALIKE:
            return share, other
    return None


Kind = Literal["picture", "lacking", "unwritten", "short", "long", "repeated", "tags"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FEWEST_WORDS: dict[Facet, int] = {"entity": 4, "context": 4, "visual": 2, "emotions": 2}
_KEPT = 200_000  # sidecars whose findings are remembered


@dataclass(frozen=True, slots=True)
class CaptionFinding:
    """One caption to review, and why; `other` is the record that it repeats."""

    address: str
    reason: str
    facet: Facet | None = None
    other: str = ""
    order: float = 0.0  # the most urgent first


@dataclass(frozen=True, slots=True)
class _Row:
    address: str
    tier: str
    picture: str  # its hash
    caption: Mapping[Facet, str]
    tags: tuple[str, ...]
    words: Mapping[Facet, frozenset[str]]
    tokens: Mapping[Facet, int]  # of texts that are longer than the model reads at once


class CheckUp:
    """The check-up of one library; thread-safe."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._rows: dict[tuple[str, str], _Row] = {}  # by sidecar hash and model
        self._done: tuple[object, dict[Kind, list[CaptionFinding]]] = (None, {})

    def findings(self, taxonomy: Taxonomy) -> dict[Kind, list[CaptionFinding]]:
        """All findings among the approved and the library, the most urgent of each kind first."""
        with self._lock:
            embedder = self._reader.embedder if self._reader.status().model_status == "ready" else None
            newest = self._reader.catalog.row("SELECT max(rowid) FROM vectors")[0]
            model = embedder and embedder.fingerprint
            state = self._reader.generation, newest, model, tuple(taxonomy.tags)
            if self._done[0] != state:
                self._done = state, self._look(taxonomy, embedder)
            return self._done[1]

    def _look(self, taxonomy: Taxonomy, embedder: Embedder | None) -> dict[Kind, list[CaptionFinding]]:
        rows = self._all(embedder)
        found: dict[Kind, list[CaptionFinding]] = {kind: [] for kind in KINDS}
        known = frozenset(taxonomy.tags)
        for row in rows:
            found["lacking"] += _lacking(row)
            found["unwritten"] += _unwritten(row)
            found["short"] += _short(row)
            found["long"] += _long(row, embedder)
            found["tags"] += _unknown_tags(row, known)
        found["repeated"] = _repeated(rows)
        if embedder and settings().search == "memory":  # the comparison needs all vectors
            found["picture"] = _at_odds(self._fits(rows, embedder))
        return {kind: sorted(each, key=lambda one: (one.order, one.address)) for kind, each in found.items()}

    def _all(self, embedder: Embedder | None) -> list[_Row]:
        model = embedder.fingerprint if embedder else ""
        stored = self._reader.catalog.rows(
            "SELECT r.address, r.tier, r.image_hash, r.sidecar_hash, s.text FROM records r "
            "JOIN sidecars s ON s.hash = r.sidecar_hash WHERE r.tier IN ('approved', 'library')"
        )
        rows = {}
        for address, tier, picture, digest, text in stored:
            key = digest, model
            row = self._rows.get(key)
            if row is None or (row.tier, row.picture) != (tier, picture):
                row = _row(address, tier, picture, read_json(text, f"the text of {address}"), embedder)
            rows[key] = row
        self._rows = rows if len(rows) <= _KEPT else {}
        return list(rows.values())

    def _fits(self, rows: Iterable[_Row], embedder: Embedder) -> list[Fit]:
        """How well each caption fits its picture, of the approved as far as they are embedded."""
        with self._reader.catalog.reading() as db:
            waiting = {
                row.address: stored_vectors(
                    db, caption=row.caption, image_hash=row.picture, embedder=embedder
                )
                for row in rows
                if row.tier == "approved"
            }
        return disagreements(self._reader.snapshot(), scale=embedder.cross_modal_scale, waiting=waiting)


def _row(
    address: str, tier: str, picture: str, sidecar: Mapping[str, Any], embedder: Embedder | None
) -> _Row:
    written = sidecar.get("caption") or {}
    caption: dict[Facet, str] = {
        facet: written[facet] for facet in CAPTION_FACETS if isinstance(written.get(facet), str)
    }
    tokens: dict[Facet, int] = {}
    for facet, text in caption.items():
        # A token has a letter at least: most texts need not be counted.
        if embedder and len(text) + 2 > embedder.token_limit:
            tokens[facet] = embedder.count_tokens(text)
    bags = {facet: words_of(text) for facet, text in caption.items()}
    return _Row(address, tier, picture, caption, tuple(sidecar.get("tags", ())), bags, tokens)


def _lacking(row: _Row) -> Iterable[CaptionFinding]:
    missing = [facet for facet in REQUIRED_FACETS if not row.caption.get(facet, "").strip()]
    if missing:
        yield CaptionFinding(row.address, f"lacks {' and '.join(missing)}", missing[0], order=-len(missing))


def _unwritten(row: _Row) -> Iterable[CaptionFinding]:
    """An optional facet neither written nor declared empty, once the required ones are there."""
    missing = [facet for facet in CAPTION_FACETS if facet not in REQUIRED_FACETS and facet not in row.caption]
    if missing and not list(_lacking(row)):
        why = f"{' and '.join(missing)} neither written nor left empty on purpose"
        yield CaptionFinding(row.address, why, missing[0], order=-len(missing))


def _short(row: _Row) -> Iterable[CaptionFinding]:
    for facet, text in row.caption.items():
        number = len(text.split())
        if 0 < number < FEWEST_WORDS[facet]:
            yield CaptionFinding(row.address, _counted(number, "word"), facet, order=number)


def _long(row: _Row, embedder: Embedder | None) -> Iterable[CaptionFinding]:
    for facet, number in row.tokens.items():
        if embedder and number > embedder.token_limit:
            why = f"{number:,} tokens, the model reads {embedder.token_limit:,} at once"
            yield CaptionFinding(row.address, why, facet, order=-number)


def _unknown_tags(row: _Row, known: frozenset[str]) -> Iterable[CaptionFinding]:
    gone = [tag for tag in row.tags if tag.strip().casefold() not in known]
    if gone:
        yield CaptionFinding(row.address, f"not in the taxonomy: {', '.join(gone)}", order=-len(gone))


def _repeated(rows: list[_Row]) -> list[CaptionFinding]:
    found = []
    for row in rows:
        facets = [facet for facet, own in row.words.items() if own]
        for place, facet in enumerate(facets):
            for other in facets[:place]:
                if (share := overlap(row.words[facet], row.words[other])) >= ALIKE:
                    why = f"says the same as its own {other}"
                    found.append(CaptionFinding(row.address, why, facet, row.address, order=-1 - share))
    for facet in REQUIRED_FACETS:  # a look or a mood may well be that of many coins
        bags = {row.address: row.words[facet] for row in rows if facet in row.words}
        # What is too short is found by that already.
        long_enough = {address: bag for address, bag in bags.items() if len(bag) >= FEWEST_WORDS[facet]}
        for address, (twin, share) in repeats(long_enough).items():
            why = (
                "the same words as another" if share == 1 else f"shares {share:.0%} of its words with another"
            )
            found.append(CaptionFinding(address, why, facet, twin, order=-share))
    return found


def _at_odds(fits: Iterable[Fit]) -> list[CaptionFinding]:
    return [
        CaptionFinding(
            one.address,
            f"fits its picture no better than other coins' captions do (fit {one.fit:+.1f})",
            "entity",
            order=one.fit,
        )
        for one in fits
        if one.fit < AT_ODDS
    ]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"

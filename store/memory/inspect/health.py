"""The health of the text memory: figures of each kind, what needs attention, and its junk.

Junk are entries that repeat, ask, are never recalled, or are contradicted:

    found = junk(memory)
    found.share     # 0.18
    found.worst[0]  # an entry, the reasons in words, and the merge that would end a repeat

Everything is computed from what is stored; nothing is changed.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from textwrap import shorten
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.embedding.active_model import unread_language
from store.embedding.protocol import MULTILINGUAL
from store.memory.engine import point_in_time
from store.memory.engine.entries import Entries
from store.memory.engine.kind import TEXT
from store.memory.engine.retrievals import answers_about
from store.memory.inspect.neighbours import NEARLY, cosines_with_earlier
from store.memory.kinds import LORE, MEMORIES, SESSIONS, TRANSCRIPTS
from store.memory.opened import OpenedMemory
from store.memory.text.conflicts import compared, sentences
from store.memory.text.extraction import MAX_TOOL_OUTPUT_LENGTH
from store.memory.text.tokens import SIZES
from store.progress import Progress
from store.settings import settings

READ_AGAIN = "read the folder of worlds again"
LONGEST = {"world_lore": 800, "documents": 1000}  # characters of a chunk, by the references
_BINS = 24
_NAMED = 200  # entries or scopes named of each sort


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """The figures of one kind."""

    kind: str
    entries: int
    characters: int
    shortest: int
    longest: int
    size: int  # bytes of its file, write-ahead log and all
    model: str
    models: dict[str, int]  # model → vectors; "" for entries without one
    lengths: list[tuple[int, int]]  # from which length → entries, for a histogram


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that needs attention: what, how many, some of the entries or scopes, and the remedy."""

    kind: str
    what: str
    which: list[str]
    remedy: str
    count: int


def figures(entries: Entries) -> MemoryFigures:
    """The figures of one kind, counted in one pass through its file; 0.8 s for 100,000 entries."""
    kind, path = entries.kind, entries.database.path
    lengths, models = Counter[int](), Counter[str]()
    rows = entries.database.rows(
        f"SELECT length({kind.text}) AS length, coalesce(embedding_model, '') AS model, "
        f"count(*) AS entries FROM {kind.with_any_vector()} GROUP BY length, model"
    )
    for row in rows:
        lengths[row["length"]] += row["entries"]
        models[row["model"]] += row["entries"]
    longest = max(lengths, default=0)
    width = max(1, -(-(longest + 1) // _BINS))
    bins = Counter[int]()
    for length, count in lengths.items():
        bins[length // width] += count
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return MemoryFigures(
        kind=kind.name,
        entries=lengths.total(),
        characters=sum(length * count for length, count in lengths.items()),
        shortest=min(lengths, default=0),
        longest=longest,
        size=sum(file.stat().st_size for file in files if file.exists()),
        model=entries.model,
        models=dict(sorted(models.items())),
        lengths=[(number * width, bins[number]) for number in range(_BINS)] if lengths else [],
    )


_TRANSCRIPTS = (  # what needs attention, SQL, the remedy
    ("chunks of a message that is gone", "parent_id NOT IN (SELECT id FROM transcripts)", "delete them"),
    (
        f"tool outputs cut at {MAX_TOOL_OUTPUT_LENGTH:,} characters",
        f"content_type = 'tool_output' AND span_end = {MAX_TOOL_OUTPUT_LENGTH}",
        "none is needed: the whole text is in the message, and full-text search finds it",
    ),
    (
        f"chunks longer than {SIZES.limit:,} tokens, as older databases have them",
        f"token_count > {SIZES.limit}",
        "cut them into chunks",
    ),
)
_UNLIKE_FILE = (
    "entries edited here, unlike their world's file",
    "lore_id GLOB 'base_lore_[0-9]*' AND EXISTS (SELECT 1 FROM worlds w WHERE w.id = world_id "
    "AND instr(w.lore, text) = 0)",
    "write it into the file as well: a changed file wins",
)


def concerns(memory: OpenedMemory) -> list[Concern]:
    """Matters for the curator; `doctor.check` says what is broken."""
    kinds = memory.kinds
    lore, sessions = kinds[LORE], kinds[SESSIONS]
    counts, asked = lore.counts(), sessions.asked()
    bare = [world.id for world in memory.lore.worlds() if not counts.get(world.id)]
    found = [_entries(entries, *one) for entries in kinds.values() for one in _of_each(entries)]
    found += map(_not_read, kinds.values())
    found.append(_scopes(lore, "worlds without lore", bare, "write it in the world's file, or add an entry"))
    found.append(_entries(lore, *_UNLIKE_FILE))
    never = [key for key in sessions.counts() if key not in asked]
    found.append(_scopes(sessions, "sessions never queried", never, "probe or delete them"))
    found += [_entries(kinds[TRANSCRIPTS], *one) for one in _TRANSCRIPTS]
    return [concern for concern in found if concern.count]


def _of_each(entries: Entries) -> Iterator[tuple[str, str, str]]:
    """What may need attention in any kind."""
    kind = entries.kind
    yield "entries that say nothing", f"trim({kind.text}, ' \n\t') = ''", "delete them"
    bare = f"id IN (SELECT p.id FROM {kind.table} p {kind.joined()} WHERE v.key IS NULL)"
    yield f"entries without a vector of {entries.model}, so not found by meaning", bare, "embed them"
    if longest := LONGEST.get(kind.name):
        what = f"entries longer than a chunk of {longest} characters"
        remedy = "cut them in two by editing, or import their file again"
        yield what, f"length({kind.text}) > {longest}", remedy


def _not_read(entries: Entries) -> Concern:
    """Entries in a language that the model is known not to read."""
    table, text = entries.kind.table, entries.kind.text
    rows = entries.database.rows(f"SELECT id, {text} FROM {table} WHERE {text} GLOB '*[^\x01-\u024f]*'")
    ids = [row[0] for row in rows if unread_language(row[1], entries.model)]
    what = f"entries in a language that {entries.model} does not read, so found by their words alone"
    remedy = f"embed them with a model that does, such as {MULTILINGUAL}"
    return Concern(entries.kind.name, what, ids[:_NAMED], remedy, len(ids))


def unread_worlds(memory: OpenedMemory) -> Concern | None:
    """Files of worlds that were edited since they were loaded."""
    files = memory.lore.unread_files()
    what = "files of worlds that are new or changed, and not imported yet"
    return _scopes(memory.kinds[LORE], what, files, READ_AGAIN) if files else None


def _entries(entries: Entries, what: str, condition: str, remedy: str) -> Concern:
    table = entries.kind.table
    with entries.database.reading() as db:
        count = db.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()[0]
        rows = db.execute(f"SELECT id FROM {table} WHERE {condition} LIMIT {_NAMED}").fetchall()
    return Concern(entries.kind.name, what, [row[0] for row in rows], remedy, count)


def _scopes(entries: Entries, what: str, names: list[str], remedy: str) -> Concern:
    return Concern(entries.kind.name, what, names[:_NAMED], remedy, len(names))


WORST = 10  # entries that are shown
STATEMENTS = (MEMORIES, LORE)  # kinds whose entries say what holds; the others record what was said
_COMPARED = 5  # earlier entries that are nearest to one
_ABOUT = 0.5  # cosine from which two entries may be about the same
_QUOTED = 160  # characters

_ASKS = re.compile(r"[?？؟]['\"”’)»\s]*$")
_REQUESTS = re.compile(  # a memory such as "Use short tickers" is none
    r"(?:please|(?:can|could|would|will) you|(?:help|tell|give|show|remind) me|you are (?:an?|the|now)\b"
    r"|act as"
    r"|(?:the )?user (?:asks?|asked|is asking|wants to know|wanted to know|requests?|requested)"
    r"|(?:write|explain|summari[sz]e|translate|describe|generate|draft|rewrite|paraphrase|brainstorm)"
    r" (?:an?|the|this|these|that|me|us|my|how|why|what))\b",
    re.IGNORECASE,
)

Why = Literal["repeat", "near repeat", "contradicted", "prompt", "never recalled"]
_ORDER: Sequence[Why] = ("repeat", "near repeat", "contradicted", "prompt", "never recalled")


@dataclass(frozen=True, slots=True)
class JunkReason:
    """Why an entry counts as junk, in words."""

    why: Why
    words: str
    other: str = ""  # the entry that it repeats, or that contradicts it


@dataclass(frozen=True, slots=True)
class JunkEntry:
    """An entry with its reasons; `merge` are the entries that would become one, the kept one first."""

    id: str
    text: str
    reasons: tuple[JunkReason, ...]
    merge: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Junk:
    """The share of one kind that is junk, its parts (an entry may be in several), and the worst entries."""

    kind: str
    entries: int
    junk: int
    parts: Mapping[Why, int]
    worst: Sequence[JunkEntry]
    not_counted: str = ""  # why no entry counts as never recalled

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.junk / self.entries if self.entries else 0.0


def junk(memory: OpenedMemory, kind: str = MEMORIES, *, progress: Progress | None = None) -> Junk:
    """What of this kind is junk, by rules that know no meaning: they show what to check.

    A repeat has the text of an earlier entry of its world, session or protocol, a near repeat a cosine of
    at least 0.95 with one that it does not contradict.
    """
    memory.actor.check_login()
    entries = memory.kinds[kind]
    rows = _rows(entries)
    texts = {id: text for id, text, _ in rows}
    reasons: dict[str, list[JunkReason]] = {}
    merges: dict[str, tuple[str, ...]] = {}

    def found(id: str, why: Why, words: str, other: str = "") -> None:
        reasons.setdefault(id, []).append(JunkReason(why, words, other))

    copies: dict[tuple[str, str], list[str]] = {}
    for id, text, scope in rows:
        copies.setdefault((scope, " ".join(text.split()).casefold()), []).append(id)
    for kept, *others in copies.values():
        more = f", as {len(others) - 1:,} more do" if len(others) > 1 else ""
        for id in others:
            found(id, "repeat", f"Says the same as {kept}{more}.", kept)
            merges[id] = (kept, *others)
    distinct = {ids[0]: scope for (scope, _), ids in copies.items()}
    _compare(entries, distinct, texts, found, merges, progress or Progress())
    if kind in STATEMENTS:
        for id, text, _ in rows:
            if _is_prompt(text):
                found(id, "prompt", "Is only a question or an instruction.")
    not_counted = _never_recalled(memory, entries, texts, found)
    parts = Counter(why for each in reasons.values() for why in {one.why for one in each})
    worst = _worst(reasons, merges)
    return Junk(
        kind=kind,
        entries=len(rows),
        junk=len(reasons),
        parts={why: parts[why] for why in _ORDER if parts[why]},
        worst=[JunkEntry(id, texts[id], tuple(reasons[id]), merges.get(id, ())) for id in worst],
        not_counted=not_counted,
    )


_Found = Callable[..., None]


def _rows(entries: Entries) -> list[tuple[str, str, str]]:
    """Id, text and scope of every entry, in the order in which they were stored."""
    kind, scope = entries.kind, entries.kind.scope or "''"
    rows = entries.database.rows(f"SELECT id, {kind.text}, {scope} FROM {kind.table} ORDER BY rowid")
    return [(row[0], str(row[1]), str(row[2])) for row in rows]


def _compare(
    entries: Entries,
    scopes: Mapping[str, str],
    texts: Mapping[str, str],
    found: _Found,
    merges: dict[str, tuple[str, ...]],
    progress: Progress,
) -> None:
    """Find near repeats and contradictions among entries (id → scope) with different texts."""
    known = entries.resident().of(scopes, TEXT)
    ids = [id for id in scopes if id in known]
    if not ids:
        return
    matrix = np.stack([known[id] for id in ids])
    numbers = {scope: number for number, scope in enumerate(dict.fromkeys(scopes.values()))}
    codes = np.array([numbers[scopes[id]] for id in ids], np.int32)
    floor = _ABOUT if entries.kind.name in STATEMENTS else NEARLY
    contradicted = set[str]()
    for later, others in enumerate(_nearest_earlier(matrix, codes, progress)):
        is_repeat = False
        for earlier, cosine in others:
            if cosine < floor:
                break
            one, id = ids[earlier], ids[later]
            conflicts = [each for each in compared([texts[one], texts[id]]) if not each.is_repetition]
            if not conflicts and cosine >= NEARLY and not is_repeat:
                is_repeat = True
                found(id, "near repeat", f"Says nearly the same as {one} (cosine {cosine:.2f}).", one)
                merges[id] = (one, id)
            told = next((each for each in conflicts if each.is_sure), None)
            if told and entries.kind.name in STATEMENTS and one not in contradicted:
                contradicted.add(one)
                said = shorten(told.second, _QUOTED, placeholder=" …")
                found(
                    one, "contradicted", f"{id}, stored later, may contradict it ({told.reason}): {said}", id
                )


def _nearest_earlier(
    matrix: NDArray[np.float32], codes: NDArray[np.int32], progress: Progress
) -> list[list[tuple[int, float]]]:
    """For each row the nearest rows of its scope before it, best first, with their cosines."""
    count = len(matrix)
    places = np.zeros((count, 2 * _COMPARED), np.int64)
    scores = np.full((count, 2 * _COMPARED), -2, np.float32)
    for top, left, cosines in cosines_with_earlier(matrix, progress):
        rows, columns = cosines.shape
        own = codes[top : top + rows, None] == codes[None, left : left + columns]
        cosines[~own] = -2
        best = np.argpartition(cosines, -min(_COMPARED, columns), axis=1)[:, -_COMPARED:]
        part = slice(top, top + rows)
        width = best.shape[1]
        places[part, _COMPARED : _COMPARED + width] = left + best
        scores[part, _COMPARED : _COMPARED + width] = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-scores[part], axis=1, kind="stable")
        places[part] = np.take_along_axis(places[part], order, axis=1)
        scores[part] = np.take_along_axis(scores[part], order, axis=1)
        scores[part, _COMPARED:] = -2
    found = zip(places[:, :_COMPARED].tolist(), scores[:, :_COMPARED].tolist(), strict=True)
    return [[*zip(each, cosines, strict=True)] for each, cosines in found]


def _is_prompt(text: str) -> bool:
    """Whether each sentence of a text asks or instructs."""
    parts = [*sentences(text)]
    return bool(parts) and all(_ASKS.search(part) or _REQUESTS.match(part) for part in parts)


def _never_recalled(memory: OpenedMemory, entries: Entries, texts: Mapping[str, str], found: _Found) -> str:
    """Find entries that no answer had since as many hits as entries were handed out, or say why not."""
    answers = answers_about(memory.places.retrievals, entries.kind.name)
    if not answers.handed_out:
        if settings().retrieval_log or settings().keep_contexts:
            return "Never recalled is not counted yet: nothing was handed out so far."
        return (
            "Never recalled is not counted: neither MEMEDEX_RETRIEVAL_LOG nor MEMEDEX_KEEP_CONTEXTS is set."
        )
    handed_out = [*accumulate(count for _, count in answers.handed_out)]
    number = bisect_left(handed_out, len(texts))  # answers after the one from which there are enough
    if number == len(handed_out):
        return (
            f"Never recalled is not counted yet: {handed_out[-1]:,} hits were handed out, fewer than the "
            f"{len(texts):,} entries."
        )
    at = answers.handed_out[number][0]
    marked = {
        row[0] for row in entries.database.rows("SELECT id FROM recall WHERE kind = ?", [entries.kind.name])
    }
    since = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
    for id in point_in_time.texts_at(entries, at):
        if id in texts and id not in answers.ids and id not in marked:
            found(id, "never recalled", f"Was in no answer, of {number + 1:,} since {since}.")
    return ""


def _worst(reasons: Mapping[str, Sequence[JunkReason]], merges: Mapping[str, Sequence[str]]) -> list[str]:
    """Those with most reasons first, then with most copies; of copies of one text only the first."""

    def badness(id: str) -> tuple[int, int, int]:
        return -len(reasons[id]), -len(merges.get(id, ())), min(_ORDER.index(one.why) for one in reasons[id])

    chosen: list[str] = []
    seen = set[Sequence[str]]()
    for id in sorted(reasons, key=badness):
        if (merge := merges.get(id)) in seen:
            continue
        if merge:
            seen.add(merge)
        chosen.append(id)
        if len(chosen) == WORST:
            break
    return chosen
